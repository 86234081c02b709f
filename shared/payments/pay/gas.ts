/**
 * Decides who pays for the gas of a transfer: a relayer, which carries a number of them for each account in 24
 * hours, else the wallet with its own coin. If neither can, the transfer is refused before anything is
 * reserved. The ledger decides again under the lock of the account.
 */
import type { Preflight } from '../../chains/evm/preflight.ts'
import type { Chain } from '../../chains/registry.ts'
import { assetOf } from '../../chains/registry.ts'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import { callUnits } from '../../custody/carrier.ts'
import type { LaneSeen } from '../../custody/port.ts'
import { formatUsd } from '../../money/amount.ts'
import { noGas } from '../decide/not-funded.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'

/** Values from the chain about who could pay. */
export type GasSeen = Pick<Preflight, 'walletWei' | 'relayedCostWei'> & {
  lanes: readonly LaneSeen[]
}

/** Refusal because nobody pays for the gas of a payment. */
export type GasRefusal = Refusal<'relay_limit_reached' | 'unavailable'>

const daySeconds = 86_400

/** Decides who pays, or returns a refusal that says what to do. */
export function gasPayer(
  entered: PaymentWithFacts,
  seen: GasSeen,
): 'relayer' | 'wallet' | GasRefusal {
  const { payment_row: payment, facts } = entered
  const { left_calls: left, least_usd_micros: leastUsdMicros } = facts.gas
  const units = callUnits(payment.terms['carrier'])
  const isCarried = payment.amount_usd_micros >= leastUsdMicros && left >= units
  if (isCarried && seen.lanes.length > 0) return 'relayer'
  if (seen.walletWei >= BigInt(units) * seen.relayedCostWei) return 'wallet'
  return isCarried ? noGas : overBudget(entered, assetOf(payment).chain)
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

/** Returns the refusal of a transfer that relayers carry no more today. */
function overBudget({ facts }: PaymentWithFacts, { native, title, caip2 }: Chain): GasRefusal {
  const { resets_at: resetsAt, left_calls } = facts.gas
  const when = resetsAt === null ? '' : `Wait until ${resetsAt}, when more is free, or `
  const hint = `${when}fund the wallet with ${native.symbol} for gas of its own.`
  return fail('relay_limit_reached', {
    message: `Relayers on ${title} carry no more transfers for this account today.`,
    hint: hint.charAt(0).toUpperCase() + hint.slice(1),
    details: { chain: caip2, left_calls, resets_at: resetsAt },
    ...retryAt(resetsAt, facts.now),
  })
}

function retryAt(resetsAt: string | null, now: number) {
  if (resetsAt === null) return {}
  // `now` is rounded down to seconds, and nothing counts for longer than a day.
  const seconds = Math.ceil(Date.parse(resetsAt) / 1000) - now
  return { retryAfterSeconds: Math.min(Math.max(1, seconds), daySeconds) }
}
