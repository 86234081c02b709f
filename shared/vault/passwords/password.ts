/**
 * Generation of passwords. All passwords of the chosen length that the rules allow are equally likely: a
 * draw that breaks a rule is thrown away whole instead of being mended.
 */
import type { RandomBytes } from '../keys.ts'
import { passwordsThatKeep } from './password-count.ts'
import { type PasswordRules, readPasswordRules, withoutCharacters } from './password-rules.ts'

/** Length used if nobody asks for another; 24 characters of the usual alphabet have over 140 bits. */
const usualLength = 24
/** Rules that sites accept if they state none of their own. */
export const usualRules =
  'required: upper; required: lower; required: digit; required: [-_.!@#%*+=?]'
const attemptsMax = 5_000
/** Bits of entropy that the rules must leave, since a guesser may know the rules. */
const bitsMin = 40n

/** Constraints on a new password that the caller knows from the site. */
export type PasswordWish = {
  /** Apple's `passwordrules`; `usualRules` if absent. */
  rules?: string | undefined
  /** Characters that the password must not have. */
  exclude?: string | undefined
  /** Exact number of characters; if absent, 24 or the nearest that the rules allow. */
  length?: number | undefined
}

/** Returns a password that keeps the rules, or a sentence that says why there is none. */
export function newPassword(
  random: RandomBytes,
  { rules: text = usualRules, exclude = '', length }: PasswordWish,
): { password: string } | { refused: string } {
  const read = readPasswordRules(text)
  const rules = 'refused' in read ? read : withoutCharacters(read, exclude)
  if ('refused' in rules) return rules
  const { lengthMin, lengthMax } = rules
  const chosen = length ?? Math.min(Math.max(usualLength, lengthMin), lengthMax)
  if (!Number.isInteger(chosen) || chosen < lengthMin || chosen > lengthMax) {
    return { refused: `The rules allow ${lengthMin} to ${lengthMax} characters.` }
  }
  if (passwordsThatKeep(rules, chosen) < 2n ** bitsMin) {
    return { refused: 'A password that keeps these rules could be guessed. Give wider ones.' }
  }
  return passwordOf(random, rules, chosen)
}

/** Returns a password of this length that keeps the rules, even if few do. */
export function passwordOf(
  random: RandomBytes,
  rules: PasswordRules,
  chosen: number,
): { password: string } | { refused: string } {
  const draw = drawer(random, rules.alphabet)
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const password = Array.from({ length: chosen }, draw).join('')
    if (keeps(password, rules)) return { password }
  }
  return { refused: 'No password of this length was found that keeps all of these rules.' }
}

function keeps(password: string, { required, consecutiveMax }: PasswordRules): boolean {
  if (!required.every((set) => password.split('').some((one) => set.includes(one)))) return false
  let run = 0
  return password.split('').every((one, at) => {
    run = one === password[at - 1] ? run + 1 : 1
    return run <= consecutiveMax
  })
}

/** Draws characters without bias: drops bytes beyond the last whole multiple of the alphabet's length. */
function drawer(random: RandomBytes, alphabet: string): () => string {
  const fair = 256 - (256 % alphabet.length)
  let pool = new Uint8Array(0)
  let at = 0
  return () => {
    for (;;) {
      if (at === pool.length) {
        pool = Uint8Array.from(random(256))
        at = 0
      }
      const byte = pool[at] ?? 0
      at += 1
      if (byte < fair) return alphabet[byte % alphabet.length] ?? ''
    }
  }
}
