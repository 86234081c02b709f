/** The page of one API key, on which the owner replaces, caps or revokes it or lets it read secrets. */
import * as z from 'zod'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { newApiKey, secretsReadable } from '../../../shared/mail/access-messages.ts'
import { limitsRaised } from '../../../shared/mail/money-messages.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { afterEnding } from '../recipients/recipients.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Choices, Form } from '../ui/form.tsx'
import { Facts, LastUsed, Notice, Section, SendAgain, Time } from '../ui/show.tsx'
import { markFormDraft, type PageContext, type Routes, takeFormDraft } from '../visit.ts'
import { AgentUse, EndForm, readAgentUse } from './agent-use.tsx'
import {
  CapsForm,
  canPay,
  capsQuestion,
  capsUndo,
  levelOf,
  linesOfCaps,
  optionalCapsIn,
} from './caps.tsx'
import {
  type KeyRow,
  keyRow,
  keysFull,
  lifeChoices,
  lifeDaysDefault,
  lifeOf,
  listedMax,
  makeKey,
  showNewKey,
} from './keys-data.tsx'

const overlapHours = ['0', '1', '24', '168'] as const
const overlapDefault = '24'
const overlaps = ['Ends at once', 'An hour', 'A day', 'A week']
const placedRow = z.object({ placed: z.uuid().nullable() })

/** Routes that show the key and change it. */
export const routes: Routes = (app) => {
  app.get('/keys/:key', async (c) =>
    showKey(c, await findKey(c), takeFormDraft(c, await requireOwner(c))),
  )

  app.post('/keys/:key', async (c) => {
    const me = await requireOwner(c)
    const found = await findKey(c)
    const { key } = found
    const form = await readFormFields(c)
    markFormDraft(c, form)
    switch (form.get('wanted') ?? '') {
      case 'replaced':
        return replace(c, found, form)
      case 'reads':
      case 'uses':
        return letRead(c, found, form.get('wanted') === 'reads')
      case 'capped':
        return cap(c, found, form)
      case 'revoked':
        if (form.get('sure') !== 'yes')
          return showKey(c, found, undefined, { status: 400, isUnsure: true })
        await me.db.run('owner_revoke_key', { key })
        return goTo(c, await afterEnding(me, key, '/keys'), 'key_revoked')
      default:
        return goTo(c, `/keys/${key}`)
    }
  })
}

async function findKey(c: PageContext): Promise<KeyRow> {
  const { db } = await requireOwner(c)
  const keys = await db.many('owner_list_keys', { listed_max: listedMax }, keyRow)
  const found = keys.find(({ key, live }) => live && key === c.req.param('key'))
  if (found) return found
  throw new Rejection(fail('not_found', { message: 'This account has no such active key.' }))
}

async function replace(c: PageContext, { key, label, scopes }: KeyRow, form: URLSearchParams) {
  const me = await requireOwner(c)
  const made = await makeKey(c.get('world'))
  const hours = overlapHours.find((one) => one === form.get('overlap')) ?? overlapDefault
  const scope = levelOf(scopes).label
  const mail = await sealOwnerNotice(c, (webUrl, deed) =>
    newApiKey(webUrl, { ...deed, label, scope }),
  )
  const placed = await me.db.one(
    'owner_rotate_key',
    {
      ...made.known,
      key,
      expires_in_days: lifeOf(form.get('days')),
      overlap_hours: Number(hours),
      mail,
    },
    placedRow,
  )
  if (!placed?.placed) return showKey(c, await findKey(c), form, { text: keysFull, status: 409 })
  const note =
    hours === '0'
      ? 'The old key has ended.'
      : `The old key ends in ${hours === '1' ? '1 hour' : `${hours} hours`}.`
  return showNewKey(c, me, made.key, note)
}

async function cap(c: PageContext, found: KeyRow, form: URLSearchParams): Promise<Response> {
  const { key, label } = found
  const caps = optionalCapsIn(form)
  if (!caps) return showKey(c, found, form, { status: 400 })
  const { db } = await requireOwner(c)
  const changes = { Key: label, ...linesOfCaps(caps) }
  const mail = await sealOwnerNotice(c, (webUrl, deed) =>
    limitsRaised(webUrl, { ...deed, changes }),
  )
  await db.run('owner_set_caps', { holder: key, ...capsQuestion(caps), mail })
  return goTo(c, `/keys/${key}`, 'capped', capsUndo(`/keys/${key}`, found.caps))
}

async function letRead(c: PageContext, { key, label }: KeyRow, reads: boolean): Promise<Response> {
  const { db } = await requireOwner(c)
  const mail = reads
    ? await sealOwnerNotice(c, (webUrl, deed) => secretsReadable(webUrl, { ...deed, label }))
    : null
  await db.run('owner_set_reads_secrets', { key, reads, mail })
  return goTo(c, `/keys/${key}`)
}

/** Problem of a sent form; one without text stands at its field. */
type Problem = { status: 400 | 409; text?: string; isUnsure?: true }

async function showKey(c: PageContext, key: KeyRow, typed?: URLSearchParams, problem?: Problem) {
  const me = await requireOwner(c)
  const use = await readAgentUse(c, key.key)
  return sendPage(
    c,
    <Page c={c} title={key.label} owner={me} back={{ to: '/keys', label: 'API keys' }}>
      {problem?.text && <Notice kind="danger">{problem.text}</Notice>}
      {typed && problem === undefined && <SendAgain />}
      <AgentUse c={c} id={key.key} agent={key} use={use} />
      <Section title="What it is">
        <Facts
          facts={[
            ['Key', <code>{key.shown}</code>],
            ['For', levelOf(key.scopes).label],
            ['Created', <Time at={key.created_at} />],
            ['Last used', <LastUsed day={key.last_used_on} />],
            ['Ends', key.expires_at === null ? 'Never' : <Time at={key.expires_at} />],
          ]}
        />
      </Section>
      <ReplaceForm c={c} typed={typed} />
      {canPay(key.scopes) && <CapsForm c={c} caps={key.caps} typed={typed} isOptional />}
      <SecretsForm c={c} apiKey={key} />
      <EndForm
        c={c}
        words="This cannot be undone."
        label="Revoke the key"
        wanted="revoked"
        isUnsure={problem?.isUnsure ?? false}
      />
    </Page>,
    problem?.status ?? 200,
  )
}

function ReplaceForm({ c, typed }: { c: PageContext; typed: URLSearchParams | undefined }) {
  return (
    <Section title="Replace it">
      <p>
        Creates a new key with the same access and shows it once. The old one stays valid for a
        while, so that you can update the settings of your agent.
      </p>
      <Form c={c}>
        <Choices
          name="days"
          legend="The new key is valid for"
          chosen={typed?.get('days') ?? lifeDaysDefault}
          choices={lifeChoices}
        />
        <Choices
          name="overlap"
          legend="The old key ends"
          chosen={typed?.get('overlap') ?? overlapDefault}
          choices={overlapHours.map((value, at) => ({ value, label: overlaps[at] ?? value }))}
        />
        <div class="actions">
          <Button name="wanted" value="replaced">
            Replace the key
          </Button>
        </div>
      </Form>
    </Section>
  )
}

/** Renders the form, except for a key with the scope `vault` alone, which reads nothing. */
function SecretsForm({ c, apiKey }: { c: PageContext; apiKey: KeyRow }) {
  const { scopes, reads_secrets: reads } = apiKey
  if (scopes.every((scope) => scope === 'vault')) return null
  return (
    <Section title="Secrets of the vault">
      <p>
        {reads
          ? 'This key can read the secrets of your logins. Whatever the agent reads can end up with others.'
          : 'This key can use the secrets of your logins, and never sees them. This is the safe setting.'}
      </p>
      <Form c={c}>
        <div class="actions">
          <Button kind={reads ? 'plain' : 'danger'} name="wanted" value={reads ? 'uses' : 'reads'}>
            {reads ? 'Stop letting it read them' : 'Let it read them'}
          </Button>
        </div>
      </Form>
    </Section>
  )
}
