/** The page of connected apps, on which the owner sees their access and can disconnect all of them. */
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { SpentCell } from '../keys/agent-use.tsx'
import { CapsLine, canPay, capsOf, levelOf } from '../keys/caps.tsx'
import { Page, sendPage } from '../layout.tsx'
import { Button, Form } from '../ui/form.tsx'
import { Empty, LastUsed, Section, Table, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { type AppRow, listApps } from './apps-data.ts'

/** Routes that list the apps and disconnect all of them. */
export const routes: Routes = (app) => {
  app.get('/apps', showApps)
  app.post('/apps', async (c) => {
    const { db } = await requireOwner(c)
    if ((await readFormFields(c)).get('wanted') === 'none')
      await db.run('owner_disconnect_apps', {})
    return goTo(c, '/apps')
  })
}

async function showApps(c: PageContext) {
  const me = await requireOwner(c)
  const apps = await listApps(me)
  const live = apps.filter((one) => one.live)
  const over = apps.filter((one) => !one.live)
  return sendPage(
    c,
    <Page
      c={c}
      title="Connected apps"
      owner={me}
      lead="Apps that you gave access by signing in here. Each can do only what you allowed it."
    >
      <Section title="Connected">
        {live.length === 0 ? <Empty>{noneYet}</Empty> : <Apps apps={live} />}
      </Section>
      {live.length > 1 && (
        <Section title="Is something wrong?">
          <p>Disconnects every app at once. API keys stay as they are.</p>
          <Form c={c}>
            <Button kind="danger" name="wanted" value="none">
              Disconnect all apps
            </Button>
          </Form>
        </Section>
      )}
      {over.length > 0 && (
        <Section title="Ended">
          <Ended apps={over} />
        </Section>
      )}
    </Page>,
  )
}

const noneYet =
  'None yet. An app that can connect sends you here to sign in, and you decide what it may do.'

function Apps({ apps }: { apps: AppRow[] }) {
  return (
    <Table
      caption="Connected apps"
      rows={apps}
      columns={[
        {
          label: 'App',
          cell: (app) => (
            <a href={`${webAppPath}/apps/${app.app}`}>
              <AppName app={app} />
            </a>
          ),
        },
        { label: 'Allowed to', cell: (app) => <Allowed app={app} /> },
        { label: 'Used in 24 hours', cell: SpentCell },
        { label: 'Last used', cell: ({ last_used_on: day }) => <LastUsed day={day} /> },
        { label: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} /> },
      ]}
    />
  )
}

function Ended({ apps }: { apps: AppRow[] }) {
  return (
    <Table
      caption="Apps that are no longer connected"
      rows={apps}
      columns={[
        { label: 'App', cell: (app) => <AppName app={app} /> },
        { label: 'Was allowed to', cell: ({ scopes }) => levelOf(scopes).label },
        { label: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
        { label: 'Last used', cell: ({ last_used_on: day }) => <LastUsed day={day} /> },
        {
          label: 'Ended',
          cell: ({ ended_because: why }) => (why ? endings[why] : 'Expired'),
        },
      ]}
    />
  )
}

/** Explanations of why an app's access ended, by the word of the database. */
const endings: Readonly<Record<NonNullable<AppRow['ended_because']>, string>> = {
  disconnected: 'You disconnected it',
  replaced: 'You connected it again',
  reused: 'Its token was used twice',
  'revoked by the app': 'The app gave up its access',
}

function Allowed({ app: { scopes, caps } }: { app: AppRow }) {
  return (
    <>
      {levelOf(scopes).label}
      {canPay(scopes) && (
        <p class="quiet">
          <CapsLine caps={capsOf(caps)} />
        </p>
      )}
    </>
  )
}

function AppName({ app: { name, host, redirect_host } }: { app: AppRow }) {
  return (
    <>
      {name} <code class="long">{host ?? redirect_host}</code>
    </>
  )
}
