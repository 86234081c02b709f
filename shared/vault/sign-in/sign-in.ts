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
import type { VaultRoom } from '../room.ts'
import { type Scrubber, scrubberFor } from '../scrub.ts'
import { answerOf } from '../use-answer.ts'
import { openedRow, usedEntry } from '../used-entry.ts'
import { besideIn, saidIn } from './beside.ts'
import { type Browsed, browse, type Request, visitMilliseconds } from './browse.ts'
import { changeOf, isFirstStep, passwordField } from './fields.ts'
import { knownFields, placedIn, placedInChange, signsIn, usernameIn } from './fill-in.ts'
import { knownSecrets } from './known.ts'
import { drawnFor, keepAsked, outcomeOfChange, outcomeOfSignIn, settle } from './new-password.ts'
import type { PageForm } from './page-forms.ts'
import type { LoginOrder, SignInPort, StepOrder, Stepped } from './port.ts'
import { leadsToSignIn } from './purpose.ts'
import { type Home, keepSession, newSession, openSession, type Session } from './session.ts'
import { sessionTokens, withoutSession } from './session-tokens.ts'
import { type Filling, submissionOf } from './submission.ts'
import { book, noteSaid, noteState, type Placed, pageAt, type Visit } from './visit.ts'

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
  noteSaid(visit, saidIn(url))
  const { forms } = await ask(visit, { url, method: 'GET' })
  const first = forms.find(passwordField) ? undefined : forms.find(isFirstStep)
  if (first && visit.used.username !== '') {
    const refused = await send(visit, first, knownFields(first, fields))
    if (refused) return refused
  }
  const shown = visit.session.state.forms
  const form = shown.find((one) => signsIn(visit, one)) ?? shown.find(passwordField)
  if (form && visit.used.values.has('password')) {
    const refused = await send(visit, form, knownFields(form, fields), 'password')
    if (refused) return refused
  }
  return endVisit(visit)
}

/** The next page, by its path or by a form of the last one. */
async function goOn(room: VaultRoom, order: StepOrder): Promise<Stepped | Refusal> {
  const { credential, claim, session: id, path, form: at = -1, fields, secret, rules } = order
  const db = bindCredential(room.world.db, credential)
  const kept = await db.one('vault_open_session', { session: id }, sessionRow)
  if (kept === undefined) throw new Error('vault_open_session answered no row')
  const handles = secret?.startsWith('mail.') ? [secret.slice('mail.'.length)] : []
  const asked = { credential, claim, entry: kept.entry, handles }
  const visit = await beginVisit(room, asked, (home) => openSession(room, home, { id, ...kept }))
  if (path !== undefined) {
    const url = pageAt(visit, path)
    if ('refusal' in url) return url
    noteSaid(visit, saidIn(url))
    await ask(visit, { url, method: 'GET' })
    return endVisit(visit)
  }
  const form = visit.session.state.forms[at]
  if (!form)
    return fail('form_refused', { message: 'The page that was served last has no such form.' })
  const isChange = secret === 'new_password' && changeOf(form) !== undefined
  const refused = isChange
    ? await sendChange(visit, form, { fields, rules })
    : await send(visit, form, fields, secret)
  return refused ?? endVisit(visit)
}

type Fields = Readonly<Record<string, string>>

/** Sends a form of the page that was served last; answers only why it is not sent. */
async function send(
  visit: Visit,
  form: PageForm,
  fields: Fields,
  secret?: string,
): Promise<Refusal | undefined> {
  const placed = secret === undefined ? [] : placedIn(visit, form, secret)
  if ('refused' in placed) return fail('form_refused', { message: placed.refused })
  const isSignIn = secret === undefined || secret.endsWith('password')
  const control = isSignIn ? usernameIn(visit, form) : undefined
  const username = control && { control, value: visit.used.username }
  const isFirst = placed.length === 0 && isFirstStep(form) && leadsToSignIn(form)
  const isNext = placed.length > 0 && visit.session.state.isBehindName
  const refused = await submit(visit, form, { fields, username }, placed)
  if (refused) return refused
  noteState(visit, { isBehindName: (isFirst && control !== undefined) || isNext })
  if (control && !visit.filled.includes('username')) visit.filled.push('username')
  if (secret !== undefined) visit.filled.push(isSignIn ? 'password' : 'code')
  const [sent] = placed
  const isOther = secret === 'new_password' || secret === 'previous_password'
  if (isOther && sent) await settleNew(visit, sent.value, outcomeOfSignIn)
  return undefined
}

/** Sends a form that changes the password, with one that is drawn for it and kept before. */
async function sendChange(
  visit: Visit,
  form: PageForm,
  { fields, rules }: { fields: Fields; rules?: string | undefined },
): Promise<Refusal | undefined> {
  const change = changeOf(form)
  if (!change) throw new Error('a form that changes no password was taken for one')
  const drawn = drawnFor(visit, change, rules)
  if ('refused' in drawn) return fail('form_refused', { message: drawn.refused })
  const placed = placedInChange(visit, change, drawn.password)
  if ('refused' in placed) return fail('form_refused', { message: placed.refused })
  const keep = () => keepAsked(visit, drawn.password)
  const refused = await submit(visit, form, { fields }, placed, keep)
  if (refused) return refused
  if (change.current) visit.filled.push('password')
  visit.filled.push('new_password')
  await settleNew(visit, drawn.password, outcomeOfChange)
  return undefined
}

async function settleNew(visit: Visit, password: string, outcomeOf: typeof outcomeOfChange) {
  const outcome = visit.browsed ? outcomeOf(visit.browsed) : 'undecided'
  visit.newPassword = (await settle(visit, password, outcome)) ? 'undecided' : outcome
}

/** Books what the form carries and sends it, once what has to be kept before is kept. */
async function submit(
  visit: Visit,
  form: PageForm,
  given: Pick<Filling, 'fields' | 'username'>,
  placed: readonly Placed[],
  keep?: () => Promise<Refusal | undefined>,
): Promise<Refusal | undefined> {
  const secrets = placed.map(({ asking: { control }, value }) => ({ control, value }))
  const begins = placed.length === 0 && isFirstStep(form)
  const filling = { ...given, secrets, isFirstStep: begins }
  const submission = submissionOf(visit.home.site, form, filling)
  if ('refused' in submission) return fail('form_refused', { message: submission.refused })
  const notice = (site: string) => firstUseMail(visit.room.world, site)
  const isBooked = placed.length > 0 || submission.method === 'POST'
  const filled = [...secrets, given.username ?? []].flat().map(({ control }) => control)
  const carried = { placed, beside: besideIn(form, filled, visit.session.state.said) }
  const refused = isBooked ? await book(visit, submission, notice, carried) : undefined
  const unkept = refused ?? (await keep?.())
  if (unkept) return unkept
  noteSaid(visit, Object.values(given.fields))
  await ask(visit, { ...submission, from: visit.session.state.url })
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
  const known = { room, db, home, used, approved, isFirstUse, handles, claim, endsAt, session }
  return { ...known, scrubberFor, isBegun: false, cookies: [], filled: [] }
}

/** Asks the site, and remembers what it served. */
async function ask(visit: Visit, request: Request): Promise<Browsed> {
  const { cookies } = visit.session.state
  const browsed = await browse(visit.room.world, request, cookies, visit.endsAt)
  const { url, forms } = browsed
  noteState(visit, { cookies: browsed.cookies, url: url.href, forms, isBehindName: false })
  visit.browsed = browsed
  visit.cookies.push(...browsed.allCookies)
  return browsed
}

/** What the agent is shown of the last page, and the session that it goes on with. */
async function endVisit(visit: Visit): Promise<Stepped | Refusal> {
  const { room, db, home, session, browsed, filled, newPassword } = visit
  if (!browsed) throw new Error('a visit ended before anything was asked')
  const shown = withAddress(browsed)
  const tokens = sessionTokens(visit.cookies, textsOf(shown))
  const scrub = session.state.isUntold
    ? untold
    : scrubberFor(knownSecrets(visit), [...tokens, ...visit.used.totpCodes])
  const told = await answerOf(shown, scrub)
  if (isRefusal(told)) return newPassword === undefined ? told : withDoubt(told)
  const expires_at = (await keepSession(room, db, home, session)) ?? null
  const { response, ...beside } = told
  const { cookies: _, headers, ...page } = response
  const { 'content-location': url, ...others } = headers
  const at = url === undefined ? {} : { url }
  const served = { ...page, ...at, headers: others }
  const changed = newPassword === undefined ? {} : { new_password: newPassword }
  return { session: session.id, expires_at, filled, ...changed, response: served, ...beside }
}

function withDoubt(told: Refusal<'site_unavailable'>): Refusal {
  const hint = 'Sign in; where the old password fails, send the form with new_password.'
  const message = `${told.message} Nobody knows yet whether it took the new password.`
  return { ...told, message, hint }
}

const untold: Scrubber = () => Promise.resolve({ withheld: 'short_secret' })

/** The address is scrubbed with the headers (RFC 9110 section 8.7); cookies stay here. */
function withAddress({ fetched, url }: Browsed): Browsed['fetched'] {
  if (fetched.kind !== 'answered' && fetched.kind !== 'redirected') return fetched
  const headers = new Headers(fetched.headers)
  headers.delete('set-cookie')
  headers.set('content-location', withoutSession(url.href))
  const location = headers.get('location')
  if (location !== null) headers.set('location', withoutSession(location))
  return { ...fetched, headers }
}

/** The parts of an answer in which addresses stand. */
function textsOf(fetched: Browsed['fetched']): string[] {
  if (fetched.kind !== 'answered' && fetched.kind !== 'redirected') return []
  const body = fetched.kind === 'answered' ? new TextDecoder('latin1').decode(fetched.body) : ''
  return [body, ...fetched.headers.values()]
}
