/** What a new owner sees: the key this once. Reloading finds the link used. */
import type { OpenedAccount } from '../../../shared/onboarding/registration.ts'
import { Page, show } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { LinkButton } from './form.tsx'
import { KeyOnce, keyScripts } from './key-once.tsx'
import { Address, Notice, Section } from './show.tsx'

export function showOpened(c: Visit, opened: OpenedAccount) {
  const { MAIL_DOMAIN } = c.get('world').config
  return show(
    c,
    <Page
      c={c}
      title="Your account is open"
      scripts={keyScripts}
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
        <LinkButton to="/security">Add a passkey</LinkButton>
      </p>
    </Page>,
  )
}
