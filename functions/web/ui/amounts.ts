/** Formats an amount for people: all digits, at least two decimals, commas between thousands. */
export function forPeople(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  return `${BigInt(whole.replaceAll(',', '')).toLocaleString('en-US')}.${fraction.padEnd(2, '0')}`
}
