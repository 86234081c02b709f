/**
 * The page on which the owner sends money of the account. It enters a transfer that waits for the owner's approval,
 * and leads to the page that shows its terms; that page pays it.
 */
import * as z from 'zod'
import { errorTable, isRefusal, type Refusal, Rejection } from '../../../shared/contract/errors.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import { readTransferOrder, type TransferOrder } from '../../../shared/payments/enter/transfer.ts'
import { ownWallet, walletRow } from '../../../shared/payments/payment.ts'
import { cut } from '../../../shared/text/untrusted.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readHoldings } from '../overview/holdings.tsx'
import { FrozenAccountNotice } from '../ui/attention.tsx'
import { Button, Checkbox, Field, Form, LinkButton, Select, type Suggestion } from '../ui/form.tsx'
import { Empty, forPeople, Notice, Section } from '../ui/show.tsx'
import { typedAmount } from '../ui/typed-amount.ts'
import {
  markFormDraft,
  type Owner,
  type PageContext,
  type Routes,
  takeFormDraft,
} from '../visit.ts'

const noteCharactersMax = 280
const suggestedMax = 100

/** Routes that show the form and enter the transfer. */
export const routes: Routes = (app) => {
  app.get('/send', async (c) => {
    const draft = takeFormDraft(c, await requireOwner(c))
    const form = draft ?? new URLSearchParams({ claim: c.get('world').newId() })
    return showSend(c, form, await readSendable(c))
  })
  app.post('/send', enterTransfer)
}

type Field = 'recipient' | 'amount' | 'claim'
type Problem = { field: Field; words: string }

const enteredRow = z.object({ payment: z.uuid() })

async function enterTransfer(c: PageContext): Promise<Response> {
  const me = await requireOwner(c)
  const form = await readFormFields(c)
  markFormDraft(c, form)
  const sendable = await readSendable(c)
  const order = readOrder(c, form, sendable)
  if ('words' in order) return showSend(c, form, sendable, order)
  const entered = await enterOrder(me, form, order)
  if (isRefusal(entered)) return showSend(c, form, sendable, problemOf(entered))
  return goTo(c, `/approve/${entered.payment}`)
}

async function enterOrder({ db }: Owner, form: URLSearchParams, order: TransferOrder) {
  const { recipient, chain, token } = order
  const memo = cut((form.get('note') ?? '').trim(), noteCharactersMax)
  const terms = {
    claim: form.get('claim') ?? '',
    chain: chain.id,
    token: token.address,
    amount_atomic: order.amountAtomic.toString(),
    amount_usd_micros: order.usdMicros.toString(),
    ...(recipient.kind === 'address'
      ? { payee: recipient.address }
      : { payee_alias: recipient.alias }),
    ...(memo === '' ? {} : { memo }),
  }
  try {
    return (await db.one('owner_enter_transfer', terms, enteredRow)) ?? ownWallet
  } catch (error) {
    const isOfPayee = error instanceof Rejection && error.refusal.refusal === 'recipient_not_found'
    if (isOfPayee) return error.refusal
    throw error
  }
}

/** Token of the wallet that can be sent; `atomic` is the balance. */
type Sendable = Pick<TransferOrder, 'chain' | 'token'> & { name: string; atomic: bigint }

/** Returns what the wallet holds on the chains that answer. */
async function readSendable(c: PageContext): Promise<Sendable[]> {
  const { db } = await requireOwner(c)
  const wallet = await db.one('get_wallet', {}, walletRow)
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const chains = await readHoldings(c.get('world'), wallet.address)
  return chains.flatMap(({ chain, tokens = [] }) =>
    tokens
      .filter(({ amountAtomic }) => amountAtomic > 0n)
      .map(({ token, amountAtomic: atomic }) => {
        return { chain, token, atomic, name: `${chain.name} ${token.symbol}` }
      }),
  )
}

/** Reads the order of the form, or says which field is wrong. */
function readOrder(
  c: PageContext,
  form: URLSearchParams,
  sendable: readonly Sendable[],
): TransferOrder | Problem {
  const asked = form.get('asset') ?? sendable[0]?.name
  const asset = sendable.find(({ name }) => name === asked)
  if (!asset) return { field: 'amount', words: 'The account does not hold this. Choose again.' }
  const { chain, token, atomic } = asset
  if (!z.uuid().safeParse(form.get('claim')).success) {
    return { field: 'claim', words: 'Open this page again, then send the form.' }
  }
  const held = formatAmount(atomic, token.decimals)
  const recipient = (form.get('recipient') ?? '').trim()
  const amount = form.get('all') === 'yes' ? held : typedAmount(form.get('amount') ?? '')
  const order = readTransferOrder({ recipient, amount }, { chain, token }, c.get('world').config)
  if (isRefusal(order)) return problemOf(order)
  if (order.amountAtomic <= atomic) return order
  const words = `The account holds ${forPeople(held)} ${token.symbol} on ${chain.title}.`
  return { field: 'amount', words }
}

function problemOf({ refusal, message = errorTable[refusal][1] }: Refusal): Problem {
  const isOfAmount = message.startsWith('amount:') || refusal === 'unsupported_token'
  if (!isOfAmount) return { field: 'recipient', words: message.replace(/^recipient: /, '') }
  return { field: 'amount', words: message.replace(/^amount: m/, 'M') }
}

const recipientRow = z.object({ address: z.string(), alias: z.string().nullable() })
const labelRow = z.object({ address: z.string(), label: z.string() })

/** Returns known and named recipients by address, each with what the owner calls it. */
function suggested(
  labels: readonly z.output<typeof labelRow>[],
  known: readonly z.output<typeof recipientRow>[],
): Suggestion[] {
  const names = new Map(known.map(({ address, alias }) => [address, alias ?? address]))
  for (const { address, label } of labels) names.set(address, label)
  return [...names].map(([value, label]) => ({ value, label }))
}

async function showSend(
  c: PageContext,
  form: URLSearchParams,
  sendable: readonly Sendable[],
  problem?: Problem,
) {
  const me = await requireOwner(c)
  const [labels, known] = await Promise.all([
    me.db.many('owner_list_labels', {}, labelRow),
    me.db.many('owner_list_recipients', { listed_max: suggestedMax }, recipientRow),
  ])
  return sendPage(
    c,
    <Page
      c={c}
      title="Send"
      owner={me}
      lead="Send money from this account to anybody. You approve it on the next page."
    >
      {me.account.isFrozen && <FrozenAccountNotice />}
      {problem?.field === 'claim' && <Notice kind="danger">{problem.words}</Notice>}
      {sendable.length === 0 ? (
        <Nothing />
      ) : (
        !me.account.isFrozen && (
          <SendForm {...{ c, form, problem, sendable }} suggestions={suggested(labels, known)} />
        )
      )}
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

function Nothing() {
  return (
    <Section title="Nothing to send">
      <Empty>The account holds nothing yet, or its networks do not answer.</Empty>
      <div class="actions">
        <LinkButton to="/deposit" kind="main">
          Add money
        </LinkButton>
      </div>
    </Section>
  )
}

type SendFormProps = {
  c: PageContext
  form: URLSearchParams
  problem: Problem | undefined
  sendable: readonly Sendable[]
  suggestions: readonly Suggestion[]
}

function SendForm({ c, form, problem, sendable, suggestions }: SendFormProps) {
  const errorAt = (field: Field) => (problem?.field === field ? { error: problem.words } : {})
  return (
    <Form c={c}>
      <input type="hidden" name="claim" value={form.get('claim') ?? ''} />
      <Field
        name="recipient"
        label="To"
        hint="An address (0x…), or the alias of another account here."
        value={form.get('recipient') ?? ''}
        autocomplete="off"
        maxlength={320}
        suggestions={suggestions}
        required
        {...errorAt('recipient')}
      />
      <Select
        name="asset"
        label="From"
        choices={sendable.map(({ name, chain, token, atomic }) => ({
          value: name,
          label: `${forPeople(formatAmount(atomic, token.decimals))} ${token.symbol} on ${chain.title}`,
        }))}
        chosen={form.get('asset') ?? ''}
      />
      <Field
        name="amount"
        label="Amount"
        value={form.get('amount') ?? ''}
        inputmode="decimal"
        autocomplete="off"
        maxlength={40}
        {...errorAt('amount')}
      />
      <Checkbox name="all" label="Send all of it" checked={form.get('all') === 'yes'} />
      <Field
        name="note"
        label="Note for yourself (optional)"
        value={form.get('note') ?? ''}
        autocomplete="off"
        maxlength={noteCharactersMax}
      />
      <div class="actions">
        <Button>Continue</Button>
      </div>
    </Form>
  )
}
