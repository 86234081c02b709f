/**
 * Decides who pays for the gas of a transfer: a relayer, within the account's budget of 24 hours, else the
 * wallet with its own coin. If neither can, the transfer is refused before anything is reserved. The ledger
 * decides again under the lock of the account.
 */
import type { GasPrice } from '../../chains/evm/gas/gas-price.ts'
import type { Preflight } from '../../chains/evm/preflight.ts'
import type { Chain } from '../../chains/registry.ts'
import { assetOf } from '../../chains/registry.ts'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import { callUnits } from '../../custody/carrier.ts'
import type { AuthorizeRequest, LaneSeen } from '../../custody/port.ts'
import { formatUsd } from '../../money/amount.ts'
import { noGas } from '../decide/not-funded.ts'
import type { Payment } from '../payment.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'

/** Values from the chain about who could pay. */
export type GasSeen = Pick<Preflight, 'walletWei' | 'relayedCostWei'> & {
  lanes: readonly LaneSeen[]
}

/** Refusal because nobody pays for the gas of a payment. */
export type GasRefusal = Refusal<'relay_limit_reached' | 'unavailable'>

const daySeconds = 86_400

/** Converts the fees that were read for a payment to the form that custody takes. */
export function gasOf(
  { chain: chainId }: Pick<Payment, 'chain'>,
  { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }: GasPrice,
): AuthorizeRequest['gas'] {
  return {
    chainId,
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    dataFeeWei: dataFeeWei.toString(),
  }
}

/** Decides who pays, or returns a refusal that says what to do. */
export function gasPayer(
  entered: PaymentWithFacts,
  seen: GasSeen,
): 'relayer' | 'wallet' | GasRefusal {
  const { payment_row: payment, facts } = entered
  const { chain } = assetOf(payment)
  const { gas } = facts
  if (gas.left_cancels < 1) return noCancelLeft(entered)
  const isLarge = payment.amount_usd_micros >= gas.least_usd_micros
  const units = callUnits(payment.terms['carrier'])
  // The cost of one call is kept for its cancellation.
  const lately = gas.seen?.callWei ?? 0n
  const fits = (callWei: bigint) =>
    gas.left_calls >= 1 && gas.left_wei >= BigInt(units + 1) * callWei
  const isWithin = fits(lately > seen.relayedCostWei ? lately : seen.relayedCostWei)
  if (seen.lanes.some(({ transfers }) => transfers >= units) && isLarge && isWithin)
    return 'relayer'
  if (seen.walletWei >= BigInt(units) * seen.relayedCostWei) return 'wallet'
  if (isLarge && isWithin) return noGas
  return overBudget(entered, chain, fits(seen.relayedCostWei) ? 'cheaper' : 'free')
}

/** Returns the refusal of a payment whose cancellation relayers would not pay for. */
export function noCancelLeft({ facts }: PaymentWithFacts): GasRefusal {
  const { left_cancels, cancels_reset_at, cheaper_at, resets_at } = facts.gas
  const resetsAt = left_cancels < 1 ? cancels_reset_at : (cheaper_at ?? resets_at)
  return fail('relay_limit_reached', {
    message:
      'Relayers keep no gas to cancel one more signed payment of this account on this chain.',
    hint: `Wait until one of those is settled or over${resetsAt ? `, or until ${resetsAt}` : ''}.`,
    ...retryAt(resetsAt, facts.now),
  })
}

/** Returns the refusal of a transfer below the relayers' minimum whose wallet has no gas of its own. */
export function tooSmall(
  { payment_row: payment, facts }: PaymentWithFacts,
  { walletWei, relayedCostWei }: Pick<GasSeen, 'walletWei' | 'relayedCostWei'>,
): Refusal<'amount_too_small'> | undefined {
  const leastUsdMicros = facts.gas.least_usd_micros
  if (payment.amount_usd_micros >= leastUsdMicros || walletWei >= relayedCostWei) return undefined
  const { native, title } = assetOf(payment).chain
  const least = formatUsd(leastUsdMicros)
  return fail('amount_too_small', {
    message: `Relayers on ${title} carry transfers that are worth at least ${least} USD.`,
    hint: `Send at least ${least} USD, or fund the wallet with ${native.symbol} for gas of its own.`,
    details: { least_usd: least },
  })
}

/** Returns the refusal. `passesOnce`: gas has been cheaper for a while, or some spending is a day old. */
function overBudget(
  { facts }: PaymentWithFacts,
  { native, title, caip2 }: Chain,
  passesOnce: 'cheaper' | 'free',
): GasRefusal {
  const { resets_at, cheaper_at, left_calls } = facts.gas
  const resetsAt = passesOnce === 'free' ? resets_at : cheaper_at
  const change = passesOnce === 'free' ? 'more is free' : 'gas has been cheaper for an hour'
  const when = resetsAt === null ? 'until gas is cheaper' : `until ${resetsAt}, when ${change}`
  return fail('relay_limit_reached', {
    message: `Relayers on ${title} spend no more gas for this account now.`,
    hint: `Wait ${when}, or fund the wallet with ${native.symbol} for gas of its own.`,
    details: { chain: caip2, left_calls, resets_at: resetsAt },
    ...retryAt(resetsAt, facts.now),
  })
}

/** Seconds until prices may have changed, if nothing else frees the budget. */
const retrySeconds = 600

function retryAt(resetsAt: string | null, now: number) {
  if (resetsAt === null) return { retryAfterSeconds: retrySeconds }
  // `now` is rounded down to seconds, and nothing counts for longer than a day.
  const seconds = Math.ceil(Date.parse(resetsAt) / 1000) - now
  return { retryAfterSeconds: Math.min(Math.max(1, seconds), daySeconds) }
}
