/**
 * The vault's interface for entries. `store` takes a secret in, and only `read` gives one out, to callers
 * that SQL lets read it. A TOTP secret gives out its current code, never its seed.
 */
import type * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import type { listedEntry, readableSecret, storeRequest } from '../../contract/vault-entry.ts'
import type { PasswordWish } from '../passwords.ts'

/** Caller: the HMAC of its token, as every exposed SQL function takes it. */
type CallerCredential = { credential: string }

/** An entry after it was stored, as the operations return it. */
export type StoredEntry = {
  credential_id: string
  site: string
  username: string
  version: number
}

/** Request to store an entry, new or changed. */
export type StoreRequest = CallerCredential & { entry: z.output<typeof storeRequest> }

/** Request to generate a password for an entry, named by its id or by site and user name. */
export type GenerateRequest = CallerCredential & {
  wish: PasswordWish & {
    site?: string | undefined
    username?: string | undefined
    credential_id?: string | undefined
  }
}

/** Request for one entry by its id. */
export type EntryRequest = CallerCredential & { entry: string }

type Listed = z.output<z.ZodObject<typeof listedEntry>>

/** One entry, with its secrets if the caller may read them. */
export type ReadEntry = Listed & {
  secret?: z.output<typeof readableSecret>
  secret_readable: boolean
}

/** Current TOTP code of an entry. */
export type TotpCode = { credential_id: string; site: string; code: string; seconds_left: number }

/** Operations on entries that the vault's service binding offers. */
export type EntriesPort = {
  store(request: StoreRequest): Promise<StoredEntry | Refusal>
  generate(request: GenerateRequest): Promise<(StoredEntry & { length: number }) | Refusal>
  read(request: EntryRequest): Promise<ReadEntry | Refusal>
  totp(request: EntryRequest): Promise<TotpCode | Refusal>
}
