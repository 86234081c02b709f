/** The vault's interface for the pages behind login links. */
import type * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import type { secretInput } from './record.ts'

/** A login that the owner typed, by a link that this browser opened. */
export type LoginByLink = {
  /** HMAC of the owner's session token. */
  credential: string
  token_digest: string
  browser: string
  client: string
  username: string
  secret: z.output<typeof secretInput>
  /** Mail that tells the owner once the login is stored; sealed for the outbox. */
  mail: { id: string; to: string | null; topic: string; sealed: string }
}

/** Operation of the vault that takes the logins that owners enter by links. */
export type LoginLinkPort = {
  /**
   * Stores a login for the site of the link and ends the link. `exists`: the vault already has a login with
   * this user name there, and a link must not change it. `over`: the link has ended.
   */
  storeByLink(login: LoginByLink): Promise<'stored' | 'exists' | 'over' | Refusal>
}
