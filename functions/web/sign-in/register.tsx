/** The page of a registration link, on which a person chooses alias and password and opens the account. */
import { newSessionId, openSessionToken } from '../../../shared/auth/session.ts'
import { errorTable, isRefusal } from '../../../shared/contract/errors.ts'
import { unbound } from '../../../shared/db/database.ts'
import { checkAvailability } from '../../../shared/onboarding/availability.ts'
import {
  type AccountRefusal,
  openAccount,
  type PendingRegistration,
  readPendingRegistration,
} from '../../../shared/onboarding/registration.ts'
import { readFormFields } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { browserOf } from '../own-session.ts'
import { endSession, keepSession } from '../session-cookie.ts'
import { Button, Form } from '../ui/form.tsx'
import { Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { showOpened } from './new-account.tsx'
import { NewPassword } from './new-password.tsx'
import { AccountTerms, AliasField, LinkClosed } from './registration.tsx'

/** Routes that show the form, open the account, and say for the script if an alias is free. */
export const routes: Routes = (app) => {
  app.get('/register/:link', async (c) => {
    const registration = await readPendingRegistration(c.get('world'), c.req.param('link'))
    if (!registration) return sendPage(c, <LinkClosed c={c} />, 410)
    return askChoices(c, registration, { alias: registration.wish ?? '' })
  })
  app.post('/register/:link', (c) => register(c, c.req.param('link')))
  app.get('/alias', async (c) => {
    const asking = { db: unbound(c.get('world').db), client: browserOf(c).client }
    const asked = (c.req.query('alias') ?? '').slice(0, 64)
    const { alias, ...standing } = await checkAvailability(asking, asked)
    return c.text(standing.available ? `${alias} is free.` : aliasWords(standing))
  })
}

async function register(c: PageContext, link: string) {
  const world = c.get('world')
  const given = await readFormFields(c)
  const alias = given.get('alias')?.slice(0, 64) ?? ''
  const sid = newSessionId(world)
  const opened = await openAccount(world, {
    link,
    alias,
    password: given.get('password') ?? '',
    browser: browserOf(c),
    sessionId: sid,
  })
  if (!isRefusal(opened)) {
    await endSession(c)
    const expiresAt = new Date(world.now().getTime() + sessionMilliseconds)
    keepSession(c, await openSessionToken(world, { sid, account: opened.id, expiresAt }))
    c.set('openedAccount', opened.id)
    return showOpened(c, opened)
  }
  const registration = await readPendingRegistration(world, link)
  if (!registration) return sendPage(c, <LinkClosed c={c} />, 410)
  return askChoices(c, registration, { alias, refused: opened })
}

/** Milliseconds that a new session lasts, as in private.open_session. */
const sessionMilliseconds = 30 * 60_000

type Choices = { alias: string; refused?: AccountRefusal }

function askChoices(
  c: PageContext,
  registration: PendingRegistration,
  { alias, refused }: Choices,
) {
  const { aliasError, passwordError, otherError } = errorsOf(refused)
  return sendPage(
    c,
    <Page
      c={c}
      title="Open your account"
      scripts={['sign-up']}
      lead={
        <>
          For <strong>{registration.email}</strong>. This page is good until{' '}
          <Time at={registration.expires_at} />.
        </>
      }
    >
      {otherError && <p class="error">{otherError}</p>}
      <Form c={c}>
        <AliasField c={c} value={alias} {...(aliasError ? { error: aliasError } : {})} />
        <NewPassword {...(passwordError ? { error: passwordError } : {})} />
        <AccountTerms />
        <Button>Agree and open the account</Button>
      </Form>
    </Page>,
    refused ? errorTable[refused.refusal][0] : 200,
  )
}

function errorsOf(refused: AccountRefusal | undefined) {
  if (!refused) return {}
  const words = refused.message ?? errorTable[refused.refusal][1]
  switch (refused.refusal) {
    case 'alias_unavailable':
      return { aliasError: aliasWords(refused.details ?? {}) }
    case 'weak_password':
      return { passwordError: words }
    case 'account_exists':
    case 'registration_closed':
      return { otherError: words }
  }
}

const reasons: Readonly<Record<string, string>> = {
  taken: 'This alias is taken.',
  similar: 'This alias looks like one that is taken.',
  reserved: 'This alias is kept for the service.',
  malformed: 'An alias has 3 to 32 letters, digits and single hyphens, and begins with a letter.',
}

function aliasWords({ reason, suggestions }: { reason?: unknown; suggestions?: unknown }): string {
  const near = Array.isArray(suggestions) ? suggestions.map(String) : []
  const free = near.length > 0 ? ` Free: ${near.join(', ')}.` : ''
  return `${reasons[String(reason)] ?? 'This alias cannot be had.'}${free}`
}
