/** An amount as people read it: to its last digit, at least two decimals, thousands set apart. */
export function forPeople(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  return `${BigInt(whole.replaceAll(',', '')).toLocaleString('en-US')}.${fraction.padEnd(2, '0')}`
}
