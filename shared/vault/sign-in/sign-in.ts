/**
 * Signs in to sites as a browser does: the service fetches the page, finds the form, fills in what it
 * asks for and sends it where the page says. The agent names the page and gives ordinary fields. What
 * the site does with the password then is its own affair; what it answers is shown without it.
 */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail, isRefusal } from '../../contract/errors.ts'
import { bindCredential } from '../../db/database.ts'
import { answering } from '../answering.ts'
import { firstUseMail } from '../first-use.ts'
import { isRemovable } from '../removable.ts'
import type { VaultRoom } from '../room.ts'
import { type Scrubber, scrubberFor } from '../scrub.ts'
import { answerOf } from '../use-answer.ts'
import { openedRow, usedEntry } from '../used-entry.ts'
import { type Browsed, browse, type Request, visitMilliseconds } from './browse.ts'
import { isFirstStep, passwordField } from './fields.ts'
import { knownFields, placedIn, usernameIn } from './fill-in.ts'
import type { PageForm } from './page-forms.ts'
import type { LoginOrder, SignInPort, StepOrder, Stepped } from './port.ts'
import { type Home, keepSession, newSession, openSession, type Session } from './session.ts'
import { type Filling, submissionOf } from './submission.ts'
import { book, pageAt, type Visit } from './visit.ts'

const sessionRow = z.object({ entry: z.uuid(), step: z.int(), sealed: z.unknown() })

/** The part of the vault that signs in. */
export function openSignIn(room: VaultRoom): SignInPort {
  return {
    login: (order) => answering(() => login(room, order)),
    goOn: (order) => answering(() => goOn(room, order)),
  }
}

/** Opens the page and does what it asks for: the user name, then the password, on one page or two. */
async function login(room: VaultRoom, order: LoginOrder): Promise<Stepped | Refusal> {
  const { credential, claim, credentialId: entry, path, fields } = order
  const asked = { credential, claim, entry, handles: [] }
  const visit = await beginVisit(room, asked, () => newSession(room.world.newId()))
  const url = pageAt(visit, path)
  if ('refusal' in url) return url
  const { forms } = await ask(visit, { url, method: 'GET' })
  const first = forms.find(passwordField) ? undefined : forms.find(isFirstStep)
  if (first && visit.used.username !== '') {
    const refused = await send(visit, first, knownFields(first, fields))
    if (refused) return refused
  }
  const form = visit.session.state.forms.find(passwordField)
  if (form && visit.used.values.has('password')) {
    const refused = await send(visit, form, knownFields(form, fields), 'password')
    if (refused) return refused
  }
  return endVisit(visit)
}

/** The next page, by its path or by a form of the last one. */
async function goOn(room: VaultRoom, order: StepOrder): Promise<Stepped | Refusal> {
  const { credential, claim, session: id, path, form: at = -1, fields, secret } = order
  const db = bindCredential(room.world.db, credential)
  const kept = await db.one('vault_open_session', { session: id }, sessionRow)
  if (kept === undefined) throw new Error('vault_open_session answered no row')
  const handles = secret?.startsWith('mail.') ? [secret.slice('mail.'.length)] : []
  const asked = { credential, claim, entry: kept.entry, handles }
  const visit = await beginVisit(room, asked, (home) => openSession(room, home, { id, ...kept }))
  if (path !== undefined) {
    const url = pageAt(visit, path)
    if ('refusal' in url) return url
    await ask(visit, { url, method: 'GET' })
    return endVisit(visit)
  }
  const form = visit.session.state.forms[at]
  if (!form)
    return fail('form_refused', { message: 'The page that was served last has no such form.' })
  return (await send(visit, form, fields, secret)) ?? endVisit(visit)
}

/** Sends a form of the page that was served last; answers only why it is not sent. */
async function send(
  visit: Visit,
  form: PageForm,
  fields: Readonly<Record<string, string>>,
  secret?: string,
): Promise<Refusal | undefined> {
  const placed = secret === undefined ? undefined : placedIn(visit, form, secret)
  if (placed && 'refused' in placed) return fail('form_refused', { message: placed.refused })
  const control =
    secret === undefined || secret === 'password' ? usernameIn(visit, form) : undefined
  const filling: Filling = {
    fields,
    username: control && { control, value: visit.used.username },
    secret: placed && { control: placed.asking.control, value: placed.value },
  }
  const submission = submissionOf(visit.home.site, form, filling)
  if ('refused' in submission) return fail('form_refused', { message: submission.refused })
  const notice = (site: string) => firstUseMail(visit.room.world, site)
  const isBooked = placed !== undefined || submission.method === 'POST'
  const refused = isBooked ? await book(visit, submission, notice, placed) : undefined
  if (refused) return refused
  await ask(visit, { ...submission, from: visit.session.state.url })
  if (control && !visit.filled.includes('username')) visit.filled.push('username')
  if (placed) visit.filled.push(secret === 'password' ? 'password' : 'code')
  return undefined
}

type Order = { credential: string; claim: string | null; entry: string; handles: string[] }

/** Opens the entry; the session is given once the place that opens it is known. */
async function beginVisit(
  room: VaultRoom,
  { credential, claim, entry, handles }: Order,
  sessionIn: (home: Home) => Session,
): Promise<Visit> {
  const db = bindCredential(room.world.db, credential)
  const opened = await db.one('vault_open_use', { entry, handles }, openedRow)
  if (opened === undefined) throw new Error('vault_open_use answered no row')
  const { of_account: account, wrap, site, places: approved, is_first: isFirstUse } = opened
  const home = { account, wrap, entry, site }
  const used = usedEntry(room, entry, opened)
  const session = sessionIn(home)
  const endsAt = room.world.now().getTime() + visitMilliseconds
  const asked = { handles, claim, endsAt }
  return { room, db, home, used, approved, isFirstUse, ...asked, session, filled: [] }
}

/** Asks the site, and remembers what it served. */
async function ask(visit: Visit, request: Request): Promise<Browsed> {
  const { cookies } = visit.session.state
  const browsed = await browse(visit.room.world, request, cookies, visit.endsAt)
  const { url, forms } = browsed
  const state = { ...visit.session.state, cookies: browsed.cookies, url: url.href, forms }
  visit.session = { ...visit.session, state }
  visit.browsed = browsed
  return browsed
}

/** What the agent is shown of the last page, and the session that it goes on with. */
async function endVisit(visit: Visit): Promise<Stepped | Refusal> {
  const { room, db, home, used, session, browsed, filled } = visit
  if (!browsed) throw new Error('a visit ended before anything was asked')
  const { sent, isUntold } = session.state
  const secrets = new Set([...sent, ...[...used.values.values()].filter(isRemovable)])
  const scrub = isUntold ? untold : scrubberFor([...secrets])
  const told = await answerOf(withAddress(browsed), scrub)
  if (isRefusal(told)) return told
  const expires_at = (await keepSession(room, db, home, session)) ?? null
  const { response, ...beside } = told
  const { cookies: _, headers, ...page } = response
  const { 'content-location': url, ...others } = headers
  const at = url === undefined ? {} : { url }
  const served = { ...page, ...at, headers: others }
  return { session: session.id, expires_at, filled, response: served, ...beside }
}

const untold: Scrubber = () => Promise.resolve({ withheld: 'short_secret' })

/** The address is scrubbed with the headers (RFC 9110 section 8.7); cookies stay here. */
function withAddress({ fetched, url }: Browsed): Browsed['fetched'] {
  if (fetched.kind !== 'answered' && fetched.kind !== 'redirected') return fetched
  const headers = new Headers(fetched.headers)
  headers.delete('set-cookie')
  headers.set('content-location', url.href)
  return { ...fetched, headers }
}
