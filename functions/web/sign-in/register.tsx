/** The page of a registration link, on which a person chooses alias and password and opens the account. */
import { newSessionId, openSessionToken } from '../../../shared/auth/session.ts'
import { errorTable, isRefusal } from '../../../shared/contract/errors.ts'
import { unbound } from '../../../shared/db/database.ts'
import { checkAvailability } from '../../../shared/onboarding/availability.ts'
import {
  type AccountRefusal,
  type OpenedAccount,
  type PendingRegistration,
  readPendingRegistration,
  registerAccount,
} from '../../../shared/onboarding/registration.ts'
import { readFormFields } from '../frame.ts'
import { KeyOnce, keyScripts } from '../keys/key-once.tsx'
import { Page, sendPage } from '../layout.tsx'
import { browserOf } from '../session.ts'
import { endSession, keepSession } from '../session-cookie.ts'
import { Button, Field, Form, LinkButton } from '../ui/form.tsx'
import { PasskeyForm } from '../ui/passkey.tsx'
import { Address, Notice, Section, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { NewPassword } from './new-password.tsx'

/** Routes that show the form, open the account, and say for the script if an alias is free. */
export const routes: Routes = (app) => {
  app.get('/register/:link', async (c) => {
    const registration = await readPendingRegistration(c.get('world'), c.req.param('link'))
    if (!registration) return sendPage(c, <LinkClosed c={c} />, 410)
    return askChoices(c, registration, { alias: registration.wish ?? '' })
  })
  app.post('/register/:link', (c) => registerOwner(c, c.req.param('link')))
  app.get('/alias', async (c) => {
    const asking = { db: unbound(c.get('world').db), client: browserOf(c).client }
    const asked = (c.req.query('alias') ?? '').slice(0, 64)
    const { alias, ...standing } = await checkAvailability(asking, asked)
    return c.text(standing.available ? `${alias} is free.` : aliasWords(standing))
  })
}

async function registerOwner(c: PageContext, link: string) {
  const world = c.get('world')
  const given = await readFormFields(c)
  const alias = given.get('alias')?.slice(0, 64) ?? ''
  const sid = newSessionId(world)
  const opened = await registerAccount(world, {
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
          For <strong>{registration.email}</strong>. This page is valid until{' '}
          <Time at={registration.expires_at} isInSentence />.
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
  reserved: 'This alias is reserved for the service.',
  malformed: 'An alias has 3 to 32 letters, digits and single hyphens, and begins with a letter.',
}

function aliasWords({ reason, suggestions }: { reason?: unknown; suggestions?: unknown }): string {
  const near = Array.isArray(suggestions) ? suggestions.map(String) : []
  const free = near.length > 0 ? ` Free: ${near.join(', ')}.` : ''
  return `${reasons[String(reason)] ?? 'This alias is not available.'}${free}`
}

/** Shows what the owner agrees to by opening the account. */
function AccountTerms() {
  return (
    <section>
      <h2>What you agree to</h2>
      <p>
        <strong>The key of the wallet</strong> is held by the service, which signs what the limits
        of your account allow. Payments cannot be reversed.
      </p>
      <p>
        <strong>Spending</strong> starts with up to 200 USD in 24 hours that your agent pays on its
        own, to recipients and from devices that you trust. When it says that you agreed, it may pay
        as much again, at most 10 USD of that to each new recipient. You approve everything else. No
        more than 1,000 USD can leave in 24 hours. You can change all of this under Limits.
      </p>
      <p>
        <strong>Stopping</strong> takes one click or one call: you and your agent can freeze
        everything at once. Only you can unfreeze it.
      </p>
      <p>
        <strong>Coming back</strong> takes your email address and password. Keep the password to
        yourself: no agent needs it.
      </p>
    </section>
  )
}

const aliasHint =
  '3 to 32 letters, digits and hyphens, beginning with a letter. It cannot be changed later.'

/** Renders the field for the alias; the script `sign-up` shows below it if the alias is free. */
function AliasField({ c, value, error }: { c: PageContext; value: string; error?: string }) {
  return (
    <>
      <Field
        name="alias"
        label="Alias"
        hint={aliasHint}
        value={value}
        unit={`@${c.get('world').config.MAIL_DOMAIN}`}
        required
        autocomplete="off"
        minlength={3}
        maxlength={32}
        {...(error === undefined ? {} : { error })}
      />
      <p class="hint" id="alias-standing" role="status" />
    </>
  )
}

/** Shows that a link was used, has expired, or never existed. */
function LinkClosed({ c }: { c: PageContext }) {
  return (
    <Page
      c={c}
      title="This link no longer works"
      lead="A registration link works once, for 30 minutes."
    >
      <p>
        If you have just used it, your account is open: sign in, and make an API key there if you
        did not keep the first one. Otherwise, start again with a new code.
      </p>
      <p class="actions">
        <LinkButton kind="main" to="/login">
          Sign in
        </LinkButton>
        <LinkButton to="/join">Start again</LinkButton>
      </p>
    </Page>
  )
}

/** Shows the new account: mail address, API key, wallet, and the way to a passkey. */
function showOpened(c: PageContext, opened: OpenedAccount) {
  const { MAIL_DOMAIN } = c.get('world').config
  return sendPage(
    c,
    <Page
      c={c}
      title="Your account is open"
      scripts={[...keyScripts, 'passkey']}
      lead={
        <>
          Your agent receives mail at{' '}
          <strong>
            {opened.alias}@{MAIL_DOMAIN}
          </strong>
          .
        </>
      }
    >
      <Notice kind="warning" title="Copy the API key now">
        It is shown only once. With it, your agent can pay within your limits for 90 days. If you
        lose it, create another one under API keys.
      </Notice>
      <KeyOnce c={c} apiKey={opened.apiKey} />
      <Section title="Wallet">
        <p>
          <Address value={opened.address} />
        </p>
      </Section>
      <p class="actions">
        <LinkButton kind="main" to="">
          I have saved the key
        </LinkButton>
      </p>
      <AddPasskey c={c} />
    </Page>,
  )
}

/** Renders the form for a passkey. The passkey page answers it, so that this page and its key are gone. */
function AddPasskey({ c }: { c: PageContext }) {
  return (
    <Section title="Sign in without a password">
      <p>
        A passkey on this device is safer than a password and quicker. Save the key above first:
        this opens another page.
      </p>
      <noscript>
        <p>
          <LinkButton to="/security/passkeys">Go to passkeys</LinkButton>
        </p>
      </noscript>
      <PasskeyForm
        c={c}
        act="create"
        action="/security/passkeys"
        label="Add a passkey"
        otherwise="Your password opens the account without it."
      >
        <input type="hidden" name="deed" value="add" />
      </PasskeyForm>
    </Section>
  )
}
