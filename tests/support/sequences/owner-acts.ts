/** Decisions of an owner in a session of its own, recorded as they were shown, and effects of time. */
import * as z from 'zod'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import type { Dice } from '../model/dice.ts'
import { paymentOf } from '../owner.ts'
import { askMandate, buy, call, nowOf, order, transferPath as path } from './agent-acts.ts'
import type { Account, Act } from './street.ts'

const micros = z.string().transform(BigInt)
const shownMandates = z.array(
  z.object({
    digest: z.string(),
    mandate_row: z.object({
      id: z.uuid(),
      merchant_domain: z.string(),
      include_subdomains: z.boolean(),
      max_payment_usd_micros: micros,
      max_day_usd_micros: micros.nullable(),
      max_total_usd_micros: micros.nullable(),
      max_payments: z.int().nullable(),
      pay_to: z.array(z.string()).nullable(),
      expires_at: z.coerce.date().transform(Number),
    }),
  }),
)
const outcomes = z.array(z.object({ outcome: z.string() }))

async function say(account: Account, name: Parameters<Account['owner']['call']>[0], args: object) {
  const answer = await account.owner.call(name, args)
  return outcomes.catch([]).parse(answer)[0]?.outcome
}

/** Requests a mandate as the agent, decides about it at once as the owner, and mostly uses it. */
async function giveMandate(account: Account, dice: Dice): Promise<void> {
  await askMandate(account, dice)
  await decideMandate(account, dice)
  if (dice.isLucky(70)) await buy(account, dice)
}

async function decideMandate(account: Account, dice: Dice): Promise<void> {
  const mandate = dice.anyOf(account.mandates.slice(-4))
  const rows = await account.owner.call('owner_read_mandate', { mandate: mandate ?? null })
  const [shown] = shownMandates.catch([]).parse(rows)
  if (!shown) return
  const { digest, mandate_row: row } = shown
  const decision = dice.isLucky(85) ? 'approved' : 'declined'
  const from = nowOf(account) - clockSlackMilliseconds
  const outcome = await say(account, 'owner_decide_mandate', { mandate: row.id, decision, digest })
  if (outcome !== 'approved' || account.book.mandates.has(row.id)) return
  account.book.mandates.set(row.id, {
    domain: row.merchant_domain,
    subdomains: row.include_subdomains,
    perPayment: row.max_payment_usd_micros,
    perDay: row.max_day_usd_micros,
    inAll: row.max_total_usd_micros,
    payments: row.max_payments,
    payTo: row.pay_to,
    from,
    until: row.expires_at,
  })
}

/** Tolerance in milliseconds: the clocks of a test's database and of its process are read separately. */
const clockSlackMilliseconds = 5

async function decideSome(account: Account, dice: Dice): Promise<void> {
  const asked = dice.isLucky(50) ? account.transfers : account.attempts
  const payment = dice.anyOf(asked.slice(-3))
  const decision = dice.isLucky(80) ? 'approved' : 'declined'
  if (payment !== undefined) await decidePayment(account, payment, decision)
}

async function decidePayment(
  account: Account,
  payment: string,
  decision: 'approved' | 'declined',
): Promise<void> {
  const {
    payee,
    amount_atomic,
    account: payer,
  } = await paymentOf(account.street.market.db, payment)
  if (payer !== account.agents[0].id) return
  const outcome = await account.owner.decide(payment, decision)
  if (outcome === 'approved') {
    account.book.payments.set(payment, { payee, atomic: amount_atomic })
  }
}

/** Approves a waiting payment, after which the agent continues it with the same or other terms. */
async function approveAndPay(account: Account, dice: Dice): Promise<void> {
  const asked = order(account, dice)
  await call(account, dice, path, asked)
  const transfer_id = account.transfers.at(-1)
  if (transfer_id === undefined) return
  await decidePayment(account, transfer_id, 'approved')
  const changed = dice.isLucky(30) ? order(account, dice) : asked
  await call(account, dice, path, { ...changed, transfer_id, user_confirmed: true })
}

/** Revokes a mandate and ends its note in the book. */
async function endMandate(account: Account, dice: Dice): Promise<void> {
  const [mandate, noted] = dice.anyOf([...account.book.mandates]) ?? []
  if (mandate === undefined || !noted) return
  await account.owner.call('owner_revoke_mandate', { mandate })
  noted.until = Math.min(noted.until, nowOf(account))
}

async function unfreeze(account: Account): Promise<void> {
  await account.owner.unfreeze()
}

export const ownerActs: readonly Act[] = [
  { name: 'give a mandate', weight: 7, run: giveMandate },
  { name: 'decide about a mandate', weight: 2, run: decideMandate },
  { name: 'decide about a payment', weight: 3, run: decideSome },
  { name: 'approve and pay', weight: 4, run: approveAndPay },
  { name: 'end a mandate', weight: 1, run: endMandate },
  { name: 'unfreeze', weight: 1, run: unfreeze },
]

const hourSeconds = 3_600

export const naturalActs: readonly Act[] = [
  {
    name: 'time',
    weight: 2,
    run: ({ street }, dice) => street.market.tick(dice.oneOf([30, 1, 9, 25]) * hourSeconds),
  },
  {
    name: 'housekeeping',
    weight: 4,
    run: ({ street }) => runHousekeeping(street.market.world),
  },
]
