/** Steps of agents that request and pay, of owners who decide, and of the chain. */
import { factsOf } from '../../../shared/payments/decide/decision-facts.ts'
import { paymentWithFactsRow } from '../../../shared/payments/payment-with-facts.ts'
import { decide } from '../../../shared/policy/decide.ts'
import { newDigest } from '../model/ledger.ts'
import { randomUUID } from '../seed.ts'
import { day } from './acts.ts'
import { askMandate, authorize, begin, mandateCaps, mandateSeconds } from './agent-questions.ts'
import type { Paying } from './paying.ts'
import { approvalOf, isPayable } from './paying.ts'
import { agentAt, lastOf } from './picking.ts'
import { perform } from './questions.ts'
import { readShown } from './rows.ts'
import type { Agent, Story } from './stage.ts'
import { ask, bookOf, devices, enter, payees, shopHost } from './stage.ts'
import type { StepOf } from './steps.ts'

const deviceAt = (place: number) => devices[place % devices.length] ?? devices[0]
const payeeAt = (place: number) => payees[place % payees.length] ?? payees[0]

export async function askToPay(story: Story, step: StepOf<'ask'>): Promise<void> {
  const agent = agentAt(story, step.agent)
  if (!agent) return
  const kind = step.isBought ? ('x402' as const) : ('transfer' as const)
  const order = {
    kind,
    device: deviceAt(step.device),
    payee: payeeAt(step.payee),
    micros: step.usd * 1_000_000,
  }
  const rows = await perform(story, begin(story, agent, order))
  if (!rows) return
  const { payment_row: payment } = paymentWithFactsRow.parse(rows[0])
  story.cast.payments.push(payment.id)
  const expiresAt = story.stage.now + day
  const host = step.isBought ? shopHost : null
  const asked = { ...order, id: payment.id, key: agent.id, host, expiresAt }
  enter(story, { do: 'ask', payment: asked })
  const waiting = { credential: agent.credential, payment: payment.id }
  await ask(story, 'await_confirmation', { ...waiting, asked_level: 'user_session' })
}

/** Continues a payment as the product does: reads the facts, decides, and asks custody to sign. */
export async function goOn(story: Story, step: StepOf<'go on'>): Promise<void> {
  const agent = agentAt(story, step.agent)
  const payment = lastOf(story.cast.payments, step.payment)
  if (!agent || !payment) return
  const device = deviceAt(step.device)
  const kind = story.acts.find((act) => act.do === 'ask' && act.payment.id === payment)
  const answer = await ask(story, 'payment_facts', {
    credential: agent.credential,
    payment,
    kind: kind?.do === 'ask' ? kind.payment.kind : 'transfer',
    device,
  })
  if (!Array.isArray(answer) || !answer[0]) return
  const entered = paymentWithFactsRow.parse(answer[0])
  const book = bookOf(story)
  // A payment that is approved or over keeps its requester.
  if (!approvalOf(book, payment) && isPayable(book, payment)) {
    enter(story, { do: 'take over', payment, key: agent.id, device })
  }
  const decision = decide(await factsOf(entered, step.word))
  if (decision.verdict !== 'allow') return
  const { consentLevel: level, mandateId = null } = decision
  await pay(story, agent, { payment, level, mandate: mandateId })
}

/** Asks custody to sign at a level whatever the policy decides, as a faulty worker would. */
export async function force(story: Story, step: StepOf<'force'>): Promise<void> {
  const agent = agentAt(story, step.agent)
  const payment = lastOf(story.cast.payments, step.payment)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!agent || !payment) return
  const isUnder = step.level === 'mandate'
  if (isUnder && !mandate) return
  await pay(story, agent, {
    payment,
    level: step.level,
    mandate: isUnder ? (mandate ?? null) : null,
  })
}

async function pay(story: Story, agent: Agent, paying: Omit<Paying, 'agent'>): Promise<void> {
  const { payment, level, mandate } = paying
  // Custody continues with a payment that it has signed already; that is no new payment.
  if (story.acts.some((act) => act.do === 'pay' && act.payment === payment)) return
  const shown = await readShown(story)
  const rows = await perform(story, authorize(story, shown, agent, paying))
  if (!rows) return
  enter(story, { do: 'pay', payment, by: agent.id, level, mandate })
  const [row] = await story.stage.ledger.query(
    'select authorized_at::text as at from private.payments where id = $1',
    [payment],
  )
  await ask(story, 'custody_record', {
    credential: agent.credential,
    payment,
    authorized_at: row?.['at'],
    authorization_nonce: `0x${newDigest()}`,
    signature: newDigest(),
  })
}

/** Records that the chain shows a payment, in this block or another, at this finality. */
export async function settle(story: Story, step: StepOf<'settle'>): Promise<void> {
  const payment = lastOf(story.cast.payments, step.payment)
  if (!payment) return
  const hash = `0x${payment.replaceAll('-', '').padStart(64, '0')}`
  const answer = await ask(story, 'housekeeping_note', {
    payment,
    tx_hash: hash,
    block_number: 7,
    block_hash: hash,
    log_index: 0,
    finality: step.label === 'finalized' ? 'safe' : step.label,
    settled_atomic: null,
  })
  if (!Array.isArray(answer) || !answer[0]) return
  enter(story, { do: 'settle', payment })
  if (step.label !== 'finalized') return
  await story.stage.ledger.query(
    "update private.payments set state = 'settled', finality = 'finalized' where id = $1",
    [payment],
  )
}

export async function unsettle(story: Story, step: StepOf<'unsettle'>): Promise<void> {
  const payment = lastOf(story.cast.payments, step.payment)
  if (!payment) return
  const hash = `0x${payment.replaceAll('-', '').padStart(64, '0')}`
  const answer = await ask(story, 'housekeeping_reorg', { payment, block_hash: hash })
  if (Array.isArray(answer) && answer[0]) enter(story, { do: 'unsettle', payment })
}

export async function release(story: Story, step: StepOf<'release'>): Promise<void> {
  const payment = lastOf(story.cast.payments, step.payment)
  if (!payment) return
  const rows = await story.stage.ledger.query(
    `update private.payments p set state = 'released', finality = null, failure = 'it ended unused'
      where p.id = $1 and p.state = 'signed' and private.end_of(p) <= private.clock()
     returning p.id`,
    [payment],
  )
  if (rows[0]) enter(story, { do: 'release', payment })
}

export async function askForMandate(story: Story, step: StepOf<'ask mandate'>): Promise<void> {
  const agent = agentAt(story, step.agent)
  if (!agent) return
  const id = randomUUID()
  const device = deviceAt(step.device)
  const payTo = step.payee === null ? null : payeeAt(step.payee)
  if (!(await perform(story, askMandate(story, agent, { id, device, payTo })))) return
  story.cast.mandates.push(id)
  const caps = { paymentMicros: mandateCaps.payment, totalMicros: mandateCaps.total }
  const expiresAt = story.stage.now + mandateSeconds
  const mandate = { id, key: agent.id, device, host: shopHost, payTo, ...caps, expiresAt }
  enter(story, { do: 'ask mandate', mandate })
}

export async function giveUpMandate(story: Story, step: StepOf<'give up mandate'>) {
  const agent = agentAt(story, step.agent)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!agent || !mandate) return
  const { credential } = agent
  const answer = await ask(story, 'revoke_mandate', { credential, mandate })
  if (Array.isArray(answer) && answer[0]) enter(story, { do: 'revoke mandate', mandate })
}
