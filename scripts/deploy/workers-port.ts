/** The part of a deployment that makes workers of the functions: planning, building and uploading them. */
import type { Form, PlannedWorker } from './plan.ts'

/** Values by the names of their bindings. */
export type Texts = Readonly<Record<string, string>>

/** Work of one upload. */
export type UploadOrder = {
  plans: readonly PlannedWorker[]
  /** Returns the value of a secret. */
  secrets: (name: string) => string
  account: { id: string; token: string }
  say: (line: string) => void
  signal: AbortSignal
}

/** Names of the workers that were uploaded and of those that were as they should be. */
export type Uploaded = {
  uploaded: readonly string[]
  kept: readonly string[]
  /** Brings every uploaded worker back to its version before. */
  rollback: () => Promise<void>
}

/** The workers of a platform. */
export type Workers = {
  planned: (values: Texts, form: Form) => Promise<readonly PlannedWorker[]>
  /** Builds the functions and uploads the workers that differ. */
  upload: (order: UploadOrder) => Promise<Uploaded>
}
