/**
 * Signs in to sites as a browser does: the service fetches the page, finds the form, fills it in and sends
 * it where the page says. A password that the owner entered goes only into the field of a page that the owner
 * approved, in a session that begins at that page, so an agent has no words in it. A code goes into the form
 * that answers the sign-in. How the site treats them is up to the site; its answer is not shown.
 */
import * as z from 'zod'
import { fail, isRefusal, type Refusal } from '../../contract/errors.ts'
import { bindCredential } from '../../db/database.ts'
import { catchRefusal } from '../answering.ts'
import { linkAddress, linkSecrets } from '../entries/link.ts'
import { otherTexts } from '../inject.ts'
import type { VaultContext } from '../room.ts'
import { firstUseMail, openedRow, usedEntry } from '../use.ts'
import { codeFieldsIn, loginFormsIn, nameFormIn, type PageForm } from './forms.ts'
import type { LoginOrder, SignInPort, StepAnswer, StepOrder } from './port.ts'
import { endVisit } from './served-page.ts'
import { type Home, newSession, openSession, type Session, storeSession } from './session.ts'
import {
  type Filled,
  filledBy,
  knownIn,
  loginIn,
  ownLogin,
  submissionOf,
  unfilled,
} from './submission.ts'
import {
  type Browsed,
  browse,
  isRefilled,
  noteState,
  type Opening,
  pageAt,
  type Request,
  recordUse,
  requireApprovedForm,
  type Visit,
  visitMilliseconds,
  wordsOf,
} from './visit.ts'

const sessionRow = z.object({ entry: z.uuid(), step: z.int(), sealed: z.unknown() })

/** Returns the operations of the vault that sign in. */
export function openSignIn(context: VaultContext): SignInPort {
  return {
    login: (order) => catchRefusal(() => login(context, order)),
    goOn: (order) => catchRefusal(() => advance(context, order)),
  }
}

const ending = {
  fetchPage,
  store: ({ room, db, home, session }: Visit) => storeSession(room, db, home, session),
}

/** Opens the page and sends the user name and then the password, on one page or two. */
async function login(context: VaultContext, order: LoginOrder): Promise<StepAnswer | Refusal> {
  const { credential, claim, credentialId: entry, path, fields } = order
  const asked = { credential, claim, entry, handles: [], said: wordsOf(path, fields) }
  const visit = await beginVisit(context, asked, () => newSession(context.world.newId()))
  const url = pageAt(visit, path)
  if ('refusal' in url) return url
  await fetchPage(visit, { url, method: 'GET' })
  const refused = (await sendName(visit, fields)) ?? (await sendPassword(visit, url, fields))
  return refused ?? endVisit(visit, ending)
}

type Fields = Readonly<Record<string, string>>

/** Sends the user name, if the page asks for it alone; returns a refusal if there is nothing to fill in. */
async function sendName(visit: Visit, fields: Fields): Promise<Refusal | undefined> {
  const { used, session, home } = visit
  if (loginFormsIn(session.state.forms, home.site).length > 0) return undefined
  const found = nameFormIn(session.state.forms, home.site)
  if (!found || used.username === '') return fail('form_refused', { message: unfilled.noForm })
  const { form, username: control } = found
  const filled = [{ secret: 'username', control, value: used.username }]
  return submitForm(visit, form, { fields, filled, isSignIn: true })
}

/** Sends the password into the field that the owner approved or, if the key made it, into the first. */
async function sendPassword(
  visit: Visit,
  { pathname, search }: URL,
  fields: Fields,
): Promise<Refusal | undefined> {
  const { used, session, home, isOwn } = visit
  const found = loginFormsIn(session.state.forms, home.site)
  if (found.length === 0) return undefined
  if (!used.values.has('password')) return fail('form_refused', { message: unfilled.noPassword })
  const page = pathname + search
  const candidates = found.map((one) => ({
    page,
    form: one.form,
    filled: isOwn ? ownLogin(used, one) : loginIn(used, one),
  }))
  const approved = isOwn ? undefined : await requireApprovedForm(visit, candidates)
  if (approved && isRefusal(approved)) return approved
  const chosen = candidates[approved?.at ?? 0]
  if (!chosen) throw new Error('an approved destination is no candidate')
  const { form, filled } = chosen
  const destinations = approved ? [approved.id] : []
  return submitForm(visit, form, { fields, filled, destinations, isSignIn: true })
}

/** Opens the next page, by its path or by a form of the last one. */
async function advance(context: VaultContext, order: StepOrder): Promise<StepAnswer | Refusal> {
  const { credential, claim, session: id, path, form: at, fields, secret } = order
  const db = bindCredential(context.world.db, credential)
  const kept = await db.one('vault_open_session', { session: id }, sessionRow)
  if (kept === undefined) throw new Error('vault_open_session answered no row')
  const handles = secret?.startsWith('mail.') ? [secret.slice('mail.'.length)] : []
  const asked = { credential, claim, entry: kept.entry, handles, said: wordsOf(path, fields) }
  const visit = await beginVisit(context, asked, (home) =>
    openSession(context, home, { id, ...kept }),
  )
  if (path !== undefined) {
    const url = pageAt(visit, path)
    if ('refusal' in url) return url
    await fetchPage(visit, { url, method: 'GET' })
    return endVisit(visit, ending)
  }
  const link = secret === undefined ? undefined : visit.used.links.get(secret)
  const refused =
    link === undefined
      ? await sendStep(visit, { at, fields, secret })
      : await openMailedLink(visit, link)
  return refused ?? endVisit(visit, ending)
}

type Step = { at: number | undefined; fields: Fields; secret: string | undefined }

/** Sends a form of the last served page, or the one that asks for the secret. */
async function sendStep(visit: Visit, { at, fields, secret }: Step): Promise<Refusal | undefined> {
  const { used, session, isOwn } = visit
  const { forms, isAnswer } = session.state
  const fill = (form: PageForm) => (secret === undefined ? [] : filledBy(used, form, secret))
  const form = at === undefined ? forms.find((one) => fill(one).length > 0) : forms[at]
  if (!form) return fail('form_refused', { message: unfilled.noSuchForm })
  if (secret === undefined) return submitForm(visit, form, { fields, filled: [], isSignIn: false })
  const isPassword = secret === 'password'
  if (isPassword && !isOwn) return fail('form_refused', { message: unfilled.ownersPassword })
  const filled = fill(form)
  if (filled.length === 0) return fail('form_refused', { message: unfilled.noField })
  const isUnasked = isPassword || (isAnswer && codeFieldsIn(form)?.isMarked === true)
  const candidate = { page: '', form, filled }
  const approved = isUnasked ? undefined : await requireApprovedForm(visit, [candidate])
  if (approved && isRefusal(approved)) return approved
  const destinations = approved ? [approved.id] : []
  return submitForm(visit, form, { fields, filled, destinations, isSignIn: !isPassword })
}

/** Records the use of a sign-in link and opens it; returns a refusal if it leads away from the site. */
async function openMailedLink(visit: Visit, link: string): Promise<Refusal | undefined> {
  const { db, home, room, session, handles, claim, isFirstUse } = visit
  const url = linkAddress(link, home.site)
  if ('refused' in url) return fail('form_refused', { message: url.refused })
  await db.run('vault_begin_use', {
    entry: home.entry,
    handles,
    destinations: [],
    claim,
    request: 'GET a sign-in link',
    mail: isFirstUse ? await firstUseMail(room.world, home.site) : null,
    session: session.id,
  })
  if (isFirstUse) room.mailSoon()
  visit.sent.push(...linkSecrets(link))
  await fetchCarrying(visit, { url, method: 'GET' })
  return undefined
}

type Sending = {
  fields: Fields
  filled: readonly Filled[]
  destinations?: string[]
  isSignIn: boolean
}

/** Records the use and then sends a form; returns a refusal if it is not sent. */
async function submitForm(
  visit: Visit,
  form: PageForm,
  { fields, filled, destinations = [], isSignIn }: Sending,
): Promise<Refusal | undefined> {
  // A sign-in on two pages gives the same fields to both.
  const given = isSignIn ? knownIn(form, fields) : fields
  const filling = { fields: given, own: filled, isSignIn }
  const submission = submissionOf(visit.home.site, form, filling)
  if ('refused' in submission) return fail('form_refused', { message: submission.refused })
  const notice = (site: string) => firstUseMail(visit.room.world, site)
  const use = { filled, destinations }
  if (submission.method === 'POST') await recordUse(visit, submission, notice, use)
  const hasSecret = filled.some(({ secret }) => secret !== 'username')
  const isCarrying = hasSecret || isRefilled(visit, form, given)
  const fetchNext = isCarrying ? fetchCarrying : fetchPage
  await fetchNext(visit, { ...submission, from: visit.session.state.url })
  noteState(visit, { isAnswer: hasSecret })
  for (const { secret } of filled) noteFilled(visit, secret)
  return undefined
}

function noteFilled({ filled }: Visit, secret: string): void {
  const name = secret === 'username' || secret === 'password' ? secret : 'code'
  if (!filled.includes(name)) filled.push(name)
}

/** Opens the entry; `sessionIn` gives the session once the account and its key are known. */
async function beginVisit(
  room: VaultContext,
  { credential, claim, entry, handles, said }: Opening,
  sessionIn: (home: Home) => Session,
): Promise<Visit> {
  const db = bindCredential(room.world.db, credential)
  const opened = await db.one('vault_open_use', { entry, handles }, openedRow)
  if (opened === undefined) throw new Error('vault_open_use answered no row')
  const { of_account: account, wrap, site, destinations: approved, is_first: isFirstUse } = opened
  const isOwn = opened.is_own
  const home = { account, wrap, entry, site }
  const used = usedEntry(room, entry, opened)
  const session = sessionIn(home)
  const endsAt = room.world.now().getTime() + visitMilliseconds
  const visit = {
    room,
    db,
    home,
    used,
    approved,
    isFirstUse,
    isOwn,
    handles,
    claim,
    endsAt,
    session,
  }
  return {
    ...visit,
    known: otherTexts(used),
    said,
    isBegun: false,
    sent: [],
    isCarrying: false,
    filled: [],
  }
}

/** Sends a request to the site and remembers the page that it served. */
async function fetchPage(visit: Visit, request: Request): Promise<Browsed> {
  const { session, sent: secrets, endsAt } = visit
  const { cookies } = session.state
  const browsed = await browse(visit.room.world, request, { cookies, endsAt, secrets })
  const { url, forms } = browsed
  const served = { cookies: browsed.cookies, url: url.href, forms }
  noteState(visit, { ...served, isAnswer: false })
  visit.browsed = browsed
  visit.isCarrying = false
  return browsed
}

/** Sends a request that carries a secret. A page that a redirect leads to is not an answer to it. */
async function fetchCarrying(visit: Visit, request: Request): Promise<void> {
  const { redirects } = await fetchPage(visit, request)
  visit.isCarrying = redirects === 0
}
