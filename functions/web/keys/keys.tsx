/** The page of API keys, on which the owner sees them and makes new ones. */
import * as z from 'zod'
import { newApiKey } from '../../../shared/mail/access-messages.ts'
import { readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Choices, Field, Form, LinkButton } from '../ui/form.tsx'
import { Badge, Empty, LastUsed, Notice, Section, SendAgain, Table, Time } from '../ui/show.tsx'
import {
  markFormDraft,
  type PageContext,
  type Routes,
  takeFormDraft,
  webAppPath,
} from '../visit.ts'
import { SpentCell } from './agent-use.tsx'
import { CapFields, capsQuestion, levelOf, optionalCapsIn } from './caps.tsx'
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

const scopes = ['read', 'vault', 'pay', 'full'] as const
const choices = scopes.map((value) => ({ ...levelOf([value]), value }))
const labelMax = 64
const createdRow = z.object({ key: z.uuid().nullable() })

/** Routes that list the keys and make one. */
export const routes: Routes = (app) => {
  app.get('/keys', async (c) => showKeys(c, takeFormDraft(c, await requireOwner(c))))

  app.post('/keys', async (c) => {
    const me = await requireOwner(c)
    const form = await readFormFields(c)
    markFormDraft(c, form)
    const label = (form.get('label') ?? '').trim()
    const scope = scopes.find((one) => one === form.get('scope'))
    const isLabel = label.length > 0 && label.length <= labelMax && /^\P{C}*$/u.test(label)
    if (!scope) return showKeys(c, form, { text: 'Choose what the key is for.' })
    if (!isLabel) return showKeys(c, form, { label: 'Enter a name of 1 to 64 characters.' })
    const caps = optionalCapsIn(form)
    if (!caps) return showKeys(c, form, {})
    const { key, known } = await makeKey(c.get('world'))
    const expires_in_days = lifeOf(form.get('days'))
    const mail = await sealOwnerNotice(c, (webUrl, deed) =>
      newApiKey(webUrl, { ...deed, label, scope: levelOf([scope]).label }),
    )
    const question = { ...known, label, scope, expires_in_days, ...capsQuestion(caps), mail }
    const created = await me.db.one('owner_create_key', question, createdRow)
    if (!created?.key) return showKeys(c, form, { text: keysFull })
    return showNewKey(c, me, key, `It is valid for ${expires_in_days} days.`)
  })
}

/** Problem of the sent form: about its name, about none of its fields, or at a field that says so itself. */
type Problem = { label?: string; text?: string }

async function showKeys(c: PageContext, typed?: URLSearchParams, problem?: Problem) {
  const me = await requireOwner(c)
  const keys = await me.db.many('owner_list_keys', { listed_max: listedMax }, keyRow)
  return sendPage(
    c,
    <Page
      c={c}
      title="API keys"
      owner={me}
      lead="A key lets an agent act in this account, within your limits and what the key is for."
      action={<LinkButton to="/connect">Connect your agent</LinkButton>}
    >
      {problem?.text && (
        <Notice kind="danger" title="No key was created">
          {problem.text}
        </Notice>
      )}
      {typed && problem === undefined && <SendAgain />}
      <Section title="Active">
        <Keys keys={keys.filter(({ live }) => live)} none="No key is active." />
      </Section>
      <CreateForm c={c} typed={typed} isFirst={keys.length === 0} labelError={problem?.label} />
      <Section title="Ended">
        <Keys keys={keys.filter(({ live }) => !live)} none="No key has ended." />
      </Section>
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

function Keys({ keys, none }: { keys: KeyRow[]; none: string }) {
  if (keys.length === 0) return <Empty>{none}</Empty>
  return (
    <Table
      caption="API keys"
      rows={keys}
      columns={[
        {
          label: 'Name',
          cell: ({ key, label, shown, live }) => (
            <>
              {live ? <a href={`${webAppPath}/keys/${key}`}>{label}</a> : label}{' '}
              <code>{shown}</code>
            </>
          ),
        },
        { label: 'For', cell: ({ scopes: held }) => levelOf(held).label },
        { label: 'Used in 24 hours', cell: SpentCell },
        { label: 'Last used', cell: ({ last_used_on: day }) => <LastUsed day={day} /> },
        { label: 'Ends', cell: (key) => <Ends {...key} /> },
      ]}
    />
  )
}

function Ends({ revoked_at, expires_at, live }: KeyRow) {
  if (revoked_at !== null) return <Badge>Revoked</Badge>
  if (expires_at === null) return 'Never'
  return live ? <Time at={expires_at} /> : <Badge>Expired</Badge>
}

type CreateFormProps = {
  c: PageContext
  typed: URLSearchParams | undefined
  isFirst: boolean
  labelError: string | undefined
}

const noCaps = { each: null, day: null }
/** Caps that the form suggests for the first key, in micro-dollars. */
const firstCaps = { each: 50_000_000n, day: 200_000_000n }

function CreateForm({ c, typed, isFirst, labelError }: CreateFormProps) {
  return (
    <Section title="Create a key">
      <Form c={c}>
        <Field
          name="label"
          label="Name"
          hint="To tell later which agent has it."
          value={typed?.get('label') ?? ''}
          maxlength={labelMax}
          required
          autocomplete="off"
          {...(labelError && { error: labelError })}
        />
        <Choices
          name="scope"
          legend="What it is for"
          chosen={typed?.get('scope') ?? (isFirst ? 'pay' : 'read')}
          choices={choices}
        />
        <CapFields caps={isFirst ? firstCaps : noCaps} typed={typed} isOptional />
        <Choices
          name="days"
          legend="Valid for"
          chosen={typed?.get('days') ?? lifeDaysDefault}
          choices={lifeChoices}
        />
        <div class="actions">
          <Button>Create the key</Button>
        </div>
      </Form>
    </Section>
  )
}
