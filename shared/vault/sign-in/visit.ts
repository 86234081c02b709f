/** A visit of the service to a site for an entry: the values that it may fill in, and the pages served. */
import type { Refusal } from '../../contract/errors.ts'
import { fail, isRefusal } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { checkUrl } from '../../egress/safe-fetch.ts'
import type { OutboxMail } from '../../mail/outbox.ts'
import type { UsedEntry } from '../inject.ts'
import { requireApprovedPlace } from '../places/ask.ts'
import {
  type ApprovedPlace,
  isTooLong,
  type SecretPlace,
  sortPositions,
  type ValuePosition,
} from '../places/place.ts'
import type { VaultContext } from '../room.ts'
import { redactorFor } from '../scrub.ts'
import { addSaid, type Beside } from './beside.ts'
import type { Browsed } from './browse.ts'
import type { SecretField } from './fields.ts'
import { knownSecrets, placeWithoutSecrets } from './known.ts'
import type { StepAnswer } from './port.ts'
import type { Home, Session, SessionState } from './session.ts'
import type { Submission } from './submission.ts'

/** An opened entry and the state of a visit. */
export type Visit = {
  room: VaultContext
  db: CallerDatabase
  home: Home
  used: UsedEntry
  approved: readonly ApprovedPlace[]
  isFirstUse: boolean
  /** Handles of the mail codes that may be filled in. */
  handles: string[]
  claim: string | null
  /** True once a use was recorded under the claim. */
  isBegun: boolean
  /** Deadline for the site, in milliseconds of the epoch. */
  endsAt: number
  session: Session
  /** Secrets that the site may know, and values that were sent during the visit. */
  known: readonly string[]
  sent: string[]
  /** True if the last request that no redirect led to carried a secret. */
  isCarrying: boolean
  browsed?: Browsed
  filled: StepAnswer['filled']
}

/** A secret that a form asks for, and the name by which an owner approves it. */
export type FilledSecret = {
  asking: SecretField
  value: string
  named: string
}

/** Secrets that a form carries, and what stands beside them. */
export type FilledForm = { placed: readonly FilledSecret[]; beside: Beside }

/** Returns the address of a page at the entry's own site. */
export function pageAt({ home, room }: Visit, path: string): URL | Refusal<'site_refused'> {
  const url = new URL(path, home.site)
  const checked = checkUrl(url.href, room.world.config)
  if (url.origin !== home.site || 'refused' in checked) return fail('site_refused')
  url.hash = ''
  return url
}

/** Function that makes the mail about the first use of a secret at a site. */
export type Notice = (site: string) => Promise<OutboxMail>

/** Records that a form, with these secrets, is about to be sent; returns a refusal if it must not be. */
export async function recordUse(
  visit: Visit,
  { url }: Submission,
  notice: Notice,
  { placed, beside }: FilledForm,
): Promise<Refusal | undefined> {
  const { room, db, home, approved, handles, claim } = visit
  const { entry, site: origin } = home
  const { id, step } = visit.session
  const path = lastingPath(url)
  const isUnasked = visit.session.state.said.length === 0 && placed.every(isUsual)
  const wanted = isUnasked ? undefined : placeOfForm({ placed, beside }, path)
  const needed = wanted && placeWithoutSecrets(visit, wanted)
  if (needed && isTooLong(needed)) {
    const message = 'The field or the address of the form is not fit for its owner to read.'
    return fail('form_refused', { message })
  }
  const places = await requireApprovedPlace(room.world, db, { entry, origin, approved }, needed)
  if (isRefusal(places)) return places
  const written = redactorFor(knownSecrets(visit))(url.pathname).text
  const isTold = placed.length > 0 && visit.isFirstUse
  await db.run('vault_begin_use', {
    entry,
    handles,
    places,
    claim,
    // Stored without its query, in which pages pass on what they received.
    request: `POST ${written}`.slice(0, 2048),
    mail: isTold ? await notice(origin) : null,
    type: placed.length > 0 ? 'secret_used' : 'session_used',
    session: step > 0 ? id : null,
    goes_on: visit.isBegun,
  })
  visit.isBegun = true
  if (isTold) room.mailSoon()
  visit.sent.push(...placed.map(({ value }) => value))
  return undefined
}

/** Returns the path and query of a form without what differs each time, such as the codes of Keycloak. */
function lastingPath({ pathname, searchParams }: URL): string {
  const parts = [...searchParams].map(([name, value]) => {
    return `${encodeURIComponent(name)}=${/^[a-z_./-]{0,40}$/i.test(value) ? value : '*'}`
  })
  return parts.length === 0 ? pathname : `${pathname}?${parts.join('&')}`
}

function isUsual({ asking }: FilledSecret): boolean {
  return asking.isNamedSo
}

type FormPlace = Omit<SecretPlace, 'beside'> & { beside: Beside }

/** Returns the place to approve, if there are secrets. */
function placeOfForm({ placed, beside }: FilledForm, path: string): FormPlace | undefined {
  if (placed.length === 0) return undefined
  const standing = placed.map(({ asking, named: secret }): ValuePosition => {
    return { secret, where: 'form_field', name: asking.control.name, prefix: '' }
  })
  return {
    kind: 'form',
    method: 'POST',
    path,
    standing: sortPositions(standing),
    beside,
  }
}

/** Remembers what the agent said, which the site may write into its pages. */
export function noteSaid(visit: Visit, texts: readonly string[]): void {
  noteState(visit, { said: addSaid(visit.session.state.said, texts) })
}

/** Changes the state of the session. */
export function noteState(visit: Visit, noted: Partial<SessionState>): void {
  visit.session = { ...visit.session, state: { ...visit.session.state, ...noted } }
}
