/**
 * Places: whole requests to an entry's own site in which its values may stand. What the agent writes
 * around a secret can make an honest site publish it, so all of that is part of the place, and the
 * owner approves it. A bearer token of an entry that has no user name needs nobody's approval.
 */
import * as z from 'zod'
import { shown } from '../../mail/untrusted.ts'
import type { Injection, RequestTemplate } from '../template.ts'
import { normalUrl } from './path.ts'

const standingSchema = z.object({
  /** As a template names it; `mail` for the code of any mail. */
  secret: z.string(),
  where: z.enum(['header', 'basic', 'form_field', 'json_field']),
  /** Of the header in lower case or of the field, or the JSON pointer; empty for basic. */
  name: z.string(),
  prefix: z.string(),
})

/** Where one value of the entry stands. */
export type Standing = z.output<typeof standingSchema>

/** A place as the database tells it. */
export const placeRow = z.object({
  id: z.uuid(),
  /** A form that the site serves, or a request that the agent writes. */
  kind: z.enum(['form', 'request']),
  /** In one order. */
  standing: z.array(standingSchema).min(1),
  method: z.string(),
  /** In its normal form, with its query. */
  path: z.string(),
  /** The other fields of the body in which a value stands, as they are sent. */
  beside: z.string(),
  /** With values in headers alone, it is approved for each request to the site; else with any fields beside. */
  wide: z.boolean(),
})

/** A place that is in the database. */
export type KnownPlace = z.output<typeof placeRow>

/** A place that a request needs. */
export type Place = Omit<KnownPlace, 'id' | 'wide'>

const besideMax = 4_096
const pathMax = 2_048

/** The place that a template's request to this address needs, if any, or why no owner is asked for it. */
export function placeOf(
  template: RequestTemplate,
  url: URL,
  { username }: { username: string },
): Place | { refused: string } | undefined {
  const standing = inOrder(template.inject.flatMap(standingOf))
  if (standing.every((one) => isReady(one, username))) return undefined
  const { pathname, search } = normalUrl(url)
  const beside = standing.some(isInBody) ? besideIn(template) : ''
  const place: Place = {
    kind: 'request',
    standing,
    method: template.method,
    path: pathname + search,
    beside,
  }
  return isTooLong(place)
    ? { refused: 'What stands beside a secret is too long to approve.' }
    : place
}

/** A form writes names and addresses of any length and signs, and nobody approves what is not read whole. */
export function isTooLong({ standing, path, beside }: Place): boolean {
  const isLong = standing.some(({ name }) => name.length > 512 || name.includes('\0'))
  return isLong || path.length > pathMax || beside.length > besideMax || beside.includes('\0')
}

/** One order for the same values, whoever wrote them. */
export function inOrder(standing: readonly Standing[]): Standing[] {
  const key = ({ secret, where, name, prefix }: Standing) =>
    JSON.stringify([where, name, secret, prefix])
  return standing.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
}

function standingOf(injection: Injection): Standing[] {
  if (injection.where === 'link') return []
  const value = { secret: nameOfValue(injection), prefix: '' }
  switch (injection.where) {
    case 'basic':
      return [{ ...value, where: 'basic', name: '' }]
    case 'bearer':
      return [{ ...value, where: 'header', name: 'authorization', prefix: 'Bearer ' }]
    case 'header': {
      const { name, prefix = '' } = injection
      return [{ ...value, where: 'header', name: name.toLowerCase(), prefix }]
    }
    case 'form_field':
      return [{ ...value, where: 'form_field', name: injection.name }]
    case 'json_field':
      return [{ ...value, where: 'json_field', name: injection.pointer }]
  }
}

/** Each mail has other handles, and one place takes the codes of all. */
function nameOfValue(injection: Exclude<Injection, { where: 'link' }>): string {
  if (injection.where === 'basic') return 'password'
  return injection.secret.startsWith('mail.') ? 'mail' : injection.secret
}

function besideIn({ form = {}, json = {} }: RequestTemplate): string {
  const fields = Object.keys(form).length > 0 ? form : json
  return Object.keys(fields).length > 0 ? JSON.stringify(fields) : ''
}

function isInBody({ where }: Standing): boolean {
  return where === 'form_field' || where === 'json_field'
}

/** An entry without a user name is an API key, and RFC 6750 says where these stand. */
function isReady({ where, name, prefix }: Standing, username: string): boolean {
  return username === '' && where === 'header' && name === 'authorization' && prefix === 'Bearer '
}

/** The approved place that covers this one. */
export function coveringPlace(
  place: Place,
  approved: readonly KnownPlace[],
): KnownPlace | undefined {
  const values = (of: Place) => JSON.stringify(inOrder(of.standing).map(partsOf))
  return approved.find((known) => {
    const isSameRequest = known.method === place.method && known.path === place.path
    return (
      known.kind === place.kind &&
      values(known) === values(place) &&
      (isSameRequest || (known.wide && !isOfBody(place))) &&
      (known.beside === place.beside || known.wide)
    )
  })
}

/** Whether a value stands in the body, where the fields beside it can say what is done with it. */
export function isOfBody({ standing }: Pick<Place, 'standing'>): boolean {
  return standing.some(isInBody)
}

/** The database gives the members of an object in an order of its own. */
function partsOf({ secret, where, name, prefix }: Standing): string[] {
  return [secret, where, name, prefix]
}

/** The place in words, such as `POST https://a.example/v1/login, field "password" of the form`. */
export function placeWords(origin: string, { method, path, standing }: Place): string {
  const [only, ...others] = standing.map(standingWords)
  const values =
    others.length === 0
      ? only
      : standing.map((one) => `${one.secret} as ${standingWords(one)}`).join('; ')
  return `${method} ${origin}${path}, ${values}`
}

function standingWords({ where, name, prefix }: Standing): string {
  const quoted = JSON.stringify(shown(name))
  switch (where) {
    case 'basic':
      return 'Basic authentication with the user name'
    case 'header':
      return prefix === '' ? `header ${name}` : `header ${name} after ${JSON.stringify(prefix)}`
    case 'form_field':
      return `field ${quoted} of the form`
    case 'json_field':
      return `member ${quoted} of the JSON body`
  }
}
