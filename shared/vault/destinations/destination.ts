/**
 * Destinations at an entry's own site in which its values may stand: method, path, and the headers, form fields or
 * JSON members that take them. The owner approves each once. A bearer token of an entry without a user name
 * needs no approval, nor does what the calling key stored itself.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { shortVisible } from '../../text/untrusted.ts'
import type { World } from '../../world.ts'
import type { Injection, RequestTemplate } from '../inject.ts'
import { normalUrl } from './path.ts'

const valuePositionSchema = z.object({
  /** Name of the value as in a template; `mail` for the code of any mail. */
  secret: z.string(),
  where: z.enum(['header', 'basic', 'form_field', 'json_field']),
  /** Name of the header in lower case or of the field, or the JSON pointer; empty for basic. */
  name: z.string(),
  prefix: z.string(),
})

/** Position of one value of the entry in a request. */
export type ValuePosition = z.output<typeof valuePositionSchema>

/** Schema of a destination as the database returns it. */
export const destinationRow = z.object({
  id: z.uuid(),
  /** Kind of request: a form that the site serves, or a request that the agent writes. */
  kind: z.enum(['form', 'request']),
  /** Path and query of the page with the form; empty for a request. */
  page: z.string(),
  /** Positions of the values, in the order of `sortPositions`. */
  standing: z.array(valuePositionSchema).min(1),
  method: z.string(),
  /** Path in its normal form, with its query. */
  path: z.string(),
  /** True if approved for every request to the site; only for values in headers. */
  wide: z.boolean(),
})

/** A destination that the owner approved, as the database returns it. */
export type ApprovedDestination = z.output<typeof destinationRow>

/** A destination that a request needs. */
export type Destination = Omit<ApprovedDestination, 'id' | 'wide'>

const pathMax = 2_048

/** Returns the destination that a request needs, if any, or a sentence that says why no owner is asked for it. */
export function destinationNeededBy(
  template: RequestTemplate,
  url: URL,
  { username, is_own: isOwn }: { username: string; is_own: boolean },
): Destination | { refused: string } | undefined {
  const standing = sortPositions(template.inject.flatMap(positionsOf))
  if (isOwn && standing.every(({ secret }) => secret !== 'mail')) return undefined
  if (standing.every((one) => isBearerToken(one, username))) return undefined
  const { pathname, search } = normalUrl(url)
  const destination: Destination = {
    kind: 'request',
    page: '',
    standing,
    method: template.method,
    path: pathname + search,
  }
  return isTooLong(destination)
    ? { refused: 'The path or the name of a field is too long to approve.' }
    : destination
}

/** True if a destination is too long for an owner to read whole; sites choose the names and paths of forms. */
export function isTooLong({ standing, page, path }: Destination): boolean {
  const isLong = standing.some(({ name }) => name.length > 512 || name.includes('\0'))
  return isLong || page.length > pathMax || path.length > pathMax
}

/** Sorts values into one order that does not depend on who wrote them. */
export function sortPositions(standing: readonly ValuePosition[]): ValuePosition[] {
  const key = ({ secret, where, name, prefix }: ValuePosition) =>
    JSON.stringify([where, name, secret, prefix])
  return standing.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
}

function positionsOf(injection: Injection): ValuePosition[] {
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

/** Names every code of a mail `mail`: handles differ from mail to mail, and one destination serves them all. */
function nameOfValue(injection: Exclude<Injection, { where: 'link' }>): string {
  if (injection.where === 'basic') return 'password'
  return injection.secret.startsWith('mail.') ? 'mail' : injection.secret
}

function isInBody({ where }: ValuePosition): boolean {
  return where === 'form_field' || where === 'json_field'
}

/** True for a bearer token of an entry without a user name: an API key, used as RFC 6750 says. */
function isBearerToken({ where, name, prefix }: ValuePosition, username: string): boolean {
  return username === '' && where === 'header' && name === 'authorization' && prefix === 'Bearer '
}

/** Returns the approved destination that covers this one. */
function coveringDestination(
  destination: Destination,
  approved: readonly ApprovedDestination[],
): ApprovedDestination | undefined {
  const values = (of: Destination) => JSON.stringify(sortPositions(of.standing).map(partsOf))
  return approved.find((known) => {
    const isSameRequest = known.method === destination.method && known.path === destination.path
    return (
      known.kind === destination.kind &&
      known.page === destination.page &&
      values(known) === values(destination) &&
      (isSameRequest || (known.wide && !hasValueInBody(destination)))
    )
  })
}

/** True if a value stands in the body, where a path says what is done with it. */
export function hasValueInBody({ standing }: Pick<Destination, 'standing'>): boolean {
  return standing.some(isInBody)
}

/** Lists the members in a fixed order, since the database returns those of an object in its own order. */
function partsOf({ secret, where, name, prefix }: ValuePosition): string[] {
  return [secret, where, name, prefix]
}

/** Describes a destination: `POST https://a.example/v1/login, field "password" of the form`. */
export function describeDestination(
  origin: string,
  { kind, method, page, path, standing }: Destination,
): string {
  const [only, ...others] = standing.map(describePosition)
  const values =
    others.length === 0
      ? only
      : standing.map((one) => `${one.secret} as ${describePosition(one)}`).join('; ')
  const anyPage = kind === 'form' ? `On any page of ${origin}: ` : ''
  const from = page === '' ? anyPage : `On ${origin}${page}: `
  const varying = kind === 'form' && path.includes('=*') ? ' (* is any value)' : ''
  return `${from}${method} ${origin}${path}${varying}, ${values}`
}

function describePosition({ where, name, prefix }: ValuePosition): string {
  const quoted = JSON.stringify(shortVisible(name))
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

const askedRow = z.object({ destination: z.uuid() })

type EntryApprovals = { entry: string; origin: string; approved: readonly ApprovedDestination[] }

/** The approved destination, and its position among those that would do. */
type Found = { id: string; at: number }

/** Returns the first destination that is approved, or asks the owner for all and returns a refusal with the URL. */
export async function requireApprovedDestination(
  world: Pick<World, 'config'>,
  db: CallerDatabase,
  { entry, origin, approved }: EntryApprovals,
  wanted: readonly Destination[],
): Promise<Found | Refusal<'destination_not_approved'>> {
  for (const [at, destination] of wanted.entries()) {
    const covering = coveringDestination(destination, approved)
    if (covering) return { id: covering.id, at }
  }
  const ids: string[] = []
  for (const asked of wanted) {
    const row = await db.one('vault_ask_destination', { entry, asked }, askedRow)
    if (!row) throw new Error('vault_ask_destination answered no row')
    ids.push(row.destination)
  }
  const named = ids.length === 1 ? `/${ids[0]}` : ''
  return fail('destination_not_approved', {
    hint: 'Give your user approval_url, wait, and repeat the call.',
    // The path and the fields of a form are the site's words, so they are marked as untrusted.
    details: {
      approval_url: `${world.config.WEB_URL}/vault/${entry}/destinations${named}`,
      untrusted: {
        destinations: wanted.map((destination) => describeDestination(origin, destination)),
      },
    },
  })
}
