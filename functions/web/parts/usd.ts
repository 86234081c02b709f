import { formatUsd } from '../../../shared/money/amount.ts'
import { forPeople } from './amounts.ts'

const centMicros = 10_000n

/** Dollars that are held, to the cent: what is not a whole cent is left away. */
export function heldUsd(usdMicros: bigint): string {
  return forPeople(formatUsd(usdMicros - (usdMicros % centMicros)))
}

/** Dollars that are spent or counted, to the cent: what is not a whole cent counts as one. */
export function spentUsd(usdMicros: bigint): string {
  return heldUsd(usdMicros + centMicros - 1n)
}
