/** A call as the ledger has it in a queue or a slot, and as it goes into a transaction. */
import * as z from 'zod'
import type { RelayCall } from './relay-transaction.ts'

/** One call as the ledger answers it. */
export const callRow = z.object({
  kind: z.enum(['transfer', 'cancel']),
  payment: z.uuid(),
  token: z.string(),
  from: z.string(),
  to: z.string(),
  value: z.string(),
  valid_after: z.int(),
  valid_before: z.int(),
  nonce: z.string(),
  signature: z.string(),
})

const wei = z
  .string()
  .regex(/^[0-9]+$/)
  .transform(BigInt)

/** What a call is charged with in its place, or reserved for it, and how much more its account may spend. */
export const chargeRow = z.object({
  payment: z.uuid(),
  kind: z.enum(['transfer', 'cancel']),
  account: z.uuid(),
  charged_wei: wei,
  left_wei: wei,
})

/** One call as it is queued. */
export type CallRow = z.output<typeof callRow>

/** A queued call with its signature. */
export function callOf({ kind, token, from, to, value, ...row }: CallRow): RelayCall {
  const { nonce, signature } = row
  if (kind === 'cancel') return { kind, token, authorizer: from, nonce, signature }
  const validAfter = String(row.valid_after)
  const validBefore = String(row.valid_before)
  const authorization = { from, to, value, validAfter, validBefore, nonce, signature }
  return { kind, token, authorization }
}
