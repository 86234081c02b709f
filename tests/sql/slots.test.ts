/** A payment ends correctly when its slot does not end as expected. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { type House, openHouse, tokens } from '../support/model/house.ts'
import { type Ledger, openLedger, type Row } from '../support/model/ledger.ts'

let ledger: Ledger
let house: House
beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger.close())
beforeEach(async () => {
  house = await openHouse(ledger)
})

const word = (digit: string) => `0x${digit.repeat(64)}`
const [first, second] = [word('a'), word('b')]
const gas = { max_fee_per_gas: '2', max_priority_fee_per_gas: '1', cost_wei: '100' }

async function row(name: string, args: Row): Promise<Row> {
  const answer = await ledger.call(name, args)
  if (!Array.isArray(answer)) throw new Error(`${name}: ${answer.refused}`)
  return answer[0] ?? {}
}

const entered = z.object({ payment_row: z.object({ id: z.uuid() }) })
const claimed = z.object({
  claim: z.object({ lease: z.uuid() }),
  payment_row: z.object({ authorized_at: z.string() }),
})
const claimOfQueue = z.object({ claim: z.object({ lease: z.uuid() }) })
const listed = z.object({ slot: z.int() })

/** Inserts a transfer with a stored transaction, in a slot of a relayer or of the wallet. */
async function sent(gasFrom: 'relayer' | 'wallet') {
  const [payer] = house.keys
  const [address] = house.gasPayers
  const credential = payer?.credential
  const usd = { amount_atomic: '5000000', amount_usd_micros: '5000000' }
  const terms = { kind: 'transfer', device: 'laptop', token: tokens[0], payee_alias: 'bob', ...usd }
  const order = { ...terms, chain: house.chain, terms: {}, expires_in_seconds: 600 }
  const { payment_row } = entered.parse(await row('begin_payment', { credential, ...order }))
  const payment = payment_row.id
  const decision = { consent_level: 'none', facts_version: 1, funds_atomic: '5000000' }
  const validity = { seen_block: 1, valid_after: 0, valid_before: house.now + 600 }
  const gas_payers = [{ address, mined_nonce: 0 }]
  const relay = { lease_seconds: 45, gas_from: gasFrom, wallet_nonce: 0, gas_payers }
  const wei = { wallet_wei: '100', cost_wei: gas.cost_wei }
  const asked = { credential, payment, ...decision, ...validity, ...relay, ...wei }
  const authorized = claimed.parse(await row('custody_authorize', asked))
  const { lease } = authorized.claim
  const { authorized_at } = authorized.payment_row
  const signed = { authorized_at, authorization_nonce: word('1'), signature: 'signed' }
  const transaction = { lease, calls: 1, tx_hash: first, raw: first, ...gas }
  const isOwn = gasFrom === 'wallet'
  await row('custody_record', { credential, payment, own: isOwn, ...signed, ...transaction })
  const { slot } = listed.parse(await row('housekeeping_slots', { batch: 10 }))
  return { payment, slot }
}

async function stateOf(payment: string): Promise<Row | undefined> {
  const [found] = await ledger.query(
    'select private.reported_state(p) as state, tx_hash, block_hash, finality from private.payments p where id = $1',
    [payment],
  )
  return found
}

/** Returns the second transaction of a slot, with the same transfer. */
const replacement = (slot: number, payment: string) => {
  const stored = { attempt: 2, tx_hash: second, raw: second, ...gas }
  return { slot, ...stored, carries: [payment] }
}

const placed = (hash: string, block: string) => ({
  tx_hash: hash,
  block_number: 7,
  block_hash: block,
  finality: 'included',
})

/** Claims the queued calls that a free relayer takes. */
const claimQueued = () =>
  row('custody_claim', {
    chain: house.chain,
    gas_payers: house.gasPayers.map((address) => ({ address, mined_nonce: 0 })),
  })

test("a wallet's own transfer whose slot is lost keeps its reservation and waits for its end, with no other gas payer", async () => {
  const { payment, slot } = await sent('wallet')

  await row('housekeeping_requeue_slot', { slot, lost: true })

  expect(await stateOf(payment)).toMatchObject({ state: 'signed', tx_hash: first })
  expect(await claimQueued()).toEqual({})
})

test("a relayed transfer whose slot is lost goes into another relayer's", async () => {
  const { payment, slot } = await sent('relayer')

  await row('housekeeping_requeue_slot', { slot, lost: true })

  expect(await claimQueued()).toMatchObject({ claim: { calls: [{ payment }] } })
})

test('of several transactions of a slot, a payment keeps the hash of the one that was mined', async () => {
  const { payment, slot } = await sent('wallet')
  await row('custody_record_replacement', replacement(slot, payment))

  await row('housekeeping_book_slot', {
    slot,
    ...placed(first, word('d')),
    settled: [],
    unpaid: [payment],
  })

  expect(await stateOf(payment)).toMatchObject({
    state: 'signed',
    tx_hash: first,
    finality: 'reverted',
  })
})

test("a wallet's slot that is not funded beside the open one is given to nobody", async () => {
  await sent('wallet')

  await expect(sent('wallet')).rejects.toThrow()
})

test('no transfer is kept in a replacement once its account is frozen', async () => {
  const { payment, slot } = await sent('relayer')
  await ledger.query(
    'update private.accounts set frozen_at = private.clock(), freezes = freezes + 1',
  )
  const bytes = { tx_hash: second, raw: second, ...gas }
  const replace = (carries: string[]) =>
    row('custody_record_replacement', { slot, attempt: 2, ...bytes, carries })

  const [full, empty] = [await replace([payment]), await replace([])]

  expect([full, empty]).toEqual([
    { custody_record_replacement: false },
    { custody_record_replacement: true },
  ])
})

test('a claimed transfer that settled leaves its claim when its account is frozen', async () => {
  const { payment, slot } = await sent('relayer')
  await row('housekeeping_requeue_slot', { slot, lost: true })
  const { claim } = claimOfQueue.parse(await claimQueued())
  const seen = { ...placed(first, word('c')), log_index: 0, settled_atomic: '5000000' }
  await row('housekeeping_note', { payment, ...seen })
  await row('freeze_account', { credential: house.keys[0]?.credential, listed_max: 10 })

  const { chain } = house
  const signed = { tx_hash: second, raw: second, ...gas }
  const kept = await row('custody_record_claim', {
    chain,
    gas_payers: [],
    calls: 1,
    ...claim,
    ...signed,
  })

  expect(kept).toEqual({ sent: false, queued: false })
})

test('a held slot is replaced by nothing after the last ordinary attempt too', async () => {
  const { slot } = await sent('relayer')
  const keep = (attempt: number) => {
    const hash = word(attempt.toString(16))
    const bytes = { tx_hash: hash, raw: hash, ...gas }
    return row('custody_record_replacement', { slot, attempt, ...bytes, carries: [] })
  }

  for (let attempt = 2; attempt <= 13; attempt += 1) await keep(attempt)

  const held = await ledger.query('select max(attempt) as last from private.relay_transactions')
  expect(held).toEqual([{ last: 13 }])
})

test('no call waits in a queue without its signature', async () => {
  const { payment } = await sent('relayer')
  const queue = ledger.query(
    'select private.queue_call(p, null) from private.payments p where p.id = $1',
    [payment],
  )

  await expect(queue).rejects.toThrow('null value in column "signature"')
})
