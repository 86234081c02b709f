/** The page of sign-ins, on which the owner ends sessions. */
import { browserName } from '../../../shared/mail/browser-name.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readSecurity, type SignIn } from '../session.ts'
import { Button, Form } from '../ui/form.tsx'
import { Badge, Section, Table, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'

const path = '/security/sessions'

/** Routes that list the sessions and end them. */
export const routes: Routes = (app) => {
  app.get(path, showSessions)
  app.post(path, async (c) => {
    const { db } = await requireOwner(c)
    const session = (await readFormFields(c)).get('session') ?? ''
    if (session === 'others') await db.run('owner_end_other_sessions', {})
    else if (isId.test(session)) await db.run('owner_end_session', { session })
    return goTo(c, path)
  })
}

const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const ways: Record<string, string> = {
  sign_up: 'Sign-up',
  password: 'Password',
  passkey: 'Passkey',
  recovery_code: 'Recovery code',
}

async function showSessions(c: PageContext) {
  const me = await requireOwner(c)
  const { sign_ins } = await readSecurity(c)
  const others = sign_ins.filter(({ is_live, is_this }) => is_live && !is_this)
  return sendPage(
    c,
    <Page
      c={c}
      title="Sessions"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead="Where your account was signed in to. A session ends after 30 minutes of inactivity."
    >
      <Section title="Sign-ins">
        <Table caption="Sign-ins, open ones first" columns={columns(c)} rows={sign_ins} />
      </Section>
      {others.length > 0 && (
        <Section title="A sign-in you do not recognize?">
          <p>
            <a href={`${webAppPath}/secure`}>Secure my account</a> ends them all, with every key and
            app, and sets a new password. To end only the sessions:
          </p>
          <Form c={c}>
            <Button kind="danger" name="session" value="others">
              End all other sessions
            </Button>
          </Form>
        </Section>
      )}
    </Page>,
  )
}

function columns(c: PageContext) {
  return [
    { label: 'Signed in', cell: (row: SignIn) => <Time at={row.signed_in_at} /> },
    { label: 'With', cell: (row: SignIn) => ways[row.signed_in_with] ?? row.signed_in_with },
    { label: 'Browser', cell: (row: SignIn) => browserName(row.user_agent) },
    { label: 'From', cell: (row: SignIn) => row.client },
    { label: 'State', cell: (row: SignIn) => <State c={c} row={row} /> },
  ]
}

function State({ c, row }: { c: PageContext; row: SignIn }) {
  if (row.is_this) return <Badge kind="good">This one</Badge>
  if (!row.is_live) return <Badge>Ended</Badge>
  return (
    <Form c={c}>
      <Button kind="plain" name="session" value={row.id}>
        End<span class="unseen"> the session of {browserName(row.user_agent)}</span>
      </Button>
    </Form>
  )
}
