/**
 * Draws secrets by a form name: a character set and a length, as in hex32; optionally a number of groups
 * joined by - (x) or by spaces (s), as in upn4x4 and d3s2; and optionally _ and a digit that tells secrets
 * of one form apart.
 */

type Random = () => number

const digits = '0123456789'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = upper.toLowerCase()

const sets: Readonly<Record<string, string>> = {
  d: digits,
  hex: '0123456789abcdef',
  hexu: '0123456789ABCDEF',
  low: lower,
  up: upper,
  upn: upper + digits,
  aln: lower + digits,
  mix: upper + lower + digits,
  b58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  b64: `${upper}${lower}${digits}-_`,
  prn: `${upper}${lower}${digits}${digits}!"#$%&'()*+,-./:;<=>?@[]^_{}~`,
}

const form = /^(hexu|hex|upn|low|up|aln|mix|b58|b64|prn|d)(\d+)(?:([xs])(\d+))?(?:_\d)?$/

/** Returns a secret of a form, or undefined if the name is not one of a form. */
export function formOf(kind: string, random: Random): string | undefined {
  const of = (set: string, length: number) =>
    Array.from({ length }, () => set.charAt(Math.floor(random() * set.length))).join('')
  const [, set = '', length, joint, groups = '1'] = form.exec(kind) ?? []
  if (length !== undefined)
    return Array.from({ length: Number(groups) }, () =>
      of(sets[set] ?? digits, Number(length)),
    ).join(joint === 's' ? ' ' : '-')
  switch (kind) {
    case 'uuid':
      return [8, 4, 4, 4, 12].map((size) => of(sets['hex'] ?? digits, size)).join('-')
    case 'djtoken':
      return `${of(lower + digits, 6)}-${of(sets['hex'] ?? digits, 32)}`
    case 'belenios':
      return [5, 6, 5, 6].map((size) => of(sets['b58'] ?? digits, size)).join('-')
    case 'pwgen':
      return `${pronounced(of)}${pronounced(of)}${of('123456789', 1)}${of(digits, 1)}${of('!$%&?.:-_;,', 1)}`
    default:
      return undefined
  }
}

const pronounced = (of: (set: string, length: number) => string) =>
  `${of('bcdfghjklmnprstvwz', 1)}${of('aeiou', 1)}${of('bcdfghjklmnprstvwz', 1)}${of('aeiou', 1)}`
