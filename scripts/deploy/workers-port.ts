/** The part of a deployment that makes workers of the functions: planning, building and uploading them. */
import type { plannedWorkers } from './plan.ts'
import type { Upload, Uploaded } from './upload.ts'

/** Values by the names of their bindings. */
export type Texts = Readonly<Record<string, string>>

/** The workers of a platform. */
export type Workers = {
  planned: typeof plannedWorkers
  /** Builds the functions and uploads the workers that differ. */
  upload: (order: Omit<Upload, 'modules' | 'apiUrl'>) => Promise<Uploaded>
}
