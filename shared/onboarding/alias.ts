/**
 * Aliases: the name of an account and the local part of its mail address. One canonical form, so
 * that two spellings never name two accounts. Whether an alias is free only the database knows.
 */
import { trimEndOf } from '../trim-end.ts'

/** 3 to 32 of a-z, 0-9 and single hyphens, beginning with a letter; private.accounts checks it too. */
const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const lengthMin = 3
const lengthMax = 32

/** Mailbox names that RFC 2142 and custom give a role at the domain. */
const roles =
  words(`abuse admin administrator ftp help hostmaster info mailer-daemon marketing news noc
  no-reply noreply postmaster root sales service support system trouble usenet uucp webmaster www`)

/** Words by which a name would pass for the service, for the account's owner or for an approval. */
const claims =
  words(`account accounts admin administrator alert alerts approval approvals approve approved
  auth billing compliance confirm confirmation confirmed custody deposit deposits fraud helpdesk mailer
  mandate mandates moderator notice notices notification notifications official operator owner owners
  payment payments payout postmaster recovery refund refunds relayer security service services staff support
  system treasury trusted vault verification verified verify wallet withdrawal withdrawals your-user`)

/** Long enough to be read out of a name that is written in one, and in no other word. */
const claimLengthMin = 6

function words(text: string): readonly string[] {
  return text.split(/\s+/)
}

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

/**
 * The look of an alias to who reads in haste: digits and pairs of letters that stand for a letter (after
 * the confusables of Unicode Technical Standard 39, as far as they are a to z and 0 to 9, and those in
 * use beyond them). Coarser than `aliasLook`: by this one nobody is refused for another account's sake.
 */
function hastyLook(alias: string): string {
  return aliasLook(alias.replaceAll('cl', 'd').replaceAll('nn', 'm'))
    .replaceAll('2', 'z')
    .replaceAll('3', 'e')
    .replaceAll('4', 'a')
    .replaceAll('5', 's')
    .replaceAll(/[69]/g, 'g')
    .replaceAll('7', 't')
    .replaceAll('8', 'b')
    .replaceAll('q', 'g')
    .replaceAll('uu', 'w')
    .replaceAll('v', 'u')
}

const roleLooks = new Set(roles.map(hastyLook))
const claimLooks = new Set(claims.map(hastyLook))
const longClaimLooks = [...claimLooks].filter(({ length }) => length >= claimLengthMin)

/** Whether an alias sounds like the service: as a whole, by a part, or by a word within. */
function soundsLikeService(alias: string): boolean {
  const look = hastyLook(alias)
  return (
    roleLooks.has(look) ||
    alias.split('-').some((part) => claimLooks.has(hastyLook(part))) ||
    longClaimLooks.some((claim) => look.includes(claim))
  )
}

/** Why a canonical alias can never be registered; undefined when only the database can object. */
export function aliasProblem(alias: string): 'malformed' | 'reserved' | undefined {
  const hasLength = alias.length >= lengthMin && alias.length <= lengthMax
  if (!hasLength || !form.test(alias)) return 'malformed'
  return soundsLikeService(alias) ? 'reserved' : undefined
}

/** Well-formed aliases near one that cannot be had; each is still to be checked. */
export function aliasSuggestions(alias: string): string[] {
  const begun = alias.replace(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '')
  const stem = trimEndOf(begun.slice(0, lengthMax - 6), '-')
  const near = [stem, `${stem}-agent`, `${stem}-2`, `my-${stem}`]
  const free = near.filter((one) => one !== alias && aliasProblem(one) === undefined)
  // Near a name that is reserved, all are.
  return free.length > 0 ? free : ['my-agent']
}
