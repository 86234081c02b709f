/** What a new owner sees: the key this once. Reloading finds the link used. */
import type { OpenedAccount } from '../../../shared/onboarding/registration.ts'
import { Page, show } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { LinkButton } from './form.tsx'
import { KeyOnce, keyScripts } from './key-once.tsx'
import { PasskeyForm } from './passkey.tsx'
import { Address, Notice, Section } from './show.tsx'

export function showOpened(c: Visit, opened: OpenedAccount) {
  const { MAIL_DOMAIN } = c.get('world').config
  return show(
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
          I have kept the key
        </LinkButton>
      </p>
      <AddPasskey c={c} />
    </Page>,
  )
}

/** Answered by the page of passkeys, so that this one and its key are left behind. */
function AddPasskey({ c }: { c: Visit }) {
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
      <PasskeyForm c={c} act="create" action="/security/passkeys" label="Add a passkey">
        <input type="hidden" name="deed" value="add" />
      </PasskeyForm>
    </Section>
  )
}
