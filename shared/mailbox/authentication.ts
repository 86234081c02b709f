/**
 * Who really sent a mail, as the receiving server found it: RFC 8601. Only the header at the top of
 * the mail counts, and only when it bears the name of the server that is trusted and no other one does:
 * what stands below came with the mail, and its sender could have written it. Nothing is checked again.
 */
import { isTenant, registrableDomain } from './registrable-domain.ts'

/** What a method found (RFC 8601 section 2.7); `absent` where it was not asked. */
export type Verdict = 'pass' | 'fail' | 'neutral' | 'error' | 'none' | 'absent'

/** The findings of the trusted server. */
export type MailAuthentication = {
  spf: Verdict
  dkim: Verdict
  dmarc: Verdict
  /** Registrable domain that the mail is proven to come from, as the author's address says it. */
  provenDomain: string | undefined
}

type Result = { method: string; verdict: Verdict; properties: ReadonlyMap<string, string> }

const nothing: MailAuthentication = {
  spf: 'absent',
  dkim: 'absent',
  dmarc: 'absent',
  provenDomain: undefined,
}

/** The server itself makes far shorter ones. */
const valueLengthMax = 16 * 1024

/**
 * Reads the findings. `headers` are all of the mail from the top, `trustedServer` is the authserv-id
 * of the server that hands mail over, `author` the address in From. Only a machine that talks to
 * itself takes `localhost` for a domain (`provesLoopback`).
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
  // The server writes one and takes forged ones out: which of several it wrote, nobody can tell.
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

/** Of several signatures one that holds is enough. */
function verdictOf(results: readonly Result[], method: string): Verdict {
  const verdicts = results.filter((one) => one.method === method).map(({ verdict }) => verdict)
  return verdicts.includes('pass') ? 'pass' : (verdicts[0] ?? 'absent')
}

/** RFC 7489 section 3.1: what passed has to be of the author's own organisation. */
function provenDomain(
  results: readonly Result[],
  author: string,
  domainOf: (host: string) => string | undefined,
): string | undefined {
  const host = hostOf(author)
  const domain = domainOf(host)
  const dmarc = results.filter(({ method }) => method === 'dmarc')
  if (domain === undefined || dmarc.some(({ verdict }) => verdict === 'fail')) return undefined
  // A server finds it once: another one was slipped in by what the sender is called.
  if (dmarc.length > 1) return undefined
  // Of a customer at a shared domain, its operator may be the one who passed.
  const isOfSender = (passed: string) =>
    domainOf(passed) === domain || (domainOf(passed) === passed && host.endsWith(`.${passed}`))
  const isOnly = (method: string) => results.filter((one) => one.method === method).length === 1
  const proves = ({ method, verdict, properties }: Result) => {
    // Which of several signatures the server itself checked, nobody can tell any more.
    if (verdict !== 'pass' || !isOnly(method)) return false
    const named = (name: string) => hostOf(properties.get(name) ?? '')
    // It takes all customers of a shared domain for one.
    if (method === 'dmarc') return named('header.from') === host && !isTenant(host)
    if (method === 'spf') return isOfSender(named('smtp.mailfrom'))
    return method === 'dkim' && isOfSender(named('header.d') || named('header.i'))
  }
  return results.some(proves) ? domain : undefined
}

function hostOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

/** The results of a header of this server; undefined for another's, or one that cannot be read. */
function resultsOf(value: string, server: string): Result[] | undefined {
  if (value.length > valueLengthMax) return undefined
  const statements = statementsOf(value)
  const [first = [], ...others] = statements ?? []
  const [id, version = '1'] = first
  if (id?.toLowerCase() !== server.toLowerCase() || version !== '1') return undefined
  return others.flatMap(resultOf)
}

/** Whether a header bears the name of a server, or cannot be read and has it somewhere. */
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
    // Twice the same is nothing to rely on.
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

/** Statements between semicolons as their words; comments are left out, quoted strings are one word. */
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
      // What is quoted is a value to its end, whatever it looks like.
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

/** RFC 8601 allows spaces around the sign of equality. */
function joinEquals(statements: readonly string[][]): string[][] {
  return statements.map((words) => words.join(' ').replaceAll(/ ?= ?/g, '=').split(' '))
}
