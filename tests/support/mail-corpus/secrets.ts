/** Draws secrets as products do: codes of 4 to 10 characters, passwords, words, keys and links. */
import { formOf } from './secret-forms.ts'
import { valueOf } from './values.ts'

type Random = () => number

const digits = '0123456789'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = upper.toLowerCase()
const consonants = 'BCDFGHJKLMNPQRSTVWXZ'
const signs = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
const words = 'faint mossy tidal grove amber quiet lunar cedar brisk hollow maple ridge'.split(' ')

/** Returns a secret of a kind, or undefined if the name is not one of a secret. */
export function secretOf(kind: string, random: Random): string | undefined {
  const of = (set: string, length: number) =>
    Array.from({ length }, () => set.charAt(Math.floor(random() * set.length))).join('')
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  // Several secrets of one kind have names that end in a number of one or two digits.
  switch (/^(word|backup)\d+$/.exec(kind)?.[1] ?? kind) {
    case 'code':
      return codeOf(of, between, random)
    case 'google':
      return `G-${of(digits, 6)}`
    case 'steam':
      return `${of('23456789', 1)}${of('BCDFGHJKMNPQRTVWXY23456789', 4)}`
    case 'xcode':
      return `${of(lower, 1)}${of(digits, 1)}${of(lower + digits, between(6, 8))}`
    case 'digits4':
      return of(digits, 4)
    case 'digits5':
      return of(digits, 5)
    case 'words':
      return wordsOf(random, 4).join('-')
    case 'password':
      return `${of(upper, 1)}${of(lower + upper + digits + signs, between(5, 13))}${of(digits, 1)}${of(lower, 1)}`
    case 'key':
      return `${random() < 0.5 ? 'sk_live_' : 'SG.'}${of(upper + lower + digits, between(16, 60))}`
    case 'shortlink':
      return shortLink(of, between, random)
    case 'device':
      return `${of(consonants, 4)}-${of(consonants, 4)}`
    case 'pin4':
      return `${of(upper, 2)}${of(digits, 1)}${of(upper, 1)}`
    case 'word':
      return `${of(consonants.toLowerCase(), 1)}${of('aeiou', 1)}${of(lower, between(3, 6))}`
    case 'phrase':
      return wordsOf(random, between(4, 8)).join(' ')
    case 'lower':
      return of(lower, 8)
    case 'backup':
      return `${of(lower + digits, 4)}${of(digits, 1)}-${of(lower + digits, 5)}`
    case 'group5':
      return Array.from({ length: 6 }, () => of(digits, 5)).join(' ')
    case 'apppass':
      return Array.from({ length: 4 }, () => of(lower, 4)).join('-')
    case 'hexkey':
      return of('0123456789abcdef', 32)
    case 'secretkey':
      return `A3-${of(upper + digits, 6)}-${of(upper + digits, 6)}-${of(upper + digits, 5)}`
    case 'apikey':
      return `${random() < 0.5 ? 'rnd_' : 'tskey-auth-'}${of(upper + lower + digits, between(16, 40))}`
    case 'link':
      return valueOf('link', 'en', random)
    default:
      return formOf(kind, random)
  }
}

const wordsOf = (random: Random, count: number) =>
  Array.from({ length: count }, () => words[Math.floor(random() * words.length)] ?? '')

/** Returns a link with a shorter token than usual: mixed case, with or without a digit. */
function shortLink(
  of: Of,
  between: (least: number, most: number) => number,
  random: Random,
): string {
  const hosts = ['acme.example/l/', 'go.acme.example/', 'app.acme.example/i/', 'acme.example/j?c=']
  const token = `${of(upper, 1)}${of(lower, 1)}${of(upper + lower + digits, between(4, 8))}`
  return `https://${hosts[Math.floor(random() * hosts.length)] ?? ''}${token}`
}

type Of = (set: string, length: number) => string

/** Returns a code: half have the usual six digits, the others any form in use. */
function codeOf(of: Of, between: (least: number, most: number) => number, random: Random): string {
  const safe = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
  const chance = random()
  if (chance < 0.5) return of(digits, 6)
  const length = between(4, 10)
  const forms = [
    () => of(digits, length),
    () => `${of(safe.slice(0, 23), 1)}${of(safe, length - 2)}${of(digits, 1)}`,
    () => of(upper, length),
    () => `${of(lower, 1)}${of(digits, 1)}${of(lower + digits, length - 2)}`,
    () => `${of(digits, 3)}${random() < 0.5 ? '-' : ' '}${of(digits, 3)}`,
    () => `${of(upper, 3)}-${of(upper, 3)}`,
    () => `${of(safe, 4)}-${of(safe, 4)}`,
    () => `${of(lower, 1)}${of(upper, 1)}${of(upper + lower + digits, length - 2)}`,
    () => of(lower, length),
  ]
  const form = forms[Math.floor(random() * forms.length)]
  return form ? form() : of(digits, length)
}
