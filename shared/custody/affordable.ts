/**
 * Which calls go into a transaction at a price: those whose account has gas left for their part. The ledger
 * judges it again for transfers when a replacement is stored.
 */
import type * as z from 'zod'
import type { CallRow, chargeRow } from './call-row.ts'
import type { RelayFees } from './port.ts'

type Charge = z.output<typeof chargeRow>

/** What a transaction of so many calls costs at these fees, at most. */
export type CostOf = (fees: RelayFees, calls: number) => bigint

/** The calls that are paid for, and the fees at which they are. */
export type Affordable = { calls: readonly CallRow[]; fees: RelayFees }

/**
 * Leaves out what is too dear, where so many calls cost so much wei; each that goes leaves a larger part
 * to the others. `own` calls beside them are paid for.
 */
export function affordable(
  calls: readonly CallRow[],
  charges: readonly Charge[],
  costOf: (calls: number) => bigint,
  own = 0,
): readonly CallRow[] {
  const count = BigInt(Math.max(calls.length + own, 1))
  const part = (costOf(calls.length + own) + count - 1n) / count
  const left = new Map(charges.map(({ account, left_wei }) => [account, left_wei]))
  const kept = calls.filter(({ kind, payment }) => {
    const charge = charges.find((one) => one.payment === payment && one.kind === kind)
    if (!charge) return true
    const worst = kind === 'cancel' ? part / cancelShare : part
    const raise = worst > charge.charged_wei ? worst - charge.charged_wei : 0n
    const rest = (left.get(charge.account) ?? 0n) - raise
    if (rest >= 0n) left.set(charge.account, rest)
    return rest >= 0n
  })
  return kept.length === calls.length ? calls : affordable(kept, charges, costOf, own)
}

/** A cancellation uses less than half of the gas that its transaction may use. */
const cancelShare = 2n

/**
 * The same, at a price with no room for the base fee to double where a cancellation would be left out
 * otherwise: what an account has left pays for it as long as that can be.
 */
export function affordCancels(
  calls: readonly CallRow[],
  charges: readonly Charge[],
  fees: RelayFees,
  costOf: CostOf,
): Affordable {
  const at = (price: RelayFees) => ({
    calls: affordable(calls, charges, (count) => costOf(price, count)),
    fees: price,
  })
  const asked = at(fees)
  if (cancelsIn(asked.calls) === cancelsIn(calls)) return asked
  const closer = at(closeTo(fees))
  return cancelsIn(closer.calls) > cancelsIn(asked.calls) ? closer : asked
}

/** How many of them cancel something. */
export function cancelsIn(calls: readonly CallRow[]): number {
  return calls.filter(({ kind }) => kind === 'cancel').length
}

/** Fees that hold for the next block, whose base fee is an eighth dearer at most (EIP-1559). */
function closeTo({ maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }: RelayFees): RelayFees {
  const [fee, tip] = [BigInt(maxFeePerGas), BigInt(maxPriorityFeePerGas)]
  const base = (fee - tip) / 2n
  return { maxFeePerGas: ((base * 9n) / 8n + tip).toString(), maxPriorityFeePerGas, dataFeeWei }
}
