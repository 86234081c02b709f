/** One visit of the service to a site, for an entry: what it may fill in, and what it was served. */
import type { Refusal } from '../../contract/errors.ts'
import { fail, isRefusal } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { checkUrl } from '../../egress/safe-fetch.ts'
import type { SealedMail } from '../../mail/outbox.ts'
import type { UsedEntry } from '../inject.ts'
import { approvedPlaces } from '../places/ask.ts'
import type { Place } from '../places/place.ts'
import { isRemovable } from '../removable.ts'
import type { VaultRoom } from '../room.ts'
import type { Browsed } from './browse.ts'
import type { Cookie } from './cookies.ts'
import type { Asking } from './fields.ts'
import type { PasswordOutcome, Stepped } from './port.ts'
import type { Home, Session } from './session.ts'
import { withoutSession } from './session-tokens.ts'
import type { Submission } from './submission.ts'

/** An entry that is opened for a visit, and where the visit stands. */
export type Visit = {
  room: VaultRoom
  db: CallerDatabase
  home: Home
  used: UsedEntry
  approved: Parameters<typeof approvedPlaces>[2]['approved']
  isFirstUse: boolean
  /** Of mails' codes that may be filled in. */
  handles: string[]
  claim: string | null
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
  placed: readonly Placed[],
): Promise<Refusal | undefined> {
  const { room, db, home, approved, handles, claim } = visit
  const { entry, site: origin } = home
  const path = url.pathname + url.search
  const needed = placed.flatMap((one) => placeOf(one, path))
  if (!needed.every(canBeKept)) {
    const message = 'The field or the address of the form is too long for its owner to read.'
    return fail('form_refused', { message })
  }
  const places = await approvedPlaces(room.world, db, { entry, origin, approved }, needed)
  if (isRefusal(places)) return places
  const isTold = placed.length > 0 && visit.isFirstUse
  await db.run('vault_begin_use', {
    entry,
    handles,
    places,
    claim,
    request: `POST ${path}`.slice(0, 2048),
    mail: isTold ? await notice(origin) : null,
    type: placed.length > 0 ? 'secret_used' : 'session_used',
  })
  if (isTold) room.mailSoon()
  noteSent(visit, placed)
  return undefined
}

/** A second field for the same is part of the place of the first. */
function placeOf({ asking, named, name }: Placed, path: string): Place[] {
  if (asking.isNamedSo) return []
  const field = name ?? asking.control.name
  const request = { method: 'POST', path, prefix: '', beside: '' }
  return [{ ...request, secret: named, where: 'form_field', name: field }]
}

function noteSent(visit: Visit, placed: readonly Placed[]): void {
  const { session } = visit
  const { state } = session
  const isLost = ({ named, value }: Placed) => named === 'password' && !isRemovable(value)
  const sent = [...new Set([...state.sent, ...placed.map(({ value }) => value)])]
  const isUntold = state.isUntold || placed.some(isLost)
  visit.session = { ...session, state: { ...state, sent, isUntold } }
}

/** A page writes names and addresses of any length and signs. */
function canBeKept({ name, path }: { name: string; path: string }): boolean {
  return name.length <= 512 && !name.includes('\0') && path.length <= 2048
}
