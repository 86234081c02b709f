/**
 * Selects the calls that go into a transaction at a price: those whose account has gas left for their
 * share. The ledger checks this again for transfers when a replacement is stored.
 */
import type * as z from 'zod'
import type { CallRow, chargeRow } from './call-row.ts'
import { callUnits } from './carrier.ts'
import type { RelayFees } from './port.ts'

type Charge = z.output<typeof chargeRow>

/** Function that returns the most that a transaction of so many calls costs at these fees. */
export type CostOf = (fees: RelayFees, calls: number) => bigint

/** Calls that are paid for, and the fees at which they are. */
export type PaidCalls = { calls: readonly CallRow[]; fees: RelayFees }

/**
 * Leaves out the calls whose account cannot pay their share of the cost in wei. Each call left out leaves a
 * larger share to the others. `own` is a number of further calls, which are paid for.
 */
export function callsPaidFor(
  calls: readonly CallRow[],
  charges: readonly Charge[],
  costOf: (calls: number) => bigint,
  ownCallCount = 0,
): readonly CallRow[] {
  const count = BigInt(Math.max(calls.length + ownCallCount, 1))
  // A call that counts as several is alone.
  const units = Math.max(ownCallCount, ...calls.map(({ carrier }) => callUnits(carrier)))
  const total = calls.length + ownCallCount
  const part = (costOf(total > 1 ? total : units) + count - 1n) / count
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
  return kept.length === calls.length ? calls : callsPaidFor(kept, charges, costOf, ownCallCount)
}

/** Divisor for a cancellation, which uses less than half of the gas that its transaction may use. */
const cancelShare = 2n

/**
 * Does the same, at a price without room for the base fee to double if a cancellation would be left out
 * otherwise: what an account has left pays for a cancellation as long as it can.
 */
export function affordCancels(
  calls: readonly CallRow[],
  charges: readonly Charge[],
  fees: RelayFees,
  costOf: CostOf,
): PaidCalls {
  const at = (price: RelayFees) => ({
    calls: callsPaidFor(calls, charges, (count) => costOf(price, count)),
    fees: price,
  })
  const asked = at(fees)
  if (cancelsIn(asked.calls) === cancelsIn(calls)) return asked
  const closer = at(feesForNextBlock(fees))
  return cancelsIn(closer.calls) > cancelsIn(asked.calls) ? closer : asked
}

/** Counts the calls that are cancellations. */
export function cancelsIn(calls: readonly CallRow[]): number {
  return calls.filter(({ kind }) => kind === 'cancel').length
}

/** Returns fees that hold for the next block, whose base fee is at most an eighth dearer (EIP-1559). */
function feesForNextBlock({
  maxFeePerGas,
  maxPriorityFeePerGas,
  dataFeeWei,
}: RelayFees): RelayFees {
  const [fee, tip] = [BigInt(maxFeePerGas), BigInt(maxPriorityFeePerGas)]
  const base = (fee - tip) / 2n
  return { maxFeePerGas: ((base * 9n) / 8n + tip).toString(), maxPriorityFeePerGas, dataFeeWei }
}
