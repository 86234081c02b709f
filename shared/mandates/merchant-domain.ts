/**
 * Converts a merchant's host name to the one form that a mandate stores: the lower-case A-label host,
 * exactly as the WHATWG URL parser writes it for an address that is paid. A name that the parser would
 * silently turn into another one is refused, so that the owner reads what is matched.
 */

import { checkUrl } from '../egress/safe-fetch.ts'
import type { Config } from '../env.ts'
import { isSharedDomain } from '../mailbox/registrable-domain.ts'
import { mixesScripts, readsAsAnother } from './label-script.ts'
import { hasSuffixBelow, suffixProblem } from './public-suffix.ts'
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

/** Rule of this file that a name fails. */
export type DomainProblem = keyof typeof messages

/** A name in its one form, or the first rule that it fails, with a sentence that says what to do. */
export type CanonicalDomain =
  | {
      /** Lower-case A-labels; with a port only on loopback. */
      domain: string
      /** The same name with its A-labels decoded, for people. */
      unicode: string
      isIdn: boolean
      /** True if all names below it have the same owner, so that a mandate may include them. */
      ownsSubdomains: boolean
    }
  | { problem: DomainProblem; message: string }

/** Converts the host that an agent or a person named into its one form. */
export function canonicalDomain(
  input: string,
  { allowLoopback }: Pick<Config, 'allowLoopback'>,
): CanonicalDomain {
  if (allowLoopback && isLoopback(input)) {
    const domain = input.toLowerCase()
    return { domain, unicode: domain, isIdn: false, ownsSubdomains: false }
  }
  const spelling = spellingProblem(input) ?? labelsProblem(input)
  if (spelling !== undefined) return refused(spelling, input)
  const read = readName(input)
  if ('problem' in read) return refused(read.problem, input)
  const problem = ownerProblem(read, allowLoopback)
  if (problem !== undefined) return refused(problem, input)
  const { domain, unicode } = read
  const ownsSubdomains = !hasSuffixBelow(domain) && !isSharedDomain(domain)
  return { domain, unicode, isIdn: domain !== unicode, ownsSubdomains }
}

function refused(problem: DomainProblem, input: string): CanonicalDomain {
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
  const domain = hostOf(input)
  const unicode = domain === undefined ? undefined : readableName(domain)
  const spelled = readableName(input.toLowerCase())?.normalize('NFC')
  if (domain === undefined || unicode === undefined || hostOf(unicode) !== domain) {
    return { problem: 'invalid_name' }
  }
  const isLong = domain.length > 253 || domain.split('.').some((label) => label.length > 63)
  if (isLong) return { problem: 'too_long' }
  return unicode === spelled ? { domain, unicode } : { problem: 'not_plain' }
}

function hostOf(name: string): string | undefined {
  return URL.parse(`https://${name}/`)?.hostname
}

/** Returns why a name's owner is uncertain. Names for tests (RFC 6761) are allowed locally. */
function ownerProblem({ domain, unicode }: Name, isLocal: boolean): DomainProblem | undefined {
  const labels = unicode.split('.')
  const last = labels.at(-1) ?? ''
  if (labels.length === 1) return 'single_label'
  if (labelsProblem(unicode) !== undefined) return 'invalid_label'
  if (labels.some(mixesScripts)) return 'mixed_scripts'
  if (labels.some((label) => readsAsAnother(label, last))) return 'reads_as_another'
  if (isLocal && /^(example|test)$/.test(last)) return undefined
  // A mandate for a host that is never fetched would be misleading.
  const isPublic = 'url' in checkUrl(`https://${domain}/`, { allowLoopback: false })
  return isPublic ? suffixProblem(domain) : 'not_public'
}
