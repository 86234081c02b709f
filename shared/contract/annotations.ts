/**
 * What an operation does to the world, in the four hints of the Model Context Protocol. A client may
 * show them and ask its user by them; nothing here grants or refuses anything.
 */
import type { Operation } from './operation.ts'

/** Hints about a tool (MCP 2026-07-28, `ToolAnnotations`). */
export type Annotations = {
  title: string
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** Change something, and a repeat changes no more, with an Idempotency-Key or without. */
const repeatable = ['account_freeze', 'payment_mandate_revoke', 'vault_delete']
/** Take no Idempotency-Key, and each call does something of its own. */
const adding = [
  'request_signup_verification',
  'confirm_registration_code',
  'create_account',
  'create_login_link',
]
/** What they do cannot be taken back. */
const destructive = [
  'wallet_custodial_transfer',
  'x402_payment_execute',
  'payment_mandate_revoke',
  'account_freeze',
  'store_site_credentials',
  'vault_store',
  'vault_generate',
  'vault_delete',
  'vault_use',
  'vault_login',
  'vault_session',
  'mail_send',
]
/** Reach somebody outside the account and its chains: merchants, sites, people. */
const outward = [
  'request_signup_verification',
  'wallet_custodial_transfer',
  'x402_payment_prepare',
  'x402_payment_execute',
  'vault_use',
  'vault_login',
  'vault_session',
  'mail_list',
  'mail_read',
  'mail_wait',
  'mail_send',
]

/** Ids that a list here names; a test holds them against the contracts. */
export const annotated: readonly string[] = [...repeatable, ...adding, ...destructive, ...outward]

/** The hints of one operation. */
export function annotationsOf({ id, mutates }: Operation): Annotations {
  const reads = !mutates && !repeatable.includes(id) && !adding.includes(id)
  return {
    title: titleOf(id),
    readOnlyHint: reads,
    destructiveHint: destructive.includes(id),
    idempotentHint: reads || repeatable.includes(id),
    openWorldHint: outward.includes(id),
  }
}

/** The id as words: `x402_payment_prepare` is `X402 payment prepare`. */
function titleOf(id: string): string {
  const words = id.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
