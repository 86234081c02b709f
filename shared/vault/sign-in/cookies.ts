/**
 * Cookies of one session at one origin (RFC 6265), which the service keeps and sends back and does not
 * show. They go back to this origin only, even if a cookie names a parent domain.
 */
import * as z from 'zod'

const cookiesMax = 50
const cookieCharactersMax = 4_096
const charactersMax = 16_384

/** Schema of a cookie; `endsAt` is in milliseconds of the epoch, or null for a session cookie. */
export const cookieSchema = z.object({
  name: z.string(),
  value: z.string(),
  path: z.string(),
  endsAt: z.number().nullable(),
})

/** A cookie of the session. */
export type Cookie = z.output<typeof cookieSchema>

/** Applies the cookies of an answer to those of the session. The oldest are dropped to make room. */
export function keptCookies(
  jar: readonly Cookie[],
  headers: Headers,
  url: URL,
  now: number,
): Cookie[] {
  let kept = [...jar]
  for (const line of headers.getSetCookie()) {
    const cookie = line.length <= cookieCharactersMax ? readCookie(line, url, now) : undefined
    if (!cookie) continue
    kept = kept.filter(({ name, path }) => name !== cookie.name || path !== cookie.path)
    kept.push(cookie)
  }
  const live = kept.filter(({ endsAt }) => endsAt === null || endsAt > now).slice(-cookiesMax)
  while (live.reduce((sum, { name, value }) => sum + name.length + value.length, 0) > charactersMax)
    live.shift()
  return live
}

/** Returns the Cookie header for a request, longest paths first; undefined if no cookie matches. */
export function cookieHeader(jar: readonly Cookie[], url: URL, now: number): string | undefined {
  const sent = jar
    .filter(({ path, endsAt }) => isBelow(url.pathname, path) && (endsAt === null || endsAt > now))
    .toSorted((one, other) => other.path.length - one.path.length)
  return sent.length === 0
    ? undefined
    : sent.map(({ name, value }) => `${name}=${value}`).join('; ')
}

function readCookie(line: string, url: URL, now: number): Cookie | undefined {
  const [pair = '', ...rest] = line.split(';')
  const at = pair.indexOf('=')
  const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  if (at < 1 || !/^[\x20-\x7e]*$/.test(name + value)) return undefined
  const attributes = new Map(rest.map(readAttribute))
  const domain = (attributes.get('domain') ?? '').replace(/^\./, '').toLowerCase()
  const host = url.hostname
  if (domain !== '' && host !== domain && !host.endsWith(`.${domain}`)) return undefined
  const path = attributes.get('path') ?? ''
  return {
    name,
    value,
    path: path.startsWith('/') ? path : directoryOf(url.pathname),
    endsAt: cookieExpiry(attributes, now),
  }
}

function readAttribute(text: string): [string, string] {
  const [name = '', ...value] = text.split('=')
  return [name.trim().toLowerCase(), value.join('=').trim()]
}

function cookieExpiry(attributes: ReadonlyMap<string, string>, now: number): number | null {
  const age = attributes.get('max-age') ?? ''
  if (/^-?[0-9]{1,12}$/.test(age)) return now + Number(age) * 1000
  const end = Date.parse(attributes.get('expires') ?? '')
  return Number.isNaN(end) ? null : end
}

/** Returns the default path of a cookie (RFC 6265 section 5.1.4). */
function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

function isBelow(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false
  return (
    path.length === directory.length || directory.endsWith('/') || path[directory.length] === '/'
  )
}
