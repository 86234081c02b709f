/**
 * The page on which the owner writes a mandate for an agent. It enters one that waits, and leads to its page, where the
 * owner reads all terms and approves it.
 */
import * as z from 'zod'
import { isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { ownWallet } from '../../../shared/payments/payment.ts'
import { listApps } from '../apps/apps-data.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { canPay } from '../keys/caps.tsx'
import { keyRow, listedMax } from '../keys/keys-data.tsx'
import { Page, sendPage } from '../layout.tsx'
import { Button, Choices, Field, Form, LinkButton, Select } from '../ui/form.tsx'
import { Empty, Notice } from '../ui/show.tsx'
import {
  markFormDraft,
  type Owner,
  type PageContext,
  type Routes,
  takeFormDraft,
} from '../visit.ts'
import {
  lifeDefault,
  lives,
  type Problems,
  problemsOf,
  readTerms,
  refusalsShown,
  type Terms,
} from './typed-terms.ts'

/** Routes that show the form and enter the mandate. */
export const routes: Routes = (app) => {
  app.get('/mandates/new', async (c) => {
    const draft = takeFormDraft(c, await requireOwner(c))
    return showMandateForm(c, draft ?? new URLSearchParams({ agent: c.req.query('agent') ?? '' }))
  })
  app.post('/mandates/new', enterMandate)
}

const madeRow = z.object({ mandate: z.uuid() })

async function enterMandate(c: PageContext): Promise<Response> {
  const me = await requireOwner(c)
  const form = await readFormFields(c)
  markFormDraft(c, form)
  const read = readTerms(c.get('world'), form)
  if ('problems' in read) return showMandateForm(c, form, read.problems)
  const made = await enterTerms(me, read.terms)
  if (isRefusal(made)) return showMandateForm(c, form, problemsOf(made))
  return goTo(c, `/mandate/${made.mandate}`)
}

async function enterTerms({ db }: Owner, terms: Terms) {
  try {
    return (await db.one('owner_propose_mandate', terms, madeRow)) ?? ownWallet
  } catch (error) {
    if (error instanceof Rejection && error.refusal.refusal in refusalsShown) return error.refusal
    throw error
  }
}

/** Lists the keys and apps that may pay, as a menu offers them. */
async function listPayers(me: Owner) {
  const [keys, apps] = await Promise.all([
    me.db.many('owner_list_keys', { listed_max: listedMax }, keyRow),
    listApps(me),
  ])
  const agents = [
    ...keys.map((key) => ({ ...key, id: key.key, name: `${key.label} (${key.shown})` })),
    ...apps.map((app) => ({ ...app, id: app.app, name: `${app.name} (${app.redirect_host})` })),
  ]
  return agents
    .filter(({ live, scopes }) => live && canPay(scopes))
    .map(({ id, name }) => ({ value: id, label: name }))
}

async function showMandateForm(c: PageContext, form: URLSearchParams, problems: Problems = {}) {
  const me = await requireOwner(c)
  const agents = await listPayers(me)
  return sendPage(
    c,
    <Page
      c={c}
      title="Create a mandate"
      owner={me}
      back={{ to: '/mandates', label: 'Mandates' }}
      lead="An agent then pays one merchant or recipient without asking, within these limits. You approve it on the next page."
    >
      {problems.agent && <Notice kind="danger">{problems.agent}</Notice>}
      {agents.length === 0 ? (
        <>
          <Empty>No key or app may pay.</Empty>
          <div class="actions">
            <LinkButton to="/keys" kind="main">
              Create a key
            </LinkButton>
          </div>
        </>
      ) : (
        <MandateForm c={c} agents={agents} form={form} problems={problems} />
      )}
    </Page>,
    Object.keys(problems).length === 0 ? 200 : 400,
  )
}

type MandateFormProps = {
  c: PageContext
  agents: Awaited<ReturnType<typeof listPayers>>
  form: URLSearchParams
  problems: Problems
}

function MandateForm({ c, agents, form, problems }: MandateFormProps) {
  const typed = (name: 'payee' | 'each' | 'day' | 'total') => {
    const error = problems[name]
    return { name, value: form.get(name) ?? '', autocomplete: 'off', ...(error && { error }) }
  }
  const usd = { unit: 'USD', inputmode: 'decimal', maxlength: 20 } as const
  return (
    <Form c={c}>
      <Select name="agent" label="Agent" choices={agents} chosen={form.get('agent') ?? ''} />
      <p class="hint">
        It pays from devices that you trust. From any other device it asks, and you can then trust
        that one.
      </p>
      <Field
        {...typed('payee')}
        label="Who is paid"
        hint="The host of a merchant, such as shop.example.com; or an address (0x…) or alias, for transfers."
        maxlength={320}
        required
      />
      <Field {...typed('each')} {...usd} label="Each payment, at most" required />
      <Field {...typed('day')} {...usd} label="In 24 hours, at most (optional)" />
      <Field {...typed('total')} {...usd} label="In all, at most (optional)" />
      <Choices
        name="days"
        legend="For how long"
        choices={lives}
        chosen={form.get('days') ?? lifeDefault}
      />
      <div class="actions">
        <Button>Review and approve the mandate</Button>
      </div>
    </Form>
  )
}
