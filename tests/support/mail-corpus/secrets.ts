/** Secrets as products draw them: codes of 4 to 10 signs, passwords, words, keys and links. */
import { valueOf } from './values.ts'

type Random = () => number

const digits = '0123456789'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = upper.toLowerCase()
const signs = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
const words = 'faint mossy tidal grove amber quiet lunar cedar brisk hollow maple ridge'.split(' ')

/** A secret of a kind, or nothing where the name is that of something else. */
export function secretOf(kind: string, random: Random): string | undefined {
  const of = (set: string, length: number) =>
    Array.from({ length }, () => set.charAt(Math.floor(random() * set.length))).join('')
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  switch (kind) {
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
      return Array.from({ length: 4 }, () => words[Math.floor(random() * words.length)]).join('-')
    case 'password':
      return `${of(upper, 1)}${of(lower + upper + digits + signs, between(5, 13))}${of(digits, 1)}${of(lower, 1)}`
    case 'key':
      return `${random() < 0.5 ? 'sk_live_' : 'SG.'}${of(upper + lower + digits, between(16, 60))}`
    case 'link':
      return valueOf('link', 'en', random)
    default:
      return undefined
  }
}

type Of = (set: string, length: number) => string

/** Half of the codes have the usual six digits; the rest is of all forms that are in use. */
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
