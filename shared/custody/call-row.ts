/** Parses a call of a queue or a slot as the ledger has it, and converts it for a transaction. */
import * as z from 'zod'
import { hexSchema } from '../chains/hex.ts'
import { orderOf } from './carrier.ts'
import type { StoredPayment } from './nonce.ts'
import { authorizationNonce } from './nonce.ts'
import type { SignedAuthorization } from './port.ts'
import type { RelayCall } from './relay-transaction.ts'

/** Call as the ledger returns it. */
export const callRow = z.object({
  payment: z.uuid(),
  token: z.string(),
  from: z.string(),
  to: z.string(),
  value: z.string(),
  valid_after: z.int(),
  valid_before: z.int(),
  nonce: z.string(),
  signature: z.string(),
  carrier: z.object({ chain: z.int(), order: hexSchema }).nullish(),
})

/** Parsed call. */
export type CallRow = z.output<typeof callRow>

/** Converts a call of the ledger to a signed call of its token. */
export function callOf({ token, from, to, value, ...row }: CallRow): RelayCall {
  const { nonce, signature } = row
  const validAfter = String(row.valid_after)
  const validBefore = String(row.valid_before)
  const authorization = { from, to, value, validAfter, validBefore, nonce, signature }
  if (!row.carrier) return { token, authorization }
  const { chain: chainId, order } = row.carrier
  const base = authorizationNonce({ chainId, token, paymentId: row.payment })
  return { token, authorization, carried: { base, order } }
}

/** Returns the call that carries a payment which was just signed. */
export function ownCall(
  { id: paymentId, chain: chainId, token, terms }: StoredPayment,
  authorization: SignedAuthorization,
): RelayCall {
  const order = orderOf(terms)
  const base = authorizationNonce({ chainId, token, paymentId })
  return { token, authorization, ...(order && { carried: { base, order } }) }
}
