/** The page that says how to connect an agent: by signing in, or with a key. */
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { LinkButton } from '../ui/form.tsx'
import { Section } from '../ui/show.tsx'
import type { Routes } from '../visit.ts'
import { ClientConfigs, clientConfigs } from './client-configs.tsx'

/** Route that shows the page. */
export const routes: Routes = (app) => {
  app.get('/connect', async (c) => {
    const me = await requireOwner(c)
    const { BASE_URL } = c.get('world').config
    return sendPage(
      c,
      <Page
        c={c}
        title="Connect your agent"
        owner={me}
        lead="Choose the program that your agent runs in."
        scripts={['copy']}
      >
        <Section title="Sign in from your program">
          <p>
            Your program opens a page here, where you choose what the agent may do. It stores no
            key, and you can disconnect it under Connected apps.
          </p>
          <ClientConfigs configs={clientConfigs(BASE_URL)} />
        </Section>
        <Section title="Or use an API key">
          <p>
            For scripts, servers, and programs that cannot open a browser. You get these
            configurations with the key filled in.
          </p>
          <div class="actions">
            <LinkButton to="/keys" kind="main">
              Create a key
            </LinkButton>
          </div>
        </Section>
      </Page>,
    )
  })
}
