/** A visit of the service to a site for an entry: the values that it may fill in, and the pages served. */
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { checkUrl } from '../../egress/safe-fetch.ts'
import type { OutboxMail } from '../../mail/outbox.ts'
import { requireApprovedDestination } from '../destinations/ask.ts'
import {
  type ApprovedDestination,
  type Destination,
  isTooLong,
  sortPositions,
  type ValuePosition,
} from '../destinations/destination.ts'
import type { UsedEntry } from '../inject.ts'
import type { VaultContext } from '../room.ts'
import { redactorFor } from '../scrub.ts'
import type { Browsed } from './browse.ts'
import type { Filled } from './filling.ts'
import type { PageForm } from './page-forms.ts'
import type { StepAnswer } from './port.ts'
import type { Home, Session, SessionState } from './session.ts'
import type { Submission } from './submission.ts'

/** An opened entry and the state of a visit. */
export type Visit = {
  room: VaultContext
  db: CallerDatabase
  home: Home
  used: UsedEntry
  approved: readonly ApprovedDestination[]
  isFirstUse: boolean
  /** True if the calling key stored or drew the password itself. */
  isOwn: boolean
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
  /** Words of the agent in this step: what they contain is shown as it is, so that no mark confirms a guess. */
  said: string
  sent: string[]
  /** True if the last request that no redirect led to carried a secret. */
  isCarrying: boolean
  browsed?: Browsed
  filled: StepAnswer['filled']
}

/** What a step begins with: the caller, the entry, handles of mail codes, and the agent's own words. */
export type Opening = Pick<Visit, 'claim' | 'handles' | 'said'> & {
  credential: string
  entry: string
}

/** Returns a path and fields as a site may repeat them, each on a line. */
export function wordsOf(path = '', fields: Readonly<Record<string, string>> = {}): string {
  return [path, ...Object.entries(fields).flat()].join('\n')
}

/** Returns the address of a page at the entry's own site. */
export function pageAt({ home, room }: Visit, path: string): URL | Refusal<'site_refused'> {
  const url = new URL(path, home.site)
  const checked = checkUrl(url.href, room.world.config)
  if (url.origin !== home.site || 'refused' in checked) return fail('site_refused')
  url.hash = ''
  return url
}

/** Values that a form of a page would carry. */
export type Candidate = { page: string; form: PageForm; filled: readonly Filled[] }

/** Returns the first candidate that the owner approved, or a refusal with the URL where that is done. */
export async function requireApprovedForm(
  { room, db, home, approved, known }: Visit,
  candidates: readonly Candidate[],
): Promise<{ id: string; at: number } | Refusal> {
  const destinations = candidates.map(destinationOf)
  // A site that writes a secret into its own forms has no form that can be shown.
  const isTelling = redactorFor(known)(JSON.stringify(destinations)).removed > 0
  if (isTelling || destinations.some(isTooLong)) {
    const message = 'The field or the address of the form is not fit for its owner to read.'
    return fail('form_refused', { message })
  }
  const approvals = { entry: home.entry, origin: home.site, approved }
  return requireApprovedDestination(room.world, db, approvals, destinations)
}

/** Returns the destination that the owner approves for a form. */
export function destinationOf({ page, form, filled }: Candidate): Destination {
  const standing = filled.map(({ secret, control: { name } }): ValuePosition => {
    const named = secret.startsWith('mail.') ? 'mail' : secret
    return { secret: named, where: 'form_field', name, prefix: '' }
  })
  const path = lastingPath(new URL(form.action))
  return { kind: 'form', page, method: 'POST', path, standing: sortPositions(standing) }
}

/** Returns the path and query of a form without what differs each time, such as the codes of Keycloak. */
function lastingPath({ pathname, searchParams }: URL): string {
  const parts = [...searchParams].map(([name, value]) => {
    return `${encodeURIComponent(name)}=${/^[a-z_./-]{0,40}$/i.test(value) ? value : '*'}`
  })
  const path = pathname.replaceAll(/;[^/]*/g, '')
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

/** True if the site wrote a secret into a field of the form that the agent leaves as it is. */
export function isRefilled(
  { known }: Visit,
  { controls }: PageForm,
  given: Readonly<Record<string, string>>,
): boolean {
  const left = controls.filter(({ name }) => given[name] === undefined)
  return redactorFor(known)(left.map(({ value }) => value).join('\n')).removed > 0
}

/** Function that makes the mail about the first use of a secret at a site. */
export type Notice = (site: string) => Promise<OutboxMail>

/** Records that a form, with these values of the entry, is about to be sent. */
export async function recordUse(
  visit: Visit,
  { url }: Submission,
  notice: Notice,
  { filled, destinations }: { filled: readonly Filled[]; destinations: string[] },
): Promise<void> {
  const { room, db, home, handles, claim, known } = visit
  const { id, step } = visit.session
  const secrets = filled.filter(({ secret }) => secret !== 'username')
  const isTold = secrets.length > 0 && visit.isFirstUse
  await db.run('vault_begin_use', {
    entry: home.entry,
    handles,
    destinations,
    claim,
    // Stored without its query, in which pages pass on what they received.
    request: `POST ${redactorFor(known)(url.pathname).text}`.slice(0, 2048),
    mail: isTold ? await notice(home.site) : null,
    type: secrets.length > 0 ? 'secret_used' : 'session_used',
    session: step > 0 ? id : null,
    goes_on: visit.isBegun,
  })
  visit.isBegun = true
  if (isTold) room.mailSoon()
  // A code in boxes is one secret, not one for each digit.
  visit.sent.push(...secrets.map(({ secret, value }) => visit.used.values.get(secret) ?? value))
}

/** Changes the state of the session. */
export function noteState(visit: Visit, noted: Partial<SessionState>): void {
  visit.session = { ...visit.session, state: { ...visit.session.state, ...noted } }
}
