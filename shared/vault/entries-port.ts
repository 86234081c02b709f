/**
 * What other functions may ask of the vault about entries. A secret goes in by `store` and comes out
 * by `read` alone, for whom SQL lets read it. Of a TOTP secret the code comes out, the seed never.
 */
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import type { listedEntry, readableSecret, storeRequest } from '../contract/vault-entry.ts'
import type { PasswordWish } from './password.ts'

/** Who asks: the HMAC of the caller's token, as every exposed SQL function takes it. */
type Asked = { credential: string }

/** An entry that was kept, as its answer names it. */
export type StoredEntry = {
  credential_id: string
  site: string
  username: string
  version: number
}

/** An entry to keep, and which one it changes. */
export type StoreRequest = Asked & { entry: z.output<typeof storeRequest> }

/** A password to draw for an entry, which is named by its id or by site and user name. */
export type GenerateRequest = Asked & {
  wish: PasswordWish & {
    site?: string | undefined
    username?: string | undefined
    credential_id?: string | undefined
  }
}

/** An entry by its id. */
export type EntryRequest = Asked & { entry: string }

type Listed = z.output<z.ZodObject<typeof listedEntry>>

/** One entry, with its secrets for who may read them. */
export type ReadEntry = Listed & {
  secret?: z.output<typeof readableSecret>
  secret_readable: boolean
}

/** The code of this moment. */
export type TotpCode = { credential_id: string; site: string; code: string; seconds_left: number }

/** Entries, as a service binding to the vault offers them. */
export type EntriesPort = {
  store(request: StoreRequest): Promise<StoredEntry | Refusal>
  generate(request: GenerateRequest): Promise<(StoredEntry & { length: number }) | Refusal>
  read(request: EntryRequest): Promise<ReadEntry | Refusal>
  totp(request: EntryRequest): Promise<TotpCode | Refusal>
}
