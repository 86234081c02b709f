/** Entering payments, asking for the facts, and custody's decision. */
import * as z from 'zod'
import { balanceOf, countOf, headOf } from './chain.ts'
import { claimFrom, claimWire, lanesSeen, transactionWire } from './claims.ts'
import { holdPayment } from './custody-work.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import {
  agree,
  ask,
  devices,
  hosts,
  pickKey,
  pickPayment,
  rowOf,
  strangers,
  tokens,
} from './house.ts'
import { fieldsOf, rowsOf, without } from './ledger.ts'
import { consentBehind, mandateWire } from './mandate-wire.ts'
import { carrying } from './mandates.ts'
import type { Asked, Entry } from './payments.ts'
import {
  authorize,
  awaitConfirmation,
  begin,
  leaseSeconds,
  noteHeard,
  readFacts,
} from './payments.ts'
import { confirmPolicy, fits } from './policy.ts'
import type { Key, Level, Payment } from './state.ts'
import { isUnused, refusable } from './state.ts'
import { byAddress, factsWire, paymentWire } from './wire.ts'

/** Small ones, and those that just fit a limit or just do not. */
const amountsUsd = [1n, 2n, 3n, 5n, 7n, 9n, 10n, 11n, 20n, 40n, 60n, 100n, 200n, 201n] as const
const nobody = '00000000-0000-4000-8000-000000000000'

const noMerchant = { origin: null, resource: null, heard: false }

/** Where it is shopped, and what for: few things, so that they are bought again. */
function drawMerchant(dice: Dice): Pick<Entry, 'origin' | 'resource' | 'heard'> {
  const host = dice.oneOf(hosts)
  const origin = `${host.includes(':') ? 'http' : 'https'}://${host}`
  const resource = dice.isLucky(90) ? `${dice.below(3)}`.repeat(64) : null
  return { origin, resource, heard: dice.isLucky(80) }
}

function drawEntry(house: House, dice: Dice): Entry {
  const token = dice.oneOf(tokens)
  const usd = dice.oneOf(amountsUsd) * 1_000_000n + BigInt(dice.below(2))
  const others = house.twin.accounts.map(({ alias }) => alias)
  const alias = dice.isLucky(60) ? (dice.anyOf(others) ?? null) : null
  const kind = dice.isLucky(60) ? 'transfer' : 'x402'
  return {
    kind,
    ...(kind === 'transfer' ? noMerchant : drawMerchant(dice)),
    device: dice.oneOf(devices),
    token,
    usd,
    atomic: token === tokens[0] ? usd : usd / 2n,
    seconds: 600,
    payee: alias === null ? dice.oneOf(strangers) : null,
    alias: alias !== null && dice.isLucky(3) ? 'nobody' : alias,
    claim: dice.isLucky(20) ? `00000000-0000-4000-8000-00000000000${dice.below(6)}` : null,
  }
}

const laneRows = z.array(z.looseObject({ address: z.string() }))

/** The answer of an entry, with its lanes in a fixed order. */
function enteredFrom(answer: ReturnType<typeof rowOf>) {
  const facts = fieldsOf(answer?.['facts'])
  const lanes = laneRows.parse(facts['lanes']).sort(byAddress)
  const mandates = rowsOf(facts['mandates']).map((mandate) => without('number', mandate))
  const { payees, assets, ...prices } = fieldsOf(facts['history'])
  const history = { ...prices, payees: sorted(payees), assets: sorted(assets) }
  return { ...answer, facts: { ...facts, lanes, mandates, history } }
}

/** A list that has no order. */
const sorted = (list: unknown) =>
  z
    .array(z.unknown())
    .parse(list)
    .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
const textOf = (value: unknown) => JSON.stringify(value)

async function enter(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const { seconds, atomic, usd, alias, origin, ...entry } = drawEntry(house, dice)
  const answer = await ask(house, 'begin_payment', {
    credential,
    ...entry,
    chain: house.twin.chain,
    amount_atomic: atomic.toString(),
    amount_usd_micros: usd.toString(),
    terms: origin === null ? {} : { origin },
    expires_in_seconds: seconds,
    payee_alias: alias,
  })
  const row = rowOf(answer)
  const id = String(fieldsOf(row?.['payment_row'])['id'])
  const entered = refusable(() =>
    begin(house.twin, credential, id, { seconds, atomic, usd, alias, origin, ...entry }),
  )
  if ('refused' in entered) return agree('begin_payment', answer, entered)
  confirmEntered(house, 'begin_payment', row, entered)
}

function confirmEntered(
  house: House,
  name: string,
  row: ReturnType<typeof rowOf>,
  entered: Payment,
) {
  const { twin } = house
  agree(name, enteredFrom(row), {
    payment_row: paymentWire(twin, entered),
    facts: factsWire(twin, entered),
  })
  confirmPolicy(twin, entered)
}

async function askFacts(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  const { credential } = pickKey(house, dice, payment?.account)
  const kind = dice.isLucky(95) ? (payment?.kind ?? 'x402') : 'x402'
  const asked = { kind, device: dice.oneOf(devices) }
  const id = payment?.id ?? nobody
  const answer = await ask(house, 'payment_facts', { credential, payment: id, ...asked })
  const found = refusable(() => ({ it: readFacts(house.twin, credential, { id, ...asked }) }))
  if ('refused' in found) return agree('payment_facts', answer, found)
  if (!found.it) return agree('payment_facts', answer, [])
  confirmEntered(house, 'payment_facts', rowOf(answer), found.it)
}

async function wait(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  const { credential } = pickKey(house, dice, payment?.account)
  const id = payment?.id ?? nobody
  const answer = await ask(house, 'await_confirmation', { credential, payment: id })
  const told = refusable(() => {
    awaitConfirmation(house.twin, credential, id)
    return [{ await_confirmation: true }]
  })
  agree('await_confirmation', answer, told)
}

async function hear(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  const { credential } = pickKey(house, dice, payment?.account)
  const id = payment?.id ?? nobody
  const answer = await ask(house, 'note_heard', { credential, payment: id })
  const told = refusable(() => [{ note_heard: noteHeard(house.twin, credential, id) }])
  agree('note_heard', answer, told)
}

/** What somebody asks of custody: mostly what was decided from true facts, sometimes not. */
const levels: readonly Level[] = ['none', 'agent_asserted', 'user_session', 'user_passkey']

function drawAsked(house: House, dice: Dice, payment: Payment | undefined): Asked {
  const { twin, chain } = house
  const fitting = levels.filter((level) => payment && fits(twin, payment, level))
  const covering = payment ? carrying(twin, payment) : []
  const mandate = dice.anyOf(dice.isLucky(90) ? covering : twin.mandates) ?? null
  const carried = mandate && dice.isLucky(60) ? ('mandate' as const) : dice.anyOf(fitting)
  const level = dice.isLucky(90) ? carried : undefined
  const version = payment?.account.version ?? 1
  const wallet = payment?.account.wallet ?? ''
  const isTransfer = payment?.kind === 'transfer'
  return {
    id: payment?.id ?? nobody,
    level: level ?? dice.anyOf([...levels, 'mandate' as const]) ?? 'none',
    mandate,
    version: dice.isLucky(97) ? version : version - 1,
    funds: payment && dice.isLucky(94) ? balanceOf(chain, wallet, payment.token) : 0n,
    seenBlock: headOf(chain),
    validBefore: twin.now + 600,
    gasFrom: isTransfer ? (dice.isLucky(75) ? 'relayer' : 'wallet') : null,
    walletNonce: dice.isLucky(90) ? countOf(chain, wallet) : 0,
    lanes: isTransfer ? lanesSeen(house, dice) : [],
  }
}

async function decideAndSign(house: House, dice: Dice): Promise<void> {
  const usable = house.twin.payments.filter((payment) => isUnused(payment))
  const payment = dice.isLucky(80) ? dice.anyOf(usable.slice(-5)) : pickPayment(house, dice)
  const key = pickKey(house, dice, payment?.account)
  const asked = drawAsked(house, dice, payment)
  await authorizeAs(house, key, asked, dice)
}

/** Custody's first step; its second, to store what it signed, is held in hand. */
export async function authorizeAs(house: House, key: Key, asked: Asked, dice: Dice) {
  const answer = await ask(house, 'custody_authorize', {
    credential: key.credential,
    payment: asked.id,
    consent_level: asked.level,
    facts_version: asked.version,
    funds_atomic: asked.funds.toString(),
    seen_block: asked.seenBlock,
    valid_after: 0,
    valid_before: asked.validBefore,
    lease_seconds: leaseSeconds,
    gas_from: asked.gasFrom,
    wallet_nonce: asked.walletNonce,
    lanes: asked.lanes,
    mandate: asked.mandate?.id ?? null,
  })
  const row = rowOf(answer)
  const told = claimFrom(row?.['claim'])
  const decided = refusable(() => authorize(house.twin, key.credential, asked, told))
  if ('refused' in decided) return agree('custody_authorize', answer, decided)
  const { outcome, first, payment, claim } = decided
  agree('custody_authorize', authorizedFrom(row), {
    outcome,
    first,
    payment_row: payment ? paymentWire(house.twin, payment) : null,
    wallet_envelope: payment ? {} : null,
    claim: claim ? claimWire(house, claim) : null,
    transaction: payment ? transactionWire(house, payment) : null,
    consent: payment ? consentBehind(payment) : null,
    mandate_row: payment?.mandate ? mandateWire(house.twin, payment.mandate) : null,
  })
  if (payment?.state === 'authorized' && first)
    await holdPayment(house, dice, payment, asked, claim)
}

/** What custody hears, without what only the ledger knows. */
function authorizedFrom(row: ReturnType<typeof rowOf>) {
  const { consent, mandate_row } = row ?? {}
  return { ...row, consent: without('id', consent), mandate_row: without('number', mandate_row) }
}

export const enteringOperations: readonly Operation[] = [
  { name: 'begin', weight: 14, run: enter },
  { name: 'facts', weight: 5, run: askFacts },
  { name: 'await', weight: 3, run: wait },
  { name: 'hear', weight: 2, run: hear },
  { name: 'authorize', weight: 18, run: decideAndSign },
]
