/** How many passwords keep rules: whoever knows the rules guesses among them, each as likely as another. */
import type { PasswordRules } from './password-rules.ts'

/** Passwords of this many characters that keep the rules. */
export function passwordsThatKeep(
  { required, alphabet, consecutiveMax }: PasswordRules,
  length: number,
): bigint {
  // Inclusion and exclusion: without those that have nothing of one set, but with those of two, and so on.
  const subsets = Array.from({ length: 2 ** required.length }, (_, chosen) =>
    required.filter((_, at) => (chosen >> at) % 2 === 1),
  )
  return subsets.reduce((sum, missing) => {
    const left = alphabet.split('').filter((one) => !missing.some((set) => set.includes(one)))
    const count = textsOf(BigInt(left.length), length, consecutiveMax)
    return missing.length % 2 === 0 ? sum + count : sum - count
  }, 0n)
}

/** Texts of so many different characters in which none follows itself more often than allowed. */
function textsOf(characters: bigint, length: number, consecutiveMax: number): bigint {
  // By how they end: with a run of one character of each allowed length, behind another one.
  const counts = [1n]
  for (let at = 1; at <= length; at += 1) {
    const before = counts.slice(Math.max(0, at - consecutiveMax), at)
    const sum = before.reduce((total, count) => total + count, 0n)
    const isWholeRun = at <= consecutiveMax
    counts.push((characters - 1n) * sum + (isWholeRun ? 1n : 0n))
  }
  return characters === 0n ? 0n : (counts.at(-1) ?? 0n)
}
