/**
 * Reads who really sent a mail, as the receiving server found it (RFC 8601). Only the topmost header
 * counts, and only if it has the name of the trusted server and no other header has it: headers below
 * came with the mail, and its sender could have written them. Nothing is verified again.
 */
import { isTenant, registrableDomain } from '../registrable-domain.ts'

/** The result of a method (RFC 8601 section 2.7); `absent` if the method was not reported. */
export type Verdict = 'pass' | 'fail' | 'neutral' | 'error' | 'none' | 'absent'

/** The findings of the trusted server. */
export type MailAuthentication = {
  spf: Verdict
  dkim: Verdict
  dmarc: Verdict
  /** Registrable domain of the author's address, if the mail is proven to come from it. */
  provenDomain: string | undefined
}

type Result = { method: string; verdict: Verdict; properties: ReadonlyMap<string, string> }

const nothing: MailAuthentication = {
  spf: 'absent',
  dkim: 'absent',
  dmarc: 'absent',
  provenDomain: undefined,
}

/** Maximum length of a header. The server itself writes far shorter ones. */
const valueLengthMax = 16 * 1024

/**
 * Reads the findings. `headers` are all headers of the mail from the top, `trustedServer` is the
 * authserv-id of the server that hands mail over, and `author` is the address in From. Only a
 * deployment that talks to itself accepts `localhost` as a domain (`provesLoopback`).
 */
export function authenticationOf(
  headers: readonly { name: string; value: string }[],
  {
    trustedServer,
    author,
    provesLoopback = false,
  }: { trustedServer: string; author: string; provesLoopback?: boolean },
): MailAuthentication {
  const [top, ...others] = headers.filter(({ name }) => name === 'authentication-results')
  const results = top && resultsOf(top.value, trustedServer)
  // The server writes one header and removes forged ones. With several, its own cannot be identified.
  if (!results || others.some(({ value }) => mayName(value, trustedServer))) return nothing
  return {
    spf: verdictOf(results, 'spf'),
    dkim: verdictOf(results, 'dkim'),
    dmarc: verdictOf(results, 'dmarc'),
    provenDomain: provenDomain(results, author, (host) =>
      provesLoopback && host === 'localhost' ? host : registrableDomain(host),
    ),
  }
}

/** Returns the verdict of a method. Of several signatures, one that passes is enough. */
function verdictOf(results: readonly Result[], method: string): Verdict {
  const verdicts = results.filter((one) => one.method === method).map(({ verdict }) => verdict)
  return verdicts.includes('pass') ? 'pass' : (verdicts[0] ?? 'absent')
}

/** Returns the domain that is proven; it must be of the author's organisation (RFC 7489 section 3.1). */
function provenDomain(
  results: readonly Result[],
  author: string,
  domainOf: (host: string) => string | undefined,
): string | undefined {
  const host = mailHost(author)
  const domain = domainOf(host)
  const dmarc = results.filter(({ method }) => method === 'dmarc')
  if (domain === undefined || dmarc.some(({ verdict }) => verdict === 'fail')) return undefined
  // A server reports DMARC once. A second result was injected through a value that the sender controls.
  if (dmarc.length > 1) return undefined
  // For a customer of a shared domain, the result may be that of the operator.
  const isOfSender = (passed: string) =>
    domainOf(passed) === domain || (domainOf(passed) === passed && host.endsWith(`.${passed}`))
  const isOnly = (method: string) => results.filter((one) => one.method === method).length === 1
  const proves = ({ method, verdict, properties }: Result) => {
    // With several results of a method, the one that the server itself wrote cannot be identified.
    if (verdict !== 'pass' || !isOnly(method)) return false
    const named = (name: string) => mailHost(properties.get(name) ?? '')
    // DMARC treats all customers of a shared domain as one organisation.
    if (method === 'dmarc') return named('header.from') === host && !isTenant(host)
    if (method === 'spf') return isOfSender(named('smtp.mailfrom'))
    return method === 'dkim' && isOfSender(named('header.d') || named('header.i'))
  }
  return results.some(proves) ? domain : undefined
}

function mailHost(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

/** Returns the results of this server's header, or undefined if it is another's or cannot be read. */
function resultsOf(value: string, server: string): Result[] | undefined {
  if (value.length > valueLengthMax) return undefined
  const statements = statementsOf(value)
  const [first = [], ...others] = statements ?? []
  const [id, version = '1'] = first
  if (id?.toLowerCase() !== server.toLowerCase() || version !== '1') return undefined
  return others.flatMap(resultOf)
}

/** Returns true if a header has the name of a server, or cannot be parsed and contains it anywhere. */
function mayName(value: string, server: string): boolean {
  const statements = value.length > valueLengthMax ? undefined : statementsOf(value)
  if (!statements) return value.toLowerCase().includes(server.toLowerCase())
  return statements[0]?.[0]?.toLowerCase() === server.toLowerCase()
}

function resultOf([first = '', ...others]: readonly string[]): Result[] {
  const [, method, verdict] = /^([a-z-]+)(?:\/\d+)?=([a-z]+)$/i.exec(first) ?? []
  if (method === undefined || verdict === undefined) return []
  const properties = new Map<string, string>()
  for (const token of others) {
    const [name = '', ...rest] = token.split('=')
    // A property that occurs twice cannot be relied on.
    properties.set(name.toLowerCase(), properties.has(name.toLowerCase()) ? '' : rest.join('='))
  }
  return [
    { method: method.toLowerCase(), verdict: verdictNamed(verdict.toLowerCase()), properties },
  ]
}

function verdictNamed(name: string): Verdict {
  switch (name) {
    case 'pass':
    case 'fail':
    case 'neutral':
    case 'none':
      return name
    case 'softfail':
    case 'hardfail':
    case 'policy':
    case 'reject':
      return 'fail'
    case 'temperror':
    case 'permerror':
      return 'error'
    default:
      return 'neutral'
  }
}

/** Splits a header at its semicolons into words. Comments are left out, and a quoted string is one word. */
function statementsOf(value: string): string[][] | undefined {
  const tokens = /\\.|[();"]|\s+|[^\\();"\s]+/gs
  const statements: string[][] = [[]]
  let [depth, quoted, word] = [0, false, '']
  const endWord = () => {
    if (word !== '') statements.at(-1)?.push(word)
    word = ''
  }
  for (const [token] of value.matchAll(tokens)) {
    if (quoted) {
      if (token === '"') quoted = false
      // Quoted text is one value to its end, even if it contains spaces or equals signs.
      else word += token.replace(/^\\/, '').replaceAll(/[\s=]/g, '_')
    } else if (token === '(') depth += 1
    else if (token === ')') depth -= 1
    else if (depth > 0) continue
    else if (token === '"') quoted = true
    else if (token === ';') {
      endWord()
      statements.push([])
    } else if (/^\s/.test(token)) endWord()
    else word += token
    if (depth < 0) return undefined
  }
  endWord()
  return depth === 0 && !quoted ? joinEquals(statements) : undefined
}

/** Removes the spaces that RFC 8601 allows around an equals sign. */
function joinEquals(statements: readonly string[][]): string[][] {
  return statements.map((words) => words.join(' ').replaceAll(/ ?= ?/g, '=').split(' '))
}
