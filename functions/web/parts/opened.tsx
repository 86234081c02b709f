/**
 * The one time that an API key is seen. It is answered to the form itself and kept nowhere: reloading
 * finds the link used, and a page that is come back to has lost it.
 */
import type { OpenedAccount } from '../../../shared/onboarding/registration.ts'
import { Page, show } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { LinkButton } from './form.tsx'
import { Address, Notice, Section } from './show.tsx'

export function showOpened(c: Visit, opened: OpenedAccount) {
  const { MAIL_DOMAIN, BASE_URL } = c.get('world').config
  const settings = `AOA_API_KEY=${opened.apiKey}\nAOA_BASE_URL=${BASE_URL}`
  return show(
    c,
    <Page
      c={c}
      title="Your account is open"
      scripts={['copy', 'once']}
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
      <Section title="API key">
        <Once text={opened.apiKey} />
      </Section>
      <Section title="Lines for your agent's settings">
        <p class="quiet">Put them where your agent keeps its settings, not into a chat.</p>
        <Once text={settings} />
      </Section>
      <Section title="Wallet">
        <p>
          <Address value={opened.address} />
        </p>
      </Section>
      <p class="actions">
        <LinkButton kind="main" to="/">
          I have kept the key
        </LinkButton>
        <LinkButton to="/security">Add a passkey</LinkButton>
      </p>
    </Page>,
  )
}

function Once({ text }: { text: string }) {
  return (
    <div>
      <pre data-copy={text} data-once>
        {text}
      </pre>
    </div>
  )
}
