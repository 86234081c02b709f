/**
 * The effects of an operation as the four hints of the Model Context Protocol. A client may show them and
 * use them to ask its user; nothing here grants or refuses anything.
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

/** Operations whose repeat changes nothing more, with or without an Idempotency-Key. */
const repeatable = ['account_freeze', 'payment_mandate_revoke', 'vault_delete', 'defi_order_cancel']
/** Operations without an Idempotency-Key whose every call has an effect of its own. */
const adding = [
  'request_signup_verification',
  'confirm_registration_code',
  'create_account',
  'create_login_link',
]
/** Operations that cannot be undone. */
const destructive = [
  'wallet_custodial_transfer',
  'defi_order_create',
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
/** Operations that reach somebody outside the account and its chains: merchants, sites, people. */
const outward = [
  'request_signup_verification',
  'wallet_custodial_transfer',
  'defi_order_create',
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

/** Ids that the lists here name; a test checks them against the contracts. */
export const annotated: readonly string[] = [...repeatable, ...adding, ...destructive, ...outward]

/** Returns the hints of one operation. */
export function annotationsOf({ id, mutates }: Operation): Annotations {
  const reads = !mutates && !repeatable.includes(id) && !adding.includes(id)
  return {
    title: titleFromId(id),
    readOnlyHint: reads,
    destructiveHint: destructive.includes(id),
    idempotentHint: reads || repeatable.includes(id),
    openWorldHint: outward.includes(id),
  }
}

/** Returns the id as words: `x402_payment_prepare` becomes `X402 payment prepare`. */
function titleFromId(id: string): string {
  const words = id.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
