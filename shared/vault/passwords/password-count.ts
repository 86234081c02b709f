/** Number of passwords that keep rules, among which anyone who knows the rules has to guess. */
import type { PasswordRules } from './password-rules.ts'

/** Returns the number of passwords of this length that keep the rules. */
export function passwordsThatKeep(
  { required, alphabet, consecutiveMax }: PasswordRules,
  length: number,
): bigint {
  // Inclusion-exclusion: subtract the texts that lack one required set, add those that lack two, and so on.
  const subsets = Array.from({ length: 2 ** required.length }, (_, chosen) =>
    required.filter((_, at) => (chosen >> at) % 2 === 1),
  )
  return subsets.reduce((sum, missing) => {
    const left = alphabet.split('').filter((one) => !missing.some((set) => set.includes(one)))
    const count = textsOf(BigInt(left.length), length, consecutiveMax)
    return missing.length % 2 === 0 ? sum + count : sum - count
  }, 0n)
}

/** Counts the texts of this length over an alphabet of this size, without longer runs than allowed. */
function textsOf(characters: bigint, length: number, consecutiveMax: number): bigint {
  // Counted by how they end: with a run of each allowed length, behind a different character.
  const counts = [1n]
  for (let at = 1; at <= length; at += 1) {
    const before = counts.slice(Math.max(0, at - consecutiveMax), at)
    const sum = before.reduce((total, count) => total + count, 0n)
    const isWholeRun = at <= consecutiveMax
    counts.push((characters - 1n) * sum + (isWholeRun ? 1n : 0n))
  }
  return characters === 0n ? 0n : (counts.at(-1) ?? 0n)
}
