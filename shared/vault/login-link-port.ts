/** What the pages behind links ask of the vault. */
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import type { secretInput } from './record.ts'

/** A login as the owner typed it, by a link that this browser opened. */
export type LoginByLink = {
  /** The owner's session. */
  credential: string
  token_digest: string
  browser: string
  client: string
  username: string
  secret: z.output<typeof secretInput>
  /** To the owner, once it is stored; sealed for the outbox. */
  mail: { id: string; to: string | null; topic: string; sealed: string }
}

/** Takes logins that owners enter by links. */
export type LoginLinkPort = {
  /**
   * Stores a login for the site of the link and ends the link. `exists`: the vault has a login of
   * this user name there, and a link changes none; `over`: the link asks for nothing any more.
   */
  storeByLink(login: LoginByLink): Promise<'stored' | 'exists' | 'over' | Refusal>
}
