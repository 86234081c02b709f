import { formatUsd } from '../../../shared/money/amount.ts'
import { forPeople } from './amounts.ts'

const centMicros = 10_000n

/** Formats a balance in dollars, rounded down to the cent. */
export function usdRoundedDown(usdMicros: bigint): string {
  return forPeople(formatUsd(usdMicros - (usdMicros % centMicros)))
}

/** Formats an amount that was spent or counts, rounded up to the cent. */
export function usdRoundedUp(usdMicros: bigint): string {
  return usdRoundedDown(usdMicros + centMicros - 1n)
}
