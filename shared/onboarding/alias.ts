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
  words(`account accounts admin admins administration administrator alert alerts aoa approval approvals
  approve approved audit auth authentication authenticator authorization authorize authorized billing
  chargeback compliance confirm confirmation confirmed consent custodian custody customercare deposit
  deposits dispute disputes donotreply fraud freeze frozen helpcenter helpdesk kyc limits login mailbox
  mailer mandate mandates moderator notice notices notification notifications official operations operator
  owner owners passkey passkeys password passwords payment payments payout postmaster recovery refund
  refunds relayer reset risk safety security service services signin staff superuser support sysadmin system
  treasury trust trusted unfreeze unlock validate validation vault verification verified verify wallet
  withdraw withdrawal withdrawals your-user`)

/** Long enough to be read out of a name that is written in one, and in no other word. */
const claimLengthMin = 6
/** Of a longer word a slip of one letter is read over. */
const slipLengthMin = 7
/** Of an alias so many parts written in one are tried. */
const joinedMax = 3

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

/** Letters that stand twice are read as one. */
function readLook(alias: string): string {
  return hastyLook(alias).replaceAll(/(.)\1+/g, '$1')
}

const roleLooks = new Set(roles.map(readLook))
const claimLooks = new Set(claims.map(readLook))
const longClaimLooks = [...claimLooks].filter(({ length }) => length >= claimLengthMin)
const slippingLooks = [...claimLooks].filter(({ length }) => length >= slipLengthMin)

/** Whether an alias sounds like the service: as a whole, by parts, or by a word within. */
function soundsLikeService(alias: string): boolean {
  const look = readLook(alias)
  return (
    roleLooks.has(look) ||
    partsOf(alias).some(
      (part) => claimLooks.has(part) || slippingLooks.some((claim) => isSlip(part, claim)),
    ) ||
    longClaimLooks.some((claim) => look.includes(claim))
  )
}

/** The looks of the parts of an alias, and of some that follow each other. */
function partsOf(alias: string): string[] {
  const parts = alias.split('-')
  return parts.flatMap((_, at) =>
    Array.from({ length: joinedMax }, (_none, more) =>
      readLook(parts.slice(at, at + more + 1).join('')),
    ),
  )
}

/** Whether two differ by one letter: another one, one more or less, or two that changed places. */
function isSlip(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let at = 0
  while (at < one.length && one.charAt(at) === other.charAt(at)) at += 1
  const [rest, otherRest] = [one.slice(at), other.slice(at)]
  const swapped = `${rest.charAt(1)}${rest.charAt(0)}${rest.slice(2)}`
  return (
    rest.slice(1) === otherRest.slice(1) ||
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    swapped === otherRest
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
