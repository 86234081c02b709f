/**
 * Generation of passwords. All passwords of the chosen length that the rules allow are equally likely: a
 * draw that breaks a rule is thrown away whole instead of being mended.
 */
import type { RandomBytes } from './envelope.ts'

/** Length used if nobody asks for another; 24 characters of the usual alphabet have over 140 bits. */
const usualLength = 24
/** Rules that sites accept if they state no others. */
const usualRules = 'required: upper; required: lower; required: digit; required: [-_.!@#%*+=?]'
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

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = upper.toLowerCase()
const digit = '0123456789'
const special = '-~!@#$%^&*_+=`|(){}[:;"\'<>,.?]'
const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('')

const classes = new Map([
  ['upper', upper],
  ['lower', lower],
  ['digit', digit],
  ['special', special],
  ['ascii-printable', printable],
  ['unicode', printable],
])

const lengthsMax = 256
const requiredMax = 8

/** Rules for a password. A character set is a string in which each character occurs once. */
type PasswordRules = {
  /** Sets of which each must have at least one character in the password. */
  required: readonly string[]
  /** Characters that the password may have, including the required sets. */
  alphabet: string
  lengthMin: number
  lengthMax: number
  /** Longest run of one character. */
  consecutiveMax: number
}

/** Reads `passwordrules`. An unknown property is refused, because the password could break its rule. */
export function readPasswordRules(text: string): PasswordRules | { refused: string } {
  if (text.length > 1024) return { refused: 'The password rules are longer than 1024 characters.' }
  const required: string[] = []
  const allowed: string[] = []
  const numbers = { minlength: 1, maxlength: lengthsMax, 'max-consecutive': lengthsMax }
  for (const [name, value] of propertiesOf(text)) {
    if (name === 'required' || name === 'allowed') {
      const set = characterSet(value)
      if (set === undefined) return { refused: `The password rules name no characters: ${name}.` }
      if (name === 'required') required.push(set)
      else allowed.push(set)
    } else if (name === 'minlength' || name === 'maxlength' || name === 'max-consecutive') {
      if (!/^[0-9]{1,4}$/.test(value))
        return { refused: `The password rules lack a number: ${name}.` }
      const strictest = name === 'minlength' ? Math.max : Math.min
      numbers[name] = strictest(numbers[name], Number(value))
    } else {
      return { refused: 'The password rules have a property that is not in the language.' }
    }
  }
  const alphabet = distinct([...required, ...allowed].join('')) || printable
  return checkRules({
    required,
    alphabet,
    lengthMin: numbers.minlength,
    lengthMax: numbers.maxlength,
    consecutiveMax: numbers['max-consecutive'],
  })
}

/** Removes the characters from the rules that a site does not accept. */
function withoutCharacters(
  rules: PasswordRules,
  excluded: string,
): PasswordRules | { refused: string } {
  const kept = (set: string) =>
    set
      .split('')
      .filter((one) => !excluded.includes(one))
      .join('')
  return checkRules({
    ...rules,
    required: rules.required.map(kept),
    alphabet: kept(rules.alphabet),
  })
}

function checkRules(rules: PasswordRules): PasswordRules | { refused: string } {
  const { required, alphabet, lengthMin, lengthMax, consecutiveMax } = rules
  if (required.length > requiredMax) return { refused: `More than ${requiredMax} required sets.` }
  const isPossible =
    lengthMin <= lengthMax &&
    lengthMax >= Math.max(1, required.length) &&
    consecutiveMax >= 1 &&
    (alphabet.length > 1 || consecutiveMax >= lengthMin) &&
    alphabet !== '' &&
    required.every((set) => set !== '')
  return isPossible ? rules : { refused: 'No password keeps all of these rules.' }
}

/** Splits the text at semicolons outside of square brackets. */
function propertiesOf(text: string): [string, string][] {
  const parts = text.match(/(?:\[.*?\]\]?|[^;[])+/g) ?? []
  return parts.flatMap((part) => {
    const [name = '', ...rest] = part.split(':')
    return part.trim() === '' ? [] : [[name.trim().toLowerCase(), rest.join(':').trim()]]
  })
}

/** Returns the characters of one class, or of several with commas between them, of which one is enough. */
function characterSet(value: string): string | undefined {
  const parts = value.match(/\[.*?\]\]?|[^,[\s]+/g) ?? []
  const sets = parts.map((part) =>
    part.startsWith('[') ? printableOf(part.slice(1, -1)) : classes.get(part.toLowerCase()),
  )
  return sets.includes(undefined) || sets.length === 0 ? undefined : distinct(sets.join(''))
}

function printableOf(text: string): string | undefined {
  return (
    distinct(
      text
        .split('')
        .filter((one) => printable.includes(one))
        .join(''),
    ) || undefined
  )
}

function distinct(text: string): string {
  return [...new Set(text)].join('')
}

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
