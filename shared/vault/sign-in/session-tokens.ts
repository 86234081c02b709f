/**
 * Tokens that carry a session: whoever has one can act as the owner, past the service and past a freeze.
 * They stand in cookies and, at some sites, in addresses. No answer may contain them.
 */
import type { Cookie } from './cookies.ts'

const tokenCharactersMin = 8

/** Session ids of servlets, PHP and others, in a path or as the parameter of a query. */
const inAddresses =
  /(?:;|%3b|[?&])(?:jsessionid|phpsessid|aspsessionid[a-z]{0,12}|session_?id|sid|oscsid|zenid|cftoken)(?:=|%3d)([\w.!~+%-]{8,256})/gi
/** Tokens in addresses that sign in or reset a password, as pages and redirects contain them. */
const inLinks =
  /[?&;#](?:(?:access|auth|id|login|magic|reset|reset_password|confirmation|invitation|verification)_?token|token|ticket|otp|oobcode|jwt)(?:=|%3d)([\w.~+%-]{8,2048})/gi
const inLinkPaths =
  /\/(?:(?:password-?)?reset(?:-?password)?|magic(?:-?link)?|activate|invit(?:e|ation)s?)\/([\w.~%-]{12,512})/gi
/** Session ids of ASP.NET without cookies. */
const inFolders = /\(S\(([a-z0-9]{16,64})\)\)/g
const inPath = /;(?:jsessionid|phpsessid|session_?id|sid)=[^/;?#]{0,2048}/gi

/**
 * Returns the texts that no answer of the session may contain: values of its cookies, and tokens in
 * addresses that sign somebody in or let them reset a password.
 */
export function sessionTokens(cookies: readonly Cookie[], texts: readonly string[]): string[] {
  const values = cookies.map(({ value }) => value.replaceAll(/^"|"$/g, ''))
  const found = texts.flatMap((text) =>
    [inAddresses, inLinks, inLinkPaths, inFolders].flatMap((pattern) =>
      Array.from(text.matchAll(pattern), ([, value = '']) => value),
    ),
  )
  return [...new Set([...values.toReversed(), ...found].filter(isRandomToken))]
}

/** Returns an address without the session id in its path; the cookies lead to the same page. */
export function withoutSession(address: string): string {
  return address.replaceAll(inPath, '')
}

/** True if a value looks random. A word such as `accepted` or `Europe/Berlin` occurs on many pages. */
function isRandomToken(value: string): boolean {
  if (value.length < tokenCharactersMin) return false
  return value.length >= 16 || /[0-9]/.test(value) || /[A-Z].*[A-Z]/.test(value.slice(1))
}
