/** Enters payments and asks for the facts of the decision. */
import * as z from 'zod'
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
import type { Entry } from './payments.ts'
import { awaitConfirmation, begin, noteHeard, readFacts } from './payments.ts'
import { confirmPolicy } from './policy.ts'
import type { Key, Payment } from './state.ts'
import { refusable } from './state.ts'
import { byAddress, factsWire, paymentWire } from './wire.ts'

/** Small amounts, and some that just fit a limit or just exceed it. */
const amountsUsd = [1n, 2n, 3n, 5n, 7n, 9n, 10n, 11n, 20n, 40n, 60n, 100n, 200n, 201n] as const
export const nobody = '00000000-0000-4000-8000-000000000000'

const noMerchant = { origin: null, resource: null, heard: false }

/** Draws a merchant and a resource from a few, so that they recur. */
export function drawMerchant(dice: Dice): Pick<Entry, 'origin' | 'resource' | 'heard'> {
  const host = dice.oneOf(hosts)
  const origin = `${host.includes(':') ? 'http' : 'https'}://${host}`
  const resource = dice.isLucky(90) ? `${dice.below(3)}`.repeat(64) : null
  return { origin, resource, heard: dice.isLucky(80) }
}

export function drawEntry(house: House, dice: Dice): Entry {
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

/** Returns the answer to an entry with its lanes in a fixed order. */
function enteredFrom(answer: ReturnType<typeof rowOf>) {
  const facts = fieldsOf(answer?.['facts'])
  const lanes = laneRows.parse(facts['lanes']).sort(byAddress)
  const mandates = rowsOf(facts['mandates']).map((mandate) => without('number', mandate))
  const { payees, assets, ...prices } = fieldsOf(facts['history'])
  const history = { ...prices, payees: sorted(payees), assets: sorted(assets) }
  const refused_ways = sorted(facts['refused_ways'])
  return { ...answer, facts: { ...facts, lanes, mandates, history, refused_ways } }
}

/** Sorts a list that has no order of its own. */
const sorted = (list: unknown) =>
  z
    .array(z.unknown())
    .parse(list)
    .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
const textOf = (value: unknown) => JSON.stringify(value)

async function enter(house: House, dice: Dice): Promise<void> {
  await enterAs(house, pickKey(house, dice), drawEntry(house, dice))
}

/** Enters a payment and returns it, unless the ledger refused it. */
export async function enterAs(
  house: House,
  key: Key,
  { seconds, atomic, usd, alias, origin, ...entry }: Entry,
): Promise<Payment | undefined> {
  const { credential } = key
  const answer = await ask(house, 'begin_payment', {
    credential,
    ...entry,
    keyed: entry.claim !== null,
    chain: house.twin.chain,
    amount_atomic: atomic.toString(),
    amount_usd_micros: usd.toString(),
    terms: origin === null ? {} : { origin },
    expires_in_seconds: seconds,
    payee_alias: alias,
  })
  const row = rowOf(answer)
  const id = String(fieldsOf(row?.['payment_row'])['id'])
  const entered = refusable(() => ({
    it: begin(house.twin, credential, id, { seconds, atomic, usd, alias, origin, ...entry }),
  }))
  if ('refused' in entered || !entered.it) {
    agree('begin_payment', answer, 'refused' in entered ? entered : [])
    return undefined
  }
  await confirmEntered(house, 'begin_payment', key, row, entered.it)
  return entered.it
}

async function confirmEntered(
  house: House,
  name: string,
  key: Key,
  row: ReturnType<typeof rowOf>,
  entered: Payment,
) {
  const { twin } = house
  agree(name, enteredFrom(row), {
    payment_row: paymentWire(twin, entered),
    facts: factsWire(twin, key, entered),
  })
  await confirmPolicy(twin, key, entered, row)
}

async function askFacts(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  const key = pickKey(house, dice, payment?.account)
  const { credential } = key
  const kind = dice.isLucky(95) ? (payment?.kind ?? 'x402') : 'x402'
  const asked = { kind, device: dice.oneOf(devices) }
  const id = payment?.id ?? nobody
  const answer = await ask(house, 'payment_facts', { credential, payment: id, ...asked })
  const found = refusable(() => ({ it: readFacts(house.twin, credential, { id, ...asked }) }))
  if ('refused' in found) return agree('payment_facts', answer, found)
  if (!found.it) return agree('payment_facts', answer, [])
  await confirmEntered(house, 'payment_facts', key, rowOf(answer), found.it)
}

async function wait(house: House, dice: Dice): Promise<void> {
  const prepared = house.twin.payments.filter(({ state }) => state === 'prepared')
  const recent = dice.isLucky(80) ? dice.anyOf(prepared.slice(-5)) : undefined
  const payment = recent ?? pickPayment(house, dice)
  const { credential } = pickKey(house, dice, payment?.account)
  const id = payment?.id ?? nobody
  const level = dice.oneOf(['agent_asserted', 'user_session', 'user_passkey'] as const)
  const question = { credential, payment: id, asked_level: level }
  const answer = await ask(house, 'await_confirmation', question)
  const told = refusable(() => {
    awaitConfirmation(house.twin, credential, id, level)
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

export const enteringOperations: readonly Operation[] = [
  { name: 'begin', weight: 14, run: enter },
  { name: 'facts', weight: 5, run: askFacts },
  { name: 'await', weight: 6, run: wait },
  { name: 'hear', weight: 2, run: hear },
]
