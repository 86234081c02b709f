/**
 * Aliases: the name of an account and the local part of its mail address. One canonical form, so
 * that two spellings never name two accounts. Whether an alias is free only the database knows.
 */
import { trimEndOf } from '../trim-end.ts'

/** 3 to 32 of a-z, 0-9 and single hyphens, beginning with a letter; private.accounts checks it too. */
const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const lengthMin = 3
const lengthMax = 32

/** Mailbox names that RFC 2142 gives a role, and names that would pass for the service itself. */
const reserved = new Set([
  'abuse',
  'admin',
  'administrator',
  'billing',
  'custody',
  'ftp',
  'help',
  'hostmaster',
  'info',
  'mailer-daemon',
  'marketing',
  'news',
  'no-reply',
  'noc',
  'noreply',
  'postmaster',
  'relayer',
  'root',
  'sales',
  'security',
  'service',
  'support',
  'system',
  'trouble',
  'usenet',
  'uucp',
  'webmaster',
  'www',
])

/** The form in which an alias is kept: NFKC, trimmed, lower case. */
export function canonicalAlias(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/**
 * How a canonical alias looks at a glance. Two that look alike are never both accounts; SQL has the same
 * rules in private.alias_look, on which accounts are unique.
 */
export function aliasLook(alias: string): string {
  return alias
    .replaceAll('-', '')
    .replaceAll('0', 'o')
    .replaceAll(/[1i]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

const reservedLooks = new Set([...reserved].map(aliasLook))

/** Why a canonical alias can never be registered; undefined when only the database can object. */
export function aliasProblem(alias: string): 'malformed' | 'reserved' | undefined {
  const hasLength = alias.length >= lengthMin && alias.length <= lengthMax
  if (!hasLength || !form.test(alias)) return 'malformed'
  return reservedLooks.has(aliasLook(alias)) ? 'reserved' : undefined
}

/** Well-formed aliases near one that cannot be had; each is still to be checked. */
export function aliasSuggestions(alias: string): string[] {
  const begun = alias.replace(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '')
  const stem = trimEndOf(begun.slice(0, lengthMax - 6), '-')
  const near = [stem, `${stem}-agent`, `${stem}-2`, `my-${stem}`]
  return near.filter((one) => one !== alias && aliasProblem(one) === undefined)
}
