/**
 * Converts a merchant's host name to the one form that a mandate stores: the lower-case A-label host,
 * exactly as the WHATWG URL parser writes it for an address that is paid. A name that the parser would
 * silently turn into another one is refused, so that the owner reads what is matched.
 */
import { checkUrl } from '../egress/safe-fetch.ts'
import type { Config } from '../env.ts'
import { readableName } from './readable-name.ts'

const messages = {
  empty: 'Name the host of the merchant, such as shop.example.com.',
  too_long: 'A host name has at most 253 characters, and 63 between two dots.',
  invisible_character: 'The name contains a space or a character that cannot be seen.',
  userinfo: 'The name contains an @. What stands before it would not be the host that is paid.',
  url: 'Give the host alone, without scheme, path or query.',
  port: 'Give the host without a port; merchants are paid over https on port 443.',
  ip_address: 'The host is an IP address. A mandate is for a name.',
  percent_encoding: 'The name contains percent-encoding. Write the characters themselves.',
  trailing_dot: 'The name ends with a dot. Leave it out.',
  empty_label: 'The name has two dots with nothing between them, or begins with one.',
  invalid_label: 'Between the dots are letters, digits and inner hyphens, nothing else.',
  invalid_name: 'The name cannot be that of an internationalized host.',
  not_plain: 'The name contains characters that browsers turn into others. Write the plain ones.',
  mixed_scripts: 'The name mixes letters of several scripts between two dots, as forged names do.',
  reads_as_another: 'The name can be read as that of another host, as forged names are.',
  single_label: 'The name has no dot. Name the full host, such as shop.example.com.',
  not_public: 'Hosts of this name are on no public network.',
  unknown_suffix: 'The name ends in a suffix that the public suffix list does not know.',
  public_suffix: 'Names below this one belong to many owners. Name the host of one merchant.',
} as const

/** Rule that a name fails. */
export type DomainProblem = keyof typeof messages

/** A host name in its one form. */
export type CanonicalHost = {
  /** Lower-case A-labels; with a port only on loopback. */
  domain: string
  /** The same name with its A-labels decoded, for people. */
  unicode: string
  isIdn: boolean
  /** Kind of network that the name is on; `test` are names for tests (RFC 6761), allowed locally. */
  network: 'public' | 'test' | 'loopback'
}

/** First rule that a name fails, with a sentence that says what to do. */
export type RefusedDomain = { problem: DomainProblem; message: string }

/** Converts a host name into its one form. It may be a public suffix, so it stands for itself alone. */
export function canonicalHost(
  input: string,
  { allowLoopback }: Pick<Config, 'allowLoopback'>,
): CanonicalHost | RefusedDomain {
  if (allowLoopback && isLoopback(input)) {
    const domain = input.toLowerCase()
    return { domain, unicode: domain, isIdn: false, network: 'loopback' }
  }
  const spelling = spellingProblem(input) ?? labelsProblem(input)
  if (spelling !== undefined) return refuseDomain(spelling, input)
  const read = readName(input)
  if ('problem' in read) return refuseDomain(read.problem, input)
  const isForTests = allowLoopback && /\.(example|test)$/.test(read.domain)
  const problem = ownerProblem(read, isForTests)
  if (problem !== undefined) return refuseDomain(problem, input)
  const { domain, unicode } = read
  return { domain, unicode, isIdn: domain !== unicode, network: isForTests ? 'test' : 'public' }
}

/** Returns a rule that a name fails, with its sentence. */
export function refuseDomain(problem: DomainProblem, input: string): RefusedDomain {
  const host = problem === 'url' || problem === 'port' ? hostIn(input) : undefined
  const instead = host === undefined ? '' : ` Here that is ${host}.`
  return { problem, message: messages[problem] + instead }
}

/** Returns the host of a URL that was given instead of a host, if it is plain ASCII. */
function hostIn(input: string): string | undefined {
  const host = URL.parse(/^https?:\/\//i.test(input) ? input : `https://${input}`)?.hostname
  return host !== undefined && /^[a-z0-9.-]+$/.test(host) ? host : undefined
}

function isLoopback(input: string): boolean {
  const port = /^(?:localhost|127\.0\.0\.1)(?::([1-9][0-9]{0,4}))?$/i.exec(input)
  return port !== null && Number(port[1] ?? 1) <= 65_535
}

/** Returns the first reason why the text is not spelled as a host name. */
function spellingProblem(input: string): DomainProblem | undefined {
  if (input === '') return 'empty'
  if (input.length > 253) return 'too_long'
  if (/[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(input)) return 'invisible_character'
  if (input.includes('@')) return 'userinfo'
  if (/^\[|^[^/\\?#]*:[^/\\?#]*:/.test(input)) return 'ip_address'
  if (/[/\\?#]/.test(input)) return 'url'
  if (input.includes(':')) return 'port'
  if (input.includes('%')) return 'percent_encoding'
  // URL standard, "ends in a number": a host that ends like this is parsed as IPv4 or fails.
  if (/(^|\.)(0x[0-9a-f]*|[0-9]+)\.?$/i.test(input)) return 'ip_address'
  return undefined
}

function labelsProblem(input: string): DomainProblem | undefined {
  if (input.endsWith('.')) return 'trailing_dot'
  const labels = input.split('.')
  if (labels.includes('')) return 'empty_label'
  const isRight = (label: string) => /^[\p{L}\p{M}\p{Nd}-]+$/u.test(label) && !/^-|-$/.test(label)
  return labels.every(isRight) ? undefined : 'invalid_label'
}

type Name = { domain: string; unicode: string }

/** Parses the host. The parser's form must be the plain reading of the input, and parse to itself. */
function readName(input: string): Name | { problem: DomainProblem } {
  const domain = parsedHost(input)
  const unicode = domain === undefined ? undefined : readableName(domain)
  const spelled = readableName(input.toLowerCase())?.normalize('NFC')
  if (domain === undefined || unicode === undefined || parsedHost(unicode) !== domain) {
    return { problem: 'invalid_name' }
  }
  const isLong = domain.length > 253 || domain.split('.').some((label) => label.length > 63)
  if (isLong) return { problem: 'too_long' }
  return unicode === spelled ? { domain, unicode } : { problem: 'not_plain' }
}

function parsedHost(name: string): string | undefined {
  return URL.parse(`https://${name}/`)?.hostname
}

/** Returns why a name's owner is uncertain. */
function ownerProblem({ domain, unicode }: Name, isForTests: boolean): DomainProblem | undefined {
  const labels = unicode.split('.')
  const last = labels.at(-1) ?? ''
  if (labels.length === 1) return 'single_label'
  if (labelsProblem(unicode) !== undefined) return 'invalid_label'
  if (labels.some(mixesScripts)) return 'mixed_scripts'
  if (labels.some((label) => readsAsAnother(label, last))) return 'reads_as_another'
  if (isForTests) return undefined
  // A mandate for a host that is never fetched would be misleading.
  const isPublic = 'url' in checkUrl(`https://${domain}/`, { allowLoopback: false })
  return isPublic ? undefined : 'not_public'
}

/** Patterns of a whole label: letters and marks of one script or set, ASCII digits and hyphens. */
const wholeLabels = [
  ['Latin'],
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
  ...(
    'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew ' +
    'Kannada Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'
  )
    .split(' ')
    .map((script) => [script]),
].map((scripts) => {
  const classes = scripts.map((script) => `\\p{Script_Extensions=${script}}`).join('')
  return new RegExp(`^[${classes}0-9-]+$`, 'u')
})

/** Letters that look like ASCII, after the lists of Chromium's policy for displaying names. */
const readAsLatin = [
  { script: /\p{Script=Cyrillic}/u, label: /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u },
  { script: /\p{Script=Armenian}/u, label: /^[աոսօցհյռւզղքց0-9-]+$/u },
  { script: /\p{Script=Greek}/u, label: /^[αικνρυωηοτ0-9-]+$/u },
]

/**
 * Phonetic letters that look like a, c, s and others and have been used in forged names: Unicode's IPA
 * Extensions, Phonetic Extensions and their supplement, those of Latin Extended-D, and dotless i.
 */
const phonetic = /[\u0131\u0250-\u02af\u1d00-\u1dbf\ua722-\ua787\ua7ae-\ua7ff]/u
/** Combining accent without a precomposed letter, which is easily overlooked on the letter before it. */
const looseAccent = /[\u0300-\u036f]/u

/** Returns true if a label mixes scripts in a way in which no language is written. */
function mixesScripts(label: string): boolean {
  return !wholeLabels.some((whole) => whole.test(label))
}

/** Returns true if a label has forged-looking letters, or reads as ASCII below a TLD of another script. */
function readsAsAnother(label: string, last: string): boolean {
  if (phonetic.test(label) || looseAccent.test(label)) return true
  return readAsLatin.some(
    (look) => look.script.test(label) && look.label.test(label) && !look.script.test(last),
  )
}
