/**
 * Aliases: the name of an account and the local part of its mail address. There is one canonical form, so
 * that two spellings never name two accounts. Only the database knows whether an alias is free.
 */
import { trimEndOf } from '../text/untrusted.ts'

/** 3 to 32 of a-z, 0-9 and single hyphens, beginning with a letter; private.accounts checks it too. */
const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const lengthMin = 3
const lengthMax = 32

/** Mailbox names that have a role at a domain, by RFC 2142 and by custom. */
const roles =
  words(`abuse contact email enquiries feedback ftp hello hostmaster inbox info inquiries legal mailer-daemon
  marketing members newsletter news noc no-reply onboarding press privacy register registration reply root
  sales sender signup status trouble usenet users uucp webmaster welcome www`)

/** Words with which a name could pass for the service, the account's owner or an approval, in any name. */
const claims =
  words(`admin admins administrat agent-operating-account aoa approval approve approved authenticat authoriz
  confirm consent custod donotreply freeze frozen kyc login mailer mandate moderator official owner
  owners passkey password postmaster recovery relayer reset signin staff superuser sysadmin system trusted
  unfreeze unlock validat verifi verify your-user`)

/** Words for what a service does and for whom at it: nobody's own name, unless a word of theirs is beside. */
const departments =
  words(`auth account alert audit billing chargeback compliance customercare deposit dispute fraud helpcenter
  helpdesk limit mailbox notice notification operation operator payment payments payout refund risk safety
  security service support treasury trust vault wallet withdraw withdrawal`)
/** Words beside which a department is still nobody's own name. */
const companions = words('desk team help mail office department center the my our your')

/** Minimum length of a claim that is found anywhere in an alias; shorter ones occur inside other words. */
const claimLengthMin = 6
/** Minimum length of a claim that people still read with one wrong letter. */
const slipLengthMin = 7
/** Maximum number of neighbouring parts that are also checked as one word. */
const joinedMax = 3

function words(text: string): readonly string[] {
  return text.split(/\s+/)
}

/** Returns the stored form of an alias: NFKC, trimmed, lower case. */
export function canonicalAlias(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/**
 * Returns how a canonical alias looks at a glance. Two accounts never have the same look; SQL has the same
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
 * Returns how an alias looks to a hasty reader: digits and letter pairs become the letter they resemble
 * (after the confusables of Unicode Technical Standard 39 within a to z and 0 to 9, and other common ones).
 * It is coarser than `aliasLook` and is not used to compare accounts.
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

/** Returns the hasty look with doubled letters read as one. */
function readLook(alias: string): string {
  return hastyLook(alias).replaceAll(/(.)\1+/g, '$1')
}

const roleLooks = roles.map(readLook)
const claimLooks = claims.map(readLook)
const companionLooks = companions.map(readLook)
const departmentLooks = departments.map(readLook)
const nameless = new RegExp(`^((${[...departmentLooks, ...companionLooks].join('|')})s?)*$`)
const longClaimLooks = claimLooks.filter(({ length }) => length >= claimLengthMin)
const slipsIn = (look: string, words: readonly string[]) =>
  words.some((word) => word.length >= slipLengthMin && isSlip(look, word))

/** True if an alias sounds like the service: by a claim in it, or by nothing but words for departments. */
function soundsLikeService(alias: string): boolean {
  const look = readLook(alias)
  return (
    roleLooks.includes(look) ||
    partLooksOf(alias).some((part) => claimLooks.includes(part) || slipsIn(part, claimLooks)) ||
    longClaimLooks.some((claim) => look.includes(claim)) ||
    namesDepartment(alias)
  )
}

/** True if an alias names a department and nobody: `support-desk` does, `support-bot` and `acme-support` do not. */
function namesDepartment(alias: string): boolean {
  const look = alias
    .split(/-\d*/)
    .map(readLook)
    .filter((part) => !companionLooks.includes(part))
    .join('')
  return nameless.test(look) || slipsIn(look, departmentLooks)
}

/** Returns the looks of the parts of an alias, and of neighbouring parts joined. */
function partLooksOf(alias: string): string[] {
  const parts = alias.split('-')
  return parts.flatMap((_, at) =>
    Array.from({ length: joinedMax }, (_none, more) =>
      readLook(parts.slice(at, at + more + 1).join('')),
    ),
  )
}

/** True if two texts differ by one letter: replaced, added, missing, or swapped with its neighbour. */
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

/** Returns why a canonical alias can never be registered; undefined if only the database can object. */
export function aliasProblem(alias: string): 'malformed' | 'reserved' | undefined {
  const hasLength = alias.length >= lengthMin && alias.length <= lengthMax
  if (!hasLength || !form.test(alias)) return 'malformed'
  return soundsLikeService(alias) ? 'reserved' : undefined
}

/** Returns well-formed aliases near an unavailable one; their availability is still to be checked. */
export function aliasSuggestions(alias: string): string[] {
  const begun = alias.replace(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '')
  const stem = trimEndOf(begun.slice(0, lengthMax - 6), '-')
  const near = [stem, `${stem}-agent`, `${stem}-2`, `my-${stem}`]
  const free = near.filter((one) => one !== alias && aliasProblem(one) === undefined)
  // All names near a reserved one are reserved.
  return free.length > 0 ? free : ['my-agent']
}
