/**
 * Parses WWW-Authenticate: any number of challenges of any schemes in one value (RFC 9110, sections 11.2 to
 * 11.6.1). It knows no scheme. Parsing ends at the first part that is not valid.
 */

/** One challenge: its scheme in lower case, and its parameters by lower-case name. */
export type AuthChallenge = { scheme: string; params: Record<string, string> }

const headerLengthMax = 65_536
const challengesMax = 16
const paramsMax = 32

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const param = new RegExp(`(${token})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'y')
// A scheme may be followed by one token68 instead of parameters. It is skipped; nothing here uses it.
const scheme = new RegExp(
  `(${token})(?:[ \\t]+[A-Za-z0-9._~+/-]+=*(?=[ \\t]*(?:,|$))|(?=[ \\t,]|$))`,
  'y',
)
const separator = /[ \t,]*/y

/** Returns the challenges in the order of the header. */
export function readAuthChallenges(header: string): AuthChallenge[] {
  const challenges: AuthChallenge[] = []
  let at = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(header)
    if (found) at = pattern.lastIndex
    return found
  }
  while (at < Math.min(header.length, headerLengthMax) && challenges.length <= challengesMax) {
    match(separator)
    const current = challenges.at(-1)
    const pair = match(param)
    if (pair && current && addParam(current.params, pair)) continue
    if (pair) {
      challenges.pop()
      break
    }
    const started = match(scheme)
    if (!started) break
    challenges.push({ scheme: (started[1] ?? '').toLowerCase(), params: {} })
  }
  return challenges.slice(0, challengesMax)
}

/** Adds a parameter. A name may occur only once in a challenge (RFC 9110, section 11.2). */
function addParam(params: Record<string, string>, [, name = '', quoted, plain = '']: string[]) {
  const key = name.toLowerCase()
  if (Object.hasOwn(params, key) || Object.keys(params).length >= paramsMax) return false
  params[key] = quoted === undefined ? plain : unquote(quoted)
  return true
}

/** Decodes quoted pairs (RFC 9110, section 5.6.4), and \uXXXX, as MPP servers write other scripts. */
function unquote(quoted: string): string {
  return quoted.replaceAll(
    /\\(?:u([0-9A-Fa-f]{4})|(.))/g,
    (_, code: string | undefined, other: string) =>
      code === undefined ? other : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
