/**
 * Reads an agent's template of a request, puts the secrets in their places and addresses it to the entry's own
 * site. It sends nothing and does not judge whether a destination is approved. The request carries no credential
 * of the agent's own, such as a cookie, so it acts for the secret's account or for nobody.
 */
import * as z from 'zod'
import { encodeText } from '../base64.ts'
import * as form from '../contract/forms.ts'
import { normalUrl } from './destinations/path.ts'
import { linkAddress, linkSecrets } from './entries/link.ts'
import { isRemovable } from './scrub.ts'

/** A request for the guarded client, with every text that no answer may carry back. */
export type SecretRequest = {
  url: URL
  method: string
  headers: (readonly [string, string])[]
  body?: Uint8Array<ArrayBuffer>
  secrets: string[]
  /** Reason not to show the answer, which a site may make of what it was sent. */
  withheld: 'password_sent' | 'short_secret' | undefined
}

/** An opened entry: its canonical origin, its user name, its values and links by name. */
export type UsedEntry = {
  origin: string
  username: string
  values: ReadonlyMap<string, string>
  links: ReadonlyMap<string, string>
  /** Codes of other requests and the seed of codes, which are not sent and which no answer may carry. */
  hidden: readonly string[]
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
  const empty = template.inject.find((place) => valueAt(entry, place) === undefined)
  if (empty) return { refused: whyEmpty(entry, empty) }
  const url = requestUrl(entry, template)
  if ('refused' in url) return url
  const headers = placedInHeaders(entry, template)
  if ('refused' in headers) return headers
  const body = requestBody(entry, template)
  if (body !== undefined && 'refused' in body) return body
  return {
    url,
    method: template.method,
    headers: [...headers.list, ...(body ? [['content-type', body.type] as const] : [])],
    ...(body ? { body: new TextEncoder().encode(body.text) } : {}),
    secrets: [
      ...new Set([
        ...template.inject.flatMap((one) => sentTexts(entry, one)),
        ...otherTexts(entry),
      ]),
    ],
    withheld: whyWithheld(entry, template),
  }
}

/** Returns the reason not to show the answer. A short key could be found by what is removed of guesses. */
function whyWithheld(entry: UsedEntry, { inject }: RequestTemplate): SecretRequest['withheld'] {
  if (inject.some((one) => signsIn(entry, one))) return 'password_sent'
  const isShort = (text: string) => text !== '' && !isRemovable(text)
  return inject.some((one) => sentTexts(entry, one).some(isShort)) ? 'short_secret' : undefined
}

/** True for a password or a code: all values but the fields of an entry and its API key in a header. */
function signsIn({ username }: UsedEntry, injection: Injection): boolean {
  if (injection.where === 'basic' || injection.where === 'link') return true
  const isInHeader = injection.where === 'header' || injection.where === 'bearer'
  if (injection.secret === 'password') return username !== '' || !isInHeader
  return injection.secret !== 'username' && !injection.secret.startsWith('fields.')
}

function whyEmpty({ links }: UsedEntry, place: Injection): string {
  if (place.where === 'basic') return 'The entry has no password.'
  if (place.where === 'link') return `${place.secret} is no link: a code belongs in a field.`
  if (links.has(place.secret)) return `${place.secret} is a link: it belongs in the place link.`
  return `The entry has no ${place.secret}. vault_list tells what it has.`
}

function requestUrl(entry: UsedEntry, { method, path, inject }: RequestTemplate): URL | Refused {
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
    return linkAddress(valueAt(entry, link) ?? '', entry.origin)
  }
  const url = normalUrl(new URL(path ?? '', entry.origin))
  return url.origin === entry.origin ? url : { refused: 'The path leads away from the site.' }
}

/** Returns the texts that a value of a template brings into the request; a user name is not secret. */
function sentTexts(entry: UsedEntry, injection: Injection): string[] {
  if (injection.where === 'basic') return [pairOf(entry), entry.values.get('password') ?? '']
  if (injection.where === 'link') return linkSecrets(valueAt(entry, injection) ?? '')
  return injection.secret === 'username' ? [] : [entry.values.get(injection.secret) ?? '']
}

/** Returns the secrets that the site may know from other requests; a PIN could be found by what is removed. */
export function otherTexts({ values, hidden }: UsedEntry): string[] {
  const named = [...values].flatMap(([name, value]) => (name === 'totp' ? [] : [value]))
  return [...named.filter(isRemovable), ...hidden]
}

function placedInHeaders(
  entry: UsedEntry,
  { headers = {}, inject }: RequestTemplate,
): { list: (readonly [string, string])[] } | Refused {
  const placed = inject.flatMap((place): [string, string][] => {
    const value = valueAt(entry, place) ?? ''
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

function requestBody(
  entry: UsedEntry,
  { method, form, json, inject }: RequestTemplate,
): { type: string; text: string } | Refused | undefined {
  const toForm = inject.flatMap((place) =>
    place.where === 'form_field' ? [{ ...place, value: valueAt(entry, place) ?? '' }] : [],
  )
  const toJson = inject.flatMap((place) =>
    place.where === 'json_field' ? [{ ...place, value: valueAt(entry, place) ?? '' }] : [],
  )
  const isForm = form !== undefined || toForm.length > 0
  const isJson = json !== undefined || toJson.length > 0
  if (!isForm && !isJson) return undefined
  if (isForm && isJson) return { refused: 'A request has a form or JSON, not both.' }
  if (method === 'GET' || method === 'HEAD') return { refused: `A ${method} request has no body.` }
  if (inject.some(({ where }) => where === 'link')) return { refused: 'A link is opened as it is.' }
  return isForm ? buildFormBody(form ?? {}, toForm) : buildJsonBody(json ?? {}, toJson)
}

function valueAt(entry: UsedEntry, place: Injection): string | undefined {
  if (place.where === 'basic') return entry.values.has('password') ? pairOf(entry) : undefined
  if (place.where === 'link') return entry.links.get(place.secret)
  return place.secret === 'username' ? entry.username : entry.values.get(place.secret)
}

function pairOf({ username, values }: UsedEntry): string {
  return `${username}:${values.get('password') ?? ''}`
}

const bodyCharactersMax = 65_536

/** `totp` is the current code, `mail.HANDLE` the code of a mail. */
const secretName = z
  .string()
  .max(80)
  .regex(
    /^(password|previous_password(_[23])?|totp|username|fields\.[A-Za-z][A-Za-z0-9_-]{0,63}|mail\.c_[0-9a-z]{12})$/,
    'password, previous_password, totp, username, fields.NAME or mail.HANDLE',
  )

const mailName = z
  .string()
  .max(19)
  .regex(/^mail\.c_[0-9a-z]{12}$/, 'mail.HANDLE')

/** A token (RFC 9110 section 5.6.2). */
const headerName = z
  .string()
  .max(64)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'the name of a header')

/** A field value (RFC 9110 section 5.5) in ASCII alone: clients disagree on how to send anything else. */
const headerValue = z
  .string()
  .max(2048)
  .regex(/^[\t\x20-\x7e]*$/, 'printable ASCII')

/** Schema for the name of a form field. */
const formField = form.words(256).min(1)

/** Schema for a path on the entry's site, with its query. */
export const sitePath = z
  .string()
  .max(2048)
  .regex(
    /^\/([\x21-\x2e\x30-\x5b\x5d-\x7e][\x21-\x5b\x5d-\x7e]*)?$/,
    'a path of the site, which begins with one / and is written in ASCII without spaces',
  )

/** Schema for the form fields that are not secret, by their names. */
export const plainFields = z
  .record(formField, form.words(bodyCharactersMax))
  .refine((fields) => Object.keys(fields).length <= 64, 'at most 64 fields')

const injection = z.discriminatedUnion('where', [
  z.strictObject({
    where: z.literal('header'),
    name: headerName,
    secret: secretName,
    prefix: headerValue.max(64).optional().describe('Stands before the secret, such as "Token ".'),
  }),
  z.strictObject({ where: z.literal('basic') }).describe('RFC 7617: user name and password.'),
  z.strictObject({ where: z.literal('bearer'), secret: secretName }).describe('RFC 6750.'),
  z.strictObject({ where: z.literal('form_field'), name: formField, secret: secretName }),
  z.strictObject({
    where: z.literal('json_field'),
    pointer: z
      .string()
      .max(512)
      .regex(/^(\/([^~/]|~[01])+){1,8}$/, 'a pointer such as /user/password')
      .describe('RFC 6901, such as /user/password.'),
    secret: secretName,
  }),
  z
    .strictObject({ where: z.literal('link'), secret: mailName })
    .describe('Opens a sign-in link of a mail, in place of path.'),
])

/** Schema for one request to the entry's own site. */
export const requestTemplate = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: sitePath.optional().describe('Path and query on the site; it can hold no secret.'),
  headers: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= 32, 'at most 32 headers')
    .optional(),
  form: plainFields.optional().describe('Fields that are not secret.'),
  json: z
    .record(form.words(bodyCharactersMax), z.unknown())
    .refine((value) => JSON.stringify(value).length <= bodyCharactersMax, 'too long')
    .optional()
    .describe('Members that are not secret.'),
  inject: z
    .array(injection)
    .min(1)
    .max(8)
    .describe(
      'Secrets: password, previous_password, totp, username, fields.NAME, or mail.HANDLE of a mail.',
    ),
})

/** A template after parsing. */
export type RequestTemplate = z.output<typeof requestTemplate>

/** Position of one secret in a template. */
export type Injection = RequestTemplate['inject'][number]

/** Returns the handles of the mail codes that a template names, each once. */
export function handlesNamed({ inject }: RequestTemplate): string[] {
  const names = inject.flatMap((place) => (place.where === 'basic' ? [] : place.secret))
  return [...new Set(names.flatMap((name) => /^mail\.(.+)$/.exec(name)?.[1] ?? []))]
}

type Body = { type: string; text: string } | { refused: string }

/** Builds an application/x-www-form-urlencoded body: the fields in their order, then the secrets. */
function buildFormBody(
  fields: Readonly<Record<string, string>>,
  secrets: readonly { name: string; value: string }[],
): Body {
  const pairs = [
    ...Object.entries(fields),
    ...secrets.map(({ name, value }): [string, string] => [name, value]),
  ]
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) {
    return { refused: 'The template gives a form field twice.' }
  }
  const text = new URLSearchParams(pairs).toString()
  return { type: 'application/x-www-form-urlencoded', text }
}

/** Builds an application/json body. Missing objects on the way to a member are created. */
function buildJsonBody(
  members: Readonly<Record<string, unknown>>,
  secrets: readonly { pointer: string; value: string }[],
): Body {
  let root: unknown = { ...members }
  for (const { pointer, value } of secrets) {
    // RFC 6901 section 4: ~1 is decoded first, or ~01 would become a slash.
    const names = pointer
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const placed = placedAt(root, names, value)
    if (placed === undefined) {
      return { refused: 'A JSON pointer leads through a list or to something that is there.' }
    }
    root = placed
  }
  return { type: 'application/json', text: JSON.stringify(root) }
}

/** Returns a copy with the value in it. Built from entries, so `__proto__` is a name like any other. */
function placedAt(at: unknown, names: readonly string[], value: string): unknown {
  const [name, ...rest] = names
  if (name === undefined) return at === undefined ? value : undefined
  if (at !== undefined && (at === null || typeof at !== 'object' || Array.isArray(at))) {
    return undefined
  }
  const entries: [string, unknown][] = Object.entries(at ?? {})
  const below = placedAt(entries.find(([other]) => other === name)?.[1], rest, value)
  if (below === undefined) return undefined
  const others = entries.filter(([other]) => other !== name)
  return Object.fromEntries([...others, [name, below]])
}
