/** Parses a call of a queue or a slot as the ledger has it, and converts it for a transaction. */
import * as z from 'zod'
import type { RelayCall } from './relay-transaction.ts'

/** Call as the ledger returns it. */
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

/** Wei that a call is charged in its slot or has reserved, and wei that its account may still spend. */
export const chargeRow = z.object({
  payment: z.uuid(),
  kind: z.enum(['transfer', 'cancel']),
  account: z.uuid(),
  charged_wei: wei,
  left_wei: wei,
})

/** Parsed call. */
export type CallRow = z.output<typeof callRow>

/** Converts a call of the ledger to a signed call of its token. */
export function callOf({ kind, token, from, to, value, ...row }: CallRow): RelayCall {
  const { nonce, signature } = row
  if (kind === 'cancel') return { kind, token, authorizer: from, nonce, signature }
  const validAfter = String(row.valid_after)
  const validBefore = String(row.valid_before)
  const authorization = { from, to, value, validAfter, validBefore, nonce, signature }
  return { kind, token, authorization }
}
