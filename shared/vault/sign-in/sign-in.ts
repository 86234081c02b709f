/**
 * Signs in to sites as a browser does: the service fetches the page, finds the form, fills it in and sends
 * it where the page says. The agent names the page and gives ordinary fields. How the site treats the
 * password is up to the site; its answer to the password is not shown.
 */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import { bindCredential } from '../../db/database.ts'
import { catchRefusal } from '../answering.ts'
import { linkAddress, linkSecrets } from '../entries/link.ts'
import { firstUseMail } from '../first-use.ts'
import { otherTexts } from '../inject.ts'
import type { VaultContext } from '../room.ts'
import { openedRow, usedEntry } from '../used-entry.ts'
import { besideIn, saidByForm, saidByPage } from './beside.ts'
import { type Browsed, browse, type Request, visitMilliseconds } from './browse.ts'
import { isFirstStep, passwordField } from './fields.ts'
import { fillSecret, knownFields, signsIn, usernameIn } from './fill-in.ts'
import type { PageForm } from './page-forms.ts'
import type { LoginOrder, SignInPort, StepAnswer, StepOrder } from './port.ts'
import { leadsToSignIn } from './purpose.ts'
import { endVisit } from './served-page.ts'
import { type Home, newSession, openSession, type Session, storeSession } from './session.ts'
import { type Filling, submissionOf } from './submission.ts'
import { type FilledSecret, noteSaid, noteState, pageAt, recordUse, type Visit } from './visit.ts'

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
  const asked = { credential, claim, entry, handles: [] }
  const visit = await beginVisit(context, asked, () => newSession(context.world.newId()))
  const url = pageAt(visit, path)
  if ('refusal' in url) return url
  noteSaid(visit, saidByPage(url))
  const { forms } = await fetchPage(visit, { url, method: 'GET' })
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
  return endVisit(visit, ending)
}

/** Opens the next page, by its path or by a form of the last one. */
async function advance(context: VaultContext, order: StepOrder): Promise<StepAnswer | Refusal> {
  const { credential, claim, session: id, path, form: at, fields, secret } = order
  const db = bindCredential(context.world.db, credential)
  const kept = await db.one('vault_open_session', { session: id }, sessionRow)
  if (kept === undefined) throw new Error('vault_open_session answered no row')
  const handles = secret?.startsWith('mail.') ? [secret.slice('mail.'.length)] : []
  const asked = { credential, claim, entry: kept.entry, handles }
  const visit = await beginVisit(context, asked, (home) =>
    openSession(context, home, { id, ...kept }),
  )
  if (path !== undefined) {
    const url = pageAt(visit, path)
    if ('refusal' in url) return url
    noteSaid(visit, saidByPage(url))
    await fetchPage(visit, { url, method: 'GET' })
    return endVisit(visit, ending)
  }
  const link = secret === undefined ? undefined : visit.used.links.get(secret)
  if (link !== undefined) return (await openLink(visit, link)) ?? endVisit(visit, ending)
  const { forms } = visit.session.state
  const form = at === undefined ? formFor(visit, secret ?? '') : forms[at]
  if (!form)
    return fail('form_refused', { message: 'The page that was served last has no such form.' })
  return (await send(visit, form, fields, secret)) ?? endVisit(visit, ending)
}

/** Returns the first form of the last served page that asks for a secret. */
function formFor(visit: Visit, secret: string): PageForm | undefined {
  const { forms } = visit.session.state
  return forms.find((form) => !('refused' in fillSecret(visit, form, secret)))
}

/** Records the use of a sign-in link and opens it; returns a refusal if it leads away from the site. */
async function openLink(visit: Visit, link: string): Promise<Refusal | undefined> {
  const { db, home, room, session, handles, claim, isFirstUse } = visit
  const url = linkAddress(link, home.site)
  if ('refused' in url) return fail('form_refused', { message: url.refused })
  await db.run('vault_begin_use', {
    entry: home.entry,
    handles,
    places: [],
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

type Fields = Readonly<Record<string, string>>

/** Sends a form of the last served page; returns a refusal if it is not sent. */
async function send(
  visit: Visit,
  form: PageForm,
  fields: Fields,
  secret?: string,
): Promise<Refusal | undefined> {
  const placed = secret === undefined ? [] : fillSecret(visit, form, secret)
  if ('refused' in placed) return fail('form_refused', { message: placed.refused })
  const isSignIn = secret === undefined || secret.endsWith('password')
  const control = isSignIn ? usernameIn(visit, form) : undefined
  const username = control && { control, value: visit.used.username }
  const isFirst = placed.length === 0 && isFirstStep(form) && leadsToSignIn(form)
  const refused = await submit(visit, form, { fields, username }, placed)
  if (refused) return refused
  noteState(visit, { isBehindName: isFirst && control !== undefined })
  if (control && !visit.filled.includes('username')) visit.filled.push('username')
  if (secret !== undefined) visit.filled.push(isSignIn ? 'password' : 'code')
  return undefined
}

/** Records the use and then sends the form; returns a refusal if it is not sent. */
async function submit(
  visit: Visit,
  form: PageForm,
  given: Pick<Filling, 'fields' | 'username'>,
  placed: readonly FilledSecret[],
): Promise<Refusal | undefined> {
  const secrets = placed.map(({ asking: { control }, value }) => ({ control, value }))
  const begins = placed.length === 0 && isFirstStep(form)
  const filling = { ...given, secrets, isFirstStep: begins }
  const submission = submissionOf(visit.home.site, form, filling)
  if ('refused' in submission) return fail('form_refused', { message: submission.refused })
  const notice = (site: string) => firstUseMail(visit.room.world, site)
  const isBooked = placed.length > 0 || submission.method === 'POST'
  const filled = [...secrets, given.username ?? []].flat().map(({ control }) => control)
  const isServices = filled.length > 0
  noteSaid(visit, saidByForm(form, given.fields, isServices))
  const carried = { placed, beside: besideIn(form, filled, visit.session.state.said) }
  const refused = isBooked ? await recordUse(visit, submission, notice, carried) : undefined
  if (refused) return refused
  const fetchNext = placed.length > 0 ? fetchCarrying : fetchPage
  await fetchNext(visit, { ...submission, from: visit.session.state.url })
  noteState(visit, { answers: isServices ? form.action : '' })
  return undefined
}

type Order = { credential: string; claim: string | null; entry: string; handles: string[] }

/** Opens the entry; `sessionIn` gives the session once the account and its key are known. */
async function beginVisit(
  room: VaultContext,
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
  const visit = { room, db, home, used, approved, isFirstUse, handles, claim, endsAt, session }
  return {
    ...visit,
    known: otherTexts(used),
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
  noteState(visit, { ...served, isBehindName: false, answers: '' })
  visit.browsed = browsed
  visit.isCarrying = false
  return browsed
}

/** Sends a request that carries a secret. A page that a redirect leads to is not an answer to it. */
async function fetchCarrying(visit: Visit, request: Request): Promise<void> {
  const { redirects } = await fetchPage(visit, request)
  visit.isCarrying = redirects === 0
}
