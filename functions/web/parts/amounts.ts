import { formatUsd } from '../../../shared/money/amount.ts'

/** An amount as people read it: to its last digit, at least two decimals, thousands set apart. */
export function forPeople(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  return `${whole.replace(/\B(?=([0-9]{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}

const centMicros = 10_000n

/** Dollars that are held, to the cent: what is not a whole cent is left away. */
export function heldUsd(usdMicros: bigint): string {
  return forPeople(formatUsd(usdMicros - (usdMicros % centMicros)))
}

/** Dollars that are spent or counted, to the cent: what is not a whole cent counts as one. */
export function spentUsd(usdMicros: bigint): string {
  return heldUsd(usdMicros + centMicros - 1n)
}
