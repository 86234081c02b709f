/** The part of a deployment that makes workers of the functions: planning, building and uploading them. */
import type { WorkersForm } from './settings.ts'

/** Values by the names of their bindings. */
export type Texts = Readonly<Record<string, string>>

/** A worker: the functions in it, and all that it may reach. */
export type WorkerPlan = {
  name: string
  folders: readonly string[]
  prefixes: readonly string[]
  vars: Texts
  /** Names; the values are asked for when the worker is uploaded. */
  secrets: readonly string[]
  services: readonly { binding: string; service: string }[]
  crons: readonly string[]
  takesMail: boolean
}

/** Work of one upload. */
export type UploadOrder = {
  plans: readonly WorkerPlan[]
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
  planned: (values: Texts, form: WorkersForm) => Promise<readonly WorkerPlan[]>
  /** Builds the functions and uploads the workers that differ. */
  upload: (order: UploadOrder) => Promise<Uploaded>
}
