/** The page of one connected app, on which the owner changes what it may do and pay, or disconnects it. */
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { appRaised } from '../../../shared/mail/access-messages.ts'
import { limitsRaised } from '../../../shared/mail/money-messages.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { AgentUse, EndForm, readAgentUse } from '../keys/agent-use.tsx'
import {
  CapFields,
  type Caps,
  CapsForm,
  canPay,
  capsIn,
  capsOf,
  capsQuestion,
  capsUndo,
  levelOf,
  levelsFor,
  linesOfCaps,
} from '../keys/caps.tsx'
import { Page, sendPage } from '../layout.tsx'
import { afterEnding } from '../recipients/recipients.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Choices, Form } from '../ui/form.tsx'
import { Facts, LastUsed, Notice, Section, SendAgain, Time } from '../ui/show.tsx'
import { markFormDraft, type PageContext, type Routes, takeFormDraft } from '../visit.ts'
import { type AppRow, listApps, meetApp } from './apps-data.ts'

/** Routes that show the app, change what it may do, set its caps and disconnect it. */
export const routes: Routes = (app) => {
  app.get('/apps/:app', async (c) =>
    showApp(c, await findApp(c), takeFormDraft(c, await requireOwner(c))),
  )
  app.post('/apps/:app', async (c) => {
    const me = await requireOwner(c)
    const found = await findApp(c)
    const form = await readFormFields(c)
    markFormDraft(c, form)
    if (form.get('wanted') === 'disconnected') {
      if (form.get('sure') !== 'yes') return showApp(c, found, undefined, { isUnsure: true })
      await me.db.run('owner_disconnect_apps', { app: found.app })
      return goTo(c, await afterEnding(me, found.app, '/apps'), 'app_disconnected')
    }
    if (form.get('wanted') === 'levelled') return changeLevel(c, found, form)
    const caps = capsIn(form)
    if (!caps) return showApp(c, found, form, {})
    const changes = { 'App at': found.redirect_host, ...linesOfCaps(caps) }
    const mail = await sealOwnerNotice(c, (webUrl, deed) =>
      limitsRaised(webUrl, { ...deed, changes }),
    )
    await me.db.run('owner_set_caps', { holder: found.app, ...capsQuestion(caps), mail })
    return goTo(c, `/apps/${found.app}`, 'capped', capsUndo(`/apps/${found.app}`, found.caps))
  })
}

/** Sets the level. An app that may pay from now on gets its caps first, so it never pays without. */
async function changeLevel(c: PageContext, found: AppRow, form: URLSearchParams) {
  const { app, redirect_host: host, scopes } = found
  const { db } = await requireOwner(c)
  const level = levelsFor(scopes).find(({ name }) => name === form.get('level'))
  if (!level) return showApp(c, found, form, { text: 'Choose what the app may do.' })
  const caps = canPay(scopes) ? capsOf(found.caps) : capsIn(form)
  if (canPay(level.scopes) && !canPay(scopes)) {
    if (!caps) return showApp(c, found, form, {})
    await db.run('owner_set_caps', { holder: app, ...capsQuestion(caps), mail: null })
  }
  const capLines = caps && canPay(level.scopes) ? linesOfCaps(caps) : {}
  const mail = await sealOwnerNotice(c, (webUrl, deed) =>
    appRaised(webUrl, { ...deed, host, scope: level.scopes.join(' '), caps: capLines }),
  )
  await db.run('owner_set_app_scopes', { app, scopes: [...level.scopes], mail })
  return goTo(c, `/apps/${app}`)
}

async function findApp(c: PageContext): Promise<AppRow> {
  const apps = await listApps(await requireOwner(c))
  const found = apps.find(({ app, live }) => live && app === c.req.param('app'))
  if (found) return found
  throw new Rejection(fail('not_found', { message: 'No such app is connected to this account.' }))
}

/** Problem of a sent form; one without text stands at its field. */
type Problem = { text?: string; isUnsure?: true }

async function showApp(c: PageContext, app: AppRow, typed?: URLSearchParams, problem?: Problem) {
  const me = await requireOwner(c)
  const asked = { client: { id: app.app, name: app.name }, redirectHost: app.redirect_host }
  const [{ caps }, use] = await Promise.all([meetApp(me, asked), readAgentUse(c, app.app)])
  return sendPage(
    c,
    <Page c={c} title={app.name} owner={me} back={{ to: '/apps', label: 'Connected apps' }}>
      {problem?.text && (
        <Notice kind="danger" title="Nothing has changed">
          {problem.text}
        </Notice>
      )}
      {typed && problem === undefined && <SendAgain />}
      <AgentUse c={c} id={app.app} agent={app} use={use} />
      <Section title="What it is">
        <Facts
          facts={[
            ['Who it is', app.host === null ? 'Not verified' : <code>{app.host}</code>],
            ['It returned you to', <code class="long">{app.redirect_host}</code>],
            ['May', levelOf(app.scopes).label],
            ['Since', <Time at={app.created_at} />],
            ['Last used', <LastUsed day={app.last_used_on} />],
            ['Ends', <Time at={app.expires_at} />],
          ]}
        />
      </Section>
      {canPay(app.scopes) && <CapsForm c={c} caps={app.caps} typed={typed} />}
      <LevelForm c={c} app={app} caps={caps} typed={typed} />
      <EndForm
        c={c}
        words="To reconnect, it has to ask you again."
        label="Disconnect the app"
        wanted="disconnected"
        isUnsure={problem?.isUnsure ?? false}
      />
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

type LevelFormProps = {
  c: PageContext
  app: AppRow
  /** Caps to propose for an app that cannot pay yet. */
  caps: Caps
  typed: URLSearchParams | undefined
}

function LevelForm({ c, app: { scopes }, caps, typed }: LevelFormProps) {
  const choices = levelsFor(scopes).map(({ name, label, hint }) => ({ value: name, label, hint }))
  return (
    <Section title="What it may do">
      <p>
        Less access applies at once. For more, confirm again that it’s you; the app gets it within
        15 minutes.
      </p>
      <Form c={c}>
        <Choices
          name="level"
          legend="Allow it to"
          chosen={typed?.get('level') ?? levelOf(scopes).name}
          choices={choices}
        />
        {!canPay(scopes) && <CapFields caps={caps} typed={typed} />}
        <div class="actions">
          <Button kind="plain" name="wanted" value="levelled">
            Save
          </Button>
        </div>
      </Form>
    </Section>
  )
}
