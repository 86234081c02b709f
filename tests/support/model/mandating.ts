/** Agents' actions on mandates: request, read and end them. */
import { mandateTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { randomUUID } from '../seed.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import {
  agree,
  ask,
  devices,
  hosts,
  pickKey,
  pickMandate,
  pickPayment,
  rowOf,
  strangers,
  tokens,
} from './house.ts'
import type { Answer } from './ledger.ts'
import { without } from './ledger.ts'
import { consentWire, mandateFacts, mandateWire } from './mandate-wire.ts'
import type { Wanted } from './mandates.ts'
import { askMandate, countedUnder, revokeMandate, statusOf } from './mandates.ts'
import type { Caps, Mandate, Payment } from './state.ts'
import { admit, refusable } from './state.ts'
import { paymentWire } from './wire.ts'

const usd = (amount: bigint) => amount * 1_000_000n
const paymentCaps = [usd(5n), usd(10n), usd(20n), usd(60n), usd(201n)] as const
const dayCaps = [null, null, usd(20n), usd(60n), usd(100n)] as const
const totalCaps = [null, null, usd(20n), usd(100n), usd(300n)] as const
const counts = [null, null, 1, 2, 3, 5] as const
const lives = [60, 300, 3_000, 3_000, 100_000, 100_000] as const
const domains = ['shop.example', 'shop.example', 'api.shop.example', 'localhost', ...hosts] as const

const drawCaps = (dice: Dice): Caps => ({
  payment: dice.oneOf(paymentCaps),
  day: dice.oneOf(dayCaps),
  total: dice.oneOf(totalCaps),
  payments: dice.oneOf(counts),
})

function drawWanted({ twin }: House, dice: Dice): Wanted {
  const payees = [...strangers, ...twin.accounts.map(({ wallet }) => wallet)]
  const pinned = payees.filter(() => dice.isLucky(40)).toSorted()
  const chains = dice.isLucky(80) ? [twin.chain] : [1, 10]
  return {
    device: dice.oneOf(devices),
    domain: dice.oneOf(domains),
    subdomains: dice.isLucky(40),
    caps: drawCaps(dice),
    ttl: dice.oneOf(lives),
    chains: dice.isLucky(70) ? null : chains,
    tokens: dice.isLucky(70) ? null : [dice.oneOf(tokens)],
    payTo: dice.isLucky(50) || pinned.length === 0 ? null : pinned,
  }
}

/** Converts caps to the arguments of the ledger. */
export const capsArgs = ({ payment, day, total, payments }: Caps) => ({
  max_payment_usd_micros: payment.toString(),
  max_day_usd_micros: day?.toString() ?? null,
  max_total_usd_micros: total?.toString() ?? null,
  max_payments: payments,
})

export const digestOfMandate = (mandate: Mandate) =>
  termsDigest(mandateTerms(mandateFacts(mandate)))

async function askOne(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const wanted = drawWanted(house, dice)
  const id = randomUUID()
  const answer = await ask(house, 'create_mandate', {
    credential,
    new_id: id,
    device: wanted.device,
    merchant_domain: wanted.domain,
    include_subdomains: wanted.subdomains,
    ...capsArgs(wanted.caps),
    ttl_seconds: wanted.ttl,
    chains: wanted.chains,
    tokens: wanted.tokens,
    pay_to: wanted.payTo,
  })
  const row = rowOf(answer)
  const asked = refusable(() => askMandate(house.twin, credential, id, wanted))
  if ('refused' in asked) return agree('create_mandate', answer, asked)
  const told = { ...row, mandate_row: without('number', row?.['mandate_row']) }
  const digest = await digestOfMandate(asked)
  agree('create_mandate', told, { mandate_row: mandateWire(house.twin, asked), digest })
}

/** Requests one mandate, or rarely more than an owner may have waiting at a time. */
async function askSome(house: House, dice: Dice): Promise<void> {
  const times = dice.isLucky(1) ? 25 : 1
  for (let time = 0; time < times; time += 1) await askOne(house, dice)
}

/** Returns rows of mandates without the fields that only the ledger knows. */
export function mandatesFrom(answer: Answer) {
  if (!Array.isArray(answer)) return answer
  return answer.map((row) => ({ ...row, mandate_row: without('number', row['mandate_row']) }))
}

const statuses = [null, 'active', 'expired', 'exhausted', 'pending_approval'] as const
const page = 4

async function listSome(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const { credential } = pickKey(house, dice)
  const status = dice.oneOf(statuses)
  const answer = await ask(house, 'list_mandates', { credential, page, status })
  const key = refusable(() => admit(twin, credential, 'read'))
  if ('refused' in key) return agree('list_mandates', answer, key)
  const found = twin.mandates.filter(
    (one) => one.account === key.account && (status === null || statusOf(twin, one) === status),
  )
  const newest = found.toReversed().slice(0, page)
  const wanted = newest.map(async (one) => {
    return { mandate_row: mandateWire(twin, one), digest: await digestOfMandate(one) }
  })
  agree('list_mandates', mandatesFrom(answer), await Promise.all(wanted))
}

async function readPayments(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const mandate = pickMandate(house, dice)
  if (!mandate) return
  const { credential } = pickKey(house, dice, mandate.account)
  const question = { credential, mandate: mandate.id, page }
  const answer = await ask(house, 'list_mandate_payments', question)
  const key = refusable(() => admit(twin, credential, 'read'))
  if ('refused' in key) return agree('list_mandate_payments', answer, key)
  const used = countedUnder(twin, mandate)
  const paid = twin.payments
    .filter((one) => one.mandate === mandate && one.account === key.account)
    .toSorted((a, b) => (b.authorizedAt ?? 0) - (a.authorizedAt ?? 0) || (a.id < b.id ? 1 : -1))
    .slice(0, page)
    .map((one) => ({
      payment_row: paymentWire(twin, one),
      counted_usd_micros: used.includes(one) ? one.usd.toString() : '0',
      paid_by: 'model',
    }))
  agree('list_mandate_payments', answer, paid)
}

async function findConsent(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const mandate = dice.isLucky(50) ? pickMandate(house, dice) : undefined
  const payment = mandate ? undefined : pickPayment(house, dice)
  const account = (mandate ?? payment)?.account
  const { credential } = pickKey(house, dice, account)
  const asked = { payment: payment?.id ?? null, mandate: mandate?.id ?? null }
  const answer = await ask(house, 'find_consent', { credential, ...asked })
  const key = refusable(() => admit(twin, credential, 'read'))
  if ('refused' in key) return agree('find_consent', answer, key)
  if (!account || key.account !== account) return agree('find_consent', answer, [])
  const row = rowOf(answer) ?? {}
  const told = {
    payment_row: row['payment_row'],
    mandate_row: without('number', row['mandate_row']),
    consent: without('id', row['consent']),
  }
  agree('find_consent', told, {
    payment_row: payment ? paymentWire(twin, payment) : null,
    mandate_row: mandate ? mandateWire(twin, mandate) : null,
    consent: consentWire(mandate ? mandate.consent : payment && approvalOf(payment)),
  })
}

const approvalOf = ({ approval }: Payment) =>
  approval?.decision === 'approved' ? approval.consent : null

async function revokeOne(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const mandate = pickMandate(house, dice)
  const { credential } = pickKey(house, dice, mandate?.account)
  if (!mandate || dice.isLucky(50)) return
  const answer = await ask(house, 'revoke_mandate', { credential, mandate: mandate.id })
  const revoked = refusable(() => {
    const { account } = admit(twin, credential, 'pay', true)
    const ended = revokeMandate(twin, account, mandate.id, 'agent')
    return ended ? [{ mandate_row: mandateWire(twin, ended) }] : []
  })
  agree('revoke_mandate', mandatesFrom(answer), revoked)
}

export const mandatingOperations: readonly Operation[] = [
  { name: 'ask mandate', weight: 4, run: askSome },
  { name: 'list mandates', weight: 1, run: listSome },
  { name: 'mandate payments', weight: 1, run: readPayments },
  { name: 'find consent', weight: 1, run: findConsent },
  { name: 'revoke mandate', weight: 1, run: revokeOne },
]
