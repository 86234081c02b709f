/** The page of a new account, which shows the API key once. After a reload the link is used. */
import type { OpenedAccount } from '../../../shared/onboarding/registration.ts'
import { KeyOnce, keyScripts } from '../keys/key-once.tsx'
import { Page, sendPage } from '../layout.tsx'
import { LinkButton } from '../ui/form.tsx'
import { PasskeyForm } from '../ui/passkey.tsx'
import { Address, Notice, Section } from '../ui/show.tsx'
import type { PageContext } from '../visit.ts'

/** Shows the new account: mail address, API key, wallet, and the way to a passkey. */
export function showOpened(c: PageContext, opened: OpenedAccount) {
  const { MAIL_DOMAIN } = c.get('world').config
  return sendPage(
    c,
    <Page
      c={c}
      title="Your account is open"
      scripts={[...keyScripts, 'passkey']}
      lead={
        <>
          Mail for your agent comes to{' '}
          <strong>
            {opened.alias}@{MAIL_DOMAIN}
          </strong>
          .
        </>
      }
    >
      <Notice kind="warning" title="Copy the API key now">
        It is shown this once. With it your agent can pay within your limits for 90 days. If it gets
        lost, make another one under API keys.
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
        A passkey on this device is safer than a password and quicker. Keep the key above first:
        this leads on to another page.
      </p>
      <noscript>
        <p>
          <LinkButton to="/security/passkeys">To the passkeys</LinkButton>
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
