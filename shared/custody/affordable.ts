/**
 * Which calls of a place stay in it at a higher price: transfers whose account has gas left for their
 * part, and every cancellation. The ledger judges it again when the replacement is stored.
 */
import * as z from 'zod'
import type { CallRow } from './call-row.ts'

const wei = z
  .string()
  .regex(/^[0-9]+$/)
  .transform(BigInt)

/** What a transfer is charged with in its place, and how much more its account may spend. */
export const chargeRow = z.object({
  payment: z.uuid(),
  account: z.uuid(),
  charged_wei: wei,
  left_wei: wei,
})

/**
 * Leaves out what is too dear, where so many calls cost so much wei; each that goes leaves a larger part
 * to the others.
 */
export function affordable(
  calls: readonly CallRow[],
  charges: readonly z.output<typeof chargeRow>[],
  costOf: (calls: number) => bigint,
): readonly CallRow[] {
  const count = BigInt(Math.max(calls.length, 1))
  const part = (costOf(calls.length) + count - 1n) / count
  const left = new Map(charges.map(({ account, left_wei }) => [account, left_wei]))
  const kept = calls.filter(({ kind, payment }) => {
    const charge = charges.find((one) => one.payment === payment)
    if (kind === 'cancel' || !charge) return true
    const raise = part > charge.charged_wei ? part - charge.charged_wei : 0n
    const rest = (left.get(charge.account) ?? 0n) - raise
    if (rest >= 0n) left.set(charge.account, rest)
    return rest >= 0n
  })
  return kept.length === calls.length ? calls : affordable(kept, charges, costOf)
}
