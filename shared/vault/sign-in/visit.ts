/** One visit of the service to a site, for an entry: what it may fill in, and what it was served. */
import type { Refusal } from '../../contract/errors.ts'
import { fail, isRefusal } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { checkUrl } from '../../egress/safe-fetch.ts'
import type { SealedMail } from '../../mail/outbox.ts'
import type { UsedEntry } from '../inject.ts'
import { approvedPlace } from '../places/ask.ts'
import { inOrder, isTooLong, type KnownPlace, type Place, type Standing } from '../places/place.ts'
import { isRemovable } from '../removable.ts'
import type { VaultRoom } from '../room.ts'
import type { scrubberFor } from '../scrub.ts'
import { saidWith } from './beside.ts'
import type { Browsed } from './browse.ts'
import type { Cookie } from './cookies.ts'
import type { Asking } from './fields.ts'
import { placeWithoutSecrets, withoutSecrets } from './known.ts'
import type { PasswordOutcome, Stepped } from './port.ts'
import type { Home, Session, SessionState } from './session.ts'
import { withoutSession } from './session-tokens.ts'
import type { Submission } from './submission.ts'

/** How long a code is looked for that is too short to be looked for everywhere: it is used up by then. */
const sentMilliseconds = 15 * 60_000

/** An entry that is opened for a visit, and where the visit stands. */
export type Visit = {
  room: VaultRoom
  db: CallerDatabase
  home: Home
  used: UsedEntry
  approved: readonly KnownPlace[]
  isFirstUse: boolean
  /** Of mails' codes that may be filled in. */
  handles: string[]
  claim: string | null
  scrubberFor: typeof scrubberFor
  /** Something of it was sent under the claim. */
  isBegun: boolean
  /** When the site has to be done with it, in milliseconds of the epoch. */
  endsAt: number
  session: Session
  /** All that the site knows the session by, or did on the way. */
  cookies: Cookie[]
  browsed?: Browsed
  filled: Stepped['filled']
  /** What became of a new password in it. */
  newPassword?: PasswordOutcome
}

/** A secret that a form asks for, and the name by which an owner approves it. */
export type Placed = {
  asking: Asking
  value: string
  named: string
  /** Of the place, where it is more than one field. */
  name?: string
}

/** The secrets that a form carries, and its other fields, with what the agent brought there. */
export type Carried = { placed: readonly Placed[]; beside: Record<string, string | null> }

/** The address of a page at the entry's own site. */
export function pageAt({ home, room }: Visit, path: string): URL | Refusal<'site_refused'> {
  const url = new URL(withoutSession(path), home.site)
  const checked = checkUrl(url.href, room.world.config)
  if (url.origin !== home.site || 'refused' in checked) return fail('site_refused')
  url.hash = ''
  return url
}

/** Makes the mail that tells the owner of the first use of a secret at a site. */
export type Notice = (site: string) => Promise<SealedMail>

/** Books secrets that a form is about to carry, or that a form is sent; nothing where it may not be. */
export async function book(
  visit: Visit,
  { url }: Submission,
  notice: Notice,
  { placed, beside }: Carried,
): Promise<Refusal | undefined> {
  const { room, db, home, approved, handles, claim } = visit
  const { entry, site: origin } = home
  const { id, step } = visit.session
  const path = url.pathname + url.search
  const wanted = placeOf({ placed, beside }, path)
  const needed = wanted && (await placeWithoutSecrets(visit, wanted))
  if (needed && ('withheld' in needed || isTooLong(needed))) {
    const message = 'The field or the address of the form is not fit for its owner to read.'
    return fail('form_refused', { message })
  }
  const places = await approvedPlace(room.world, db, { entry, origin, approved }, needed)
  if (isRefusal(places)) return places
  const [written = '[withheld]'] = await withoutSecrets(visit, [url.pathname])
  const isTold = placed.length > 0 && visit.isFirstUse
  await db.run('vault_begin_use', {
    entry,
    handles,
    places,
    claim,
    // Without its query, in which pages lead on what they were sent.
    request: `POST ${written}`.slice(0, 2048),
    mail: isTold ? await notice(origin) : null,
    type: placed.length > 0 ? 'secret_used' : 'session_used',
    session: step > 0 ? id : null,
    goes_on: visit.isBegun,
  })
  visit.isBegun = true
  if (isTold) room.mailSoon()
  noteSent(visit, placed)
  return undefined
}

/** A form that has only fields which everybody knows needs none. Two fields for the same are one. */
function placeOf({ placed, beside }: Carried, path: string): Place | undefined {
  const isPlain = Object.values(beside).every((value) => value === null)
  if ((isPlain && placed.every(({ asking }) => asking.isNamedSo)) || placed.length === 0) {
    return undefined
  }
  const standing = new Map<string, Standing>()
  for (const { asking, named: secret, name = asking.control.name } of placed) {
    standing.set(`${secret} ${name}`, { secret, where: 'form_field', name, prefix: '' })
  }
  return {
    kind: 'form',
    method: 'POST',
    path,
    standing: inOrder([...standing.values()]),
    beside: Object.keys(beside).length > 0 ? JSON.stringify(beside) : '',
  }
}

/** What the agent says the site may write into its pages. */
export function noteSaid(visit: Visit, texts: readonly string[]): void {
  noteState(visit, { said: saidWith(visit.session.state.said, texts) })
}

/** Changes what is known of the session. */
export function noteState(visit: Visit, noted: Partial<SessionState>): void {
  visit.session = { ...visit.session, state: { ...visit.session.state, ...noted } }
}

/** TOTP codes are known by their moment. */
function noteSent(visit: Visit, placed: readonly Placed[]): void {
  const { state } = visit.session
  const isLost = ({ named, value }: Placed) => named === 'password' && !isRemovable(value)
  const until = visit.room.world.now().getTime() + sentMilliseconds
  const sent = placed.flatMap(({ named, value }) =>
    named === 'totp' ? [] : [{ text: value, until }],
  )
  const isUntold = state.isUntold || placed.some(isLost)
  noteState(visit, { sent: [...state.sent, ...sent], isUntold })
}
