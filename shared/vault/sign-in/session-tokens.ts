/**
 * What carries a session: who has it goes on as the owner, past the service and past a freeze. It stands
 * in cookies and, at sites that do not trust in them, in addresses; no answer tells it.
 */
import type { Cookie } from './cookies.ts'

const tokensMax = 64
const tokenCharactersMin = 8

/** Of servlets and PHP, and what others call theirs; in a path, and as the parameter of a query. */
const inAddresses =
  /(?:;|%3b|[?&])(?:jsessionid|phpsessid|aspsessionid[a-z]{0,12}|session_?id|sid|oscsid|zenid|cftoken)(?:=|%3d)([\w.!~+%-]{8,256})/gi
/** Of addresses that sign in or set a password anew, as pages and redirects have them. */
const inLinks =
  /[?&;#](?:(?:access|auth|id|login|magic|reset|reset_password|confirmation|invitation|verification)_?token|token|ticket|otp|oobcode|jwt)(?:=|%3d)([\w.~+%-]{8,2048})/gi
const inLinkPaths =
  /\/(?:(?:password-?)?reset(?:-?password)?|magic(?:-?link)?|activate|invit(?:e|ation)s?)\/([\w.~%-]{12,512})/gi
/** Of ASP.NET without cookies. */
const inFolders = /\(S\(([a-z0-9]{16,64})\)\)/g
const inPath = /;(?:jsessionid|phpsessid|session_?id|sid)=[^/;?#]{0,2048}/gi

/**
 * Texts that no answer of the session may tell: values of its cookies, and tokens of addresses in it by
 * which somebody is signed in, or could choose another password.
 */
export function sessionTokens(cookies: readonly Cookie[], texts: readonly string[]): string[] {
  const values = cookies.map(({ value }) => value.replaceAll(/^"|"$/g, ''))
  const found = texts.flatMap((text) =>
    [inAddresses, inLinks, inLinkPaths, inFolders].flatMap((pattern) =>
      Array.from(text.matchAll(pattern), ([, value = '']) => value),
    ),
  )
  return [...new Set([...values.toReversed(), ...found].filter(isDrawn))].slice(0, tokensMax)
}

/** An address without the session in its path; the cookies lead to the same page. */
export function withoutSession(address: string): string {
  return address.replaceAll(inPath, '')
}

/** A word such as `accepted` or `Europe/Berlin` is a setting, and stands on many pages. */
function isDrawn(value: string): boolean {
  if (value.length < tokenCharactersMin) return false
  return value.length >= 16 || /[0-9]/.test(value) || /[A-Z].*[A-Z]/.test(value.slice(1))
}
