/**
 * Builds the request of a template: puts the secrets in their places and addresses it to the entry's own
 * site. It sends nothing and does not judge whether a place is approved. The request carries no credential
 * of the agent's own, such as a cookie, so it acts for the secret's account or for nobody.
 */
import { encodeText } from '../base64.ts'
import { buildFormBody, buildJsonBody } from './body.ts'
import { linkAddress, linkSecrets } from './entries/link.ts'
import { normalUrl } from './places/path.ts'
import { isRemovable, secretsMax } from './removable.ts'
import type { Injection, RequestTemplate } from './template.ts'

/** A request for the guarded client, with every text in it that no answer may carry back. */
export type SecretRequest = {
  url: URL
  method: string
  headers: (readonly [string, string])[]
  body?: Uint8Array<ArrayBuffer>
  secrets: string[]
  /** TOTP codes to remove as well. The agent may know them, so guesses at them need no defence. */
  totpCodes: readonly string[]
  /** True if the answer is withheld: what is removed from it would reveal a PIN within a few requests. */
  isUntold: boolean
}

/** An opened entry: its canonical origin, its user name, its values and links by name. */
export type UsedEntry = {
  origin: string
  username: string
  values: ReadonlyMap<string, string>
  links: ReadonlyMap<string, string>
  /** Codes of other requests and the seed of codes, which are not sent and which no answer may carry. */
  hidden: readonly string[]
  /** TOTP codes of now and around it, which `vault_totp` gives to the agent anyway. */
  totpCodes: readonly string[]
}

type Refused = { refused: string }

/** Headers that an agent may set beside a secret. */
const besideSecrets = new Set([
  'accept',
  'accept-language',
  'idempotency-key',
  'user-agent',
  'x-requested-with',
])
/** Headers that name an API version, such as `X-GitHub-Api-Version`, which an agent may set too. */
const versionHeader = /-version$/

/**
 * Headers that the connection, the guarded client or the body decides. A range would let an agent read an
 * answer in pieces that are each too short for a reflected secret to be found.
 */
const ownHeaders =
  /^(host|connection|range|if-range|content-length|content-type|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|via|forwarded|x-forwarded-.*|proxy-.*|sec-.*)$/

/** Returns the request, or a sentence that says why it cannot be made and never holds a secret. */
export function requestWith(entry: UsedEntry, template: RequestTemplate): SecretRequest | Refused {
  const empty = template.inject.find((place) => valueOf(entry, place) === undefined)
  if (empty) return { refused: whyEmpty(entry, empty) }
  const url = addressOf(entry, template)
  if ('refused' in url) return url
  const headers = placedInHeaders(entry, template)
  if ('refused' in headers) return headers
  const body = bodyOf(entry, template)
  if (body !== undefined && 'refused' in body) return body
  const secrets = secretTexts(entry, template)
  if (secrets.length > secretsMax) return { refused: 'There are too many secrets in one request.' }
  return {
    url,
    method: template.method,
    headers: [...headers.list, ...(body ? [['content-type', body.type] as const] : [])],
    ...(body ? { body: new TextEncoder().encode(body.text) } : {}),
    secrets,
    totpCodes: entry.totpCodes,
    isUntold: lastingTexts(entry, template).some((text) => text !== '' && !isRemovable(text)),
  }
}

function whyEmpty({ links }: UsedEntry, place: Injection): string {
  if (place.where === 'basic') return 'The entry has no password.'
  if (place.where === 'link') return `${place.secret} is no link: a code belongs in a field.`
  if (links.has(place.secret)) return `${place.secret} is a link: it belongs in the place link.`
  return `The entry has no ${place.secret}. vault_list tells what it has.`
}

function addressOf(entry: UsedEntry, { method, path, inject }: RequestTemplate): URL | Refused {
  const [link, ...others] = inject.filter(({ where }) => where === 'link')
  if (link !== undefined && inject.length > 1) {
    return { refused: 'A link is opened as it is, with no secret beside it.' }
  }
  if (others.length > 0 || (link === undefined) === (path === undefined)) {
    return { refused: 'A template has a path, or one link in its place.' }
  }
  if (link !== undefined) {
    if (method !== 'GET' && method !== 'POST')
      return { refused: 'A link is opened by GET or POST.' }
    return linkAddress(valueOf(entry, link) ?? '', entry.origin)
  }
  const url = normalUrl(new URL(path ?? '', entry.origin))
  return url.origin === entry.origin ? url : { refused: 'The path leads away from the site.' }
}

/**
 * Returns the texts that must not come back: the values that are sent and texts made of them. The site may
 * know other values from earlier requests, so these are included if they are long enough to remove.
 */
function secretTexts(entry: UsedEntry, { inject }: RequestTemplate): string[] {
  const sent = inject.flatMap((place) => {
    if (place.where === 'basic') return [pairOf(entry), entry.values.get('password') ?? []]
    if (place.where === 'link') return linkSecrets(valueOf(entry, place) ?? '')
    const isKnown = place.secret === 'username' || place.secret === 'totp'
    return isKnown ? [] : (entry.values.get(place.secret) ?? [])
  })
  return [...new Set([...sent.flat(), ...otherTexts(entry)])]
}

/** Returns the secrets that the site may know from other requests, without TOTP codes. */
export function otherTexts({ values, hidden }: UsedEntry): string[] {
  const named = [...values].flatMap(([name, value]) => (name === 'totp' ? [] : [value]))
  return [...named, ...hidden].filter(isRemovable)
}

/** Returns the sent values that stay valid, unlike a code, which can be tried only once. */
function lastingTexts({ values }: UsedEntry, { inject }: RequestTemplate): string[] {
  const names = inject.map((place) => (place.where === 'basic' ? 'password' : place.secret))
  return names.flatMap((name) => (/^(totp$|mail\.)/.test(name) ? [] : (values.get(name) ?? [])))
}

function placedInHeaders(
  entry: UsedEntry,
  { headers = {}, inject }: RequestTemplate,
): { list: (readonly [string, string])[] } | Refused {
  const placed = inject.flatMap((place): [string, string][] => {
    const value = valueOf(entry, place) ?? ''
    if (place.where === 'header') return [[place.name, `${place.prefix ?? ''}${value}`]]
    if (place.where === 'bearer') return [['authorization', `Bearer ${value}`]]
    if (place.where === 'basic') return [['authorization', `Basic ${encodeText(value)}`]]
    return []
  })
  if (inject.some(isCodeInHeader))
    return { refused: 'A code goes into a field, never into a header.' }
  const list = [...Object.entries(headers), ...placed].map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  )
  const names = list.map(([name]) => name)
  const given = names.slice(0, Object.keys(headers).length)
  const foreign = given.find((name) => !besideSecrets.has(name) && !versionHeader.test(name))
  if (foreign !== undefined)
    return { refused: `The header ${foreign} cannot stand beside a secret.` }
  const own = names.find((name) => ownHeaders.test(name))
  if (own !== undefined) return { refused: `The header ${own} is set by the service itself.` }
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) return { refused: `The template sets the header ${twice} twice.` }
  if (list.some(([, value]) => !/^[\t\x20-\x7e]*$/.test(value))) {
    return { refused: 'A secret has characters that a header cannot carry; use another place.' }
  }
  // RFC 7617 section 2: the first colon ends the user name.
  if (inject.some(({ where }) => where === 'basic') && entry.username.includes(':')) {
    return { refused: 'A user name with a colon cannot be sent by basic authentication.' }
  }
  return { list }
}

/** True if a one-time code would go into a header. It proves who types it, not which program sends it. */
function isCodeInHeader(place: Injection): boolean {
  const isInHeader = place.where === 'header' || place.where === 'bearer'
  return isInHeader && /^(totp$|mail\.)/.test(place.secret)
}

function bodyOf(
  entry: UsedEntry,
  { method, form, json, inject }: RequestTemplate,
): { type: string; text: string } | Refused | undefined {
  const toForm = inject.flatMap((place) =>
    place.where === 'form_field' ? [{ ...place, value: valueOf(entry, place) ?? '' }] : [],
  )
  const toJson = inject.flatMap((place) =>
    place.where === 'json_field' ? [{ ...place, value: valueOf(entry, place) ?? '' }] : [],
  )
  const isForm = form !== undefined || toForm.length > 0
  const isJson = json !== undefined || toJson.length > 0
  if (!isForm && !isJson) return undefined
  if (isForm && isJson) return { refused: 'A request has a form or JSON, not both.' }
  if (method === 'GET' || method === 'HEAD') return { refused: `A ${method} request has no body.` }
  if (inject.some(({ where }) => where === 'link')) return { refused: 'A link is opened as it is.' }
  return isForm ? buildFormBody(form ?? {}, toForm) : buildJsonBody(json ?? {}, toJson)
}

function valueOf(entry: UsedEntry, place: Injection): string | undefined {
  if (place.where === 'basic') return entry.values.has('password') ? pairOf(entry) : undefined
  if (place.where === 'link') return entry.links.get(place.secret)
  return place.secret === 'username' ? entry.username : entry.values.get(place.secret)
}

function pairOf({ username, values }: UsedEntry): string {
  return `${username}:${values.get('password') ?? ''}`
}
