/**
 * Places: where in which request to an entry's own site a secret may stand. What the agent writes
 * around a secret can make an honest site publish it, so all of that is part of the place, and the
 * owner approves it. A bearer token of an entry that has no user name needs nobody's approval.
 */
import * as z from 'zod'
import { shown } from '../../mail/untrusted.ts'
import type { Injection, RequestTemplate } from '../template.ts'

/** A place as the database tells it. */
export const placeRow = z.object({
  id: z.uuid(),
  /** As a template names it. */
  secret: z.string(),
  where: z.enum(['header', 'basic', 'form_field', 'json_field']),
  /** Of the header in lower case or of the field, or the JSON pointer; empty for basic. */
  name: z.string(),
  prefix: z.string(),
  method: z.string(),
  /** With its query. */
  path: z.string(),
  /** The other fields of the body in which the secret stands, as they are sent. */
  beside: z.string(),
  /** In a header, it is approved for each request to the site; in a body, with any fields beside it. */
  wide: z.boolean(),
})

/** A place that is in the database. */
export type KnownPlace = z.output<typeof placeRow>

/** A place that a request needs. */
export type Place = Omit<KnownPlace, 'id' | 'wide'>

const besideMax = 4_096

/** The places of a template's secrets, or why no owner is asked for them. */
export function placesOf(
  template: RequestTemplate,
  { username }: { username: string },
): Place[] | { refused: string } {
  const places = template.inject.flatMap((injection) => placeOf(template, injection))
  const needed = places.filter((place) => !isReady(place, username))
  return needed.some(({ beside }) => beside.length > besideMax)
    ? { refused: `More than ${besideMax} characters stand beside a secret.` }
    : needed
}

function placeOf(template: RequestTemplate, injection: Injection): Place[] {
  const { method, path = '' } = template
  if (injection.where === 'link' || nameOfSecret(injection) === 'username') return []
  const request = { method, path, secret: nameOfSecret(injection), prefix: '', beside: '' }
  switch (injection.where) {
    case 'basic':
      return [{ ...request, where: 'basic', name: '' }]
    case 'bearer':
      return [{ ...request, where: 'header', name: 'authorization', prefix: 'Bearer ' }]
    case 'header': {
      const { name, prefix = '' } = injection
      return [{ ...request, where: 'header', name: name.toLowerCase(), prefix }]
    }
    case 'form_field':
      return [{ ...request, where: 'form_field', name: injection.name, beside: besideIn(template) }]
    case 'json_field': {
      const beside = besideIn(template)
      return [{ ...request, where: 'json_field', name: injection.pointer, beside }]
    }
  }
}

/** Each mail has other handles, and one place takes the codes of all. */
function nameOfSecret(injection: Exclude<Injection, { where: 'link' }>): string {
  if (injection.where === 'basic') return 'password'
  return injection.secret.startsWith('mail.') ? 'mail' : injection.secret
}

function besideIn({ form = {}, json = {} }: RequestTemplate): string {
  const fields = Object.keys(form).length > 0 ? form : json
  return Object.keys(fields).length > 0 ? JSON.stringify(fields) : ''
}

/** An entry without a user name is an API key, and RFC 6750 says where these stand. */
function isReady({ where, name, prefix }: Place, username: string): boolean {
  return username === '' && where === 'header' && name === 'authorization' && prefix === 'Bearer '
}

/** The approved place that covers this one. */
export function coveringPlace(
  place: Place,
  approved: readonly KnownPlace[],
): KnownPlace | undefined {
  const names = ['secret', 'where', 'name', 'prefix'] as const
  const isInBody = place.where === 'form_field' || place.where === 'json_field'
  return approved.find((known) => {
    const isSameRequest = known.method === place.method && known.path === place.path
    return (
      names.every((name) => known[name] === place[name]) &&
      (isSameRequest || (known.wide && !isInBody)) &&
      (known.beside === place.beside || known.wide)
    )
  })
}

/** The place in words, such as `POST https://a.example/v1/login, field "password" of the form`. */
export function placeWords(origin: string, place: Place): string {
  return `${place.method} ${origin}${place.path}, ${standing(place)}`
}

function standing({ where, name, prefix }: Place): string {
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
