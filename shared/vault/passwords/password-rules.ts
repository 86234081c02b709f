/**
 * Rules of a site for passwords, in Apple's `passwordrules` language
 * (https://developer.apple.com/documentation/security/password-rules). Character classes hold printable
 * ASCII without the space, which sites trim at the ends.
 */

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
export type PasswordRules = {
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
  return checked({
    required,
    alphabet,
    lengthMin: numbers.minlength,
    lengthMax: numbers.maxlength,
    consecutiveMax: numbers['max-consecutive'],
  })
}

/** Removes the characters from the rules that a site does not accept. */
export function withoutCharacters(
  rules: PasswordRules,
  excluded: string,
): PasswordRules | { refused: string } {
  const kept = (set: string) =>
    set
      .split('')
      .filter((one) => !excluded.includes(one))
      .join('')
  return checked({ ...rules, required: rules.required.map(kept), alphabet: kept(rules.alphabet) })
}

function checked(rules: PasswordRules): PasswordRules | { refused: string } {
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
