/** What becomes of a payment when its place in a lane does not come to what was expected. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import type { House } from '../support/model/house.ts'
import { openHouse, tokens } from '../support/model/house.ts'
import type { Ledger, Row } from '../support/model/ledger.ts'
import { openLedger } from '../support/model/ledger.ts'

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
const gas = { max_fee_per_gas: '2', max_priority_fee_per_gas: '1' }

async function row(name: string, args: Row): Promise<Row> {
  const answer = await ledger.call(name, args)
  if (!Array.isArray(answer)) throw new Error(`${name}: ${answer.refused}`)
  return answer[0] ?? {}
}

const entered = z.object({ payment_row: z.object({ id: z.uuid() }) })
const claimed = z.object({ claim: z.object({ lease: z.uuid() }) })
const listed = z.object({ slot: z.int() })

/** A transfer whose transaction is stored, in a relayer's lane or the wallet's own. */
async function sent(gasFrom: 'relayer' | 'wallet') {
  const [payer] = house.twin.keys
  const [lane] = house.twin.lanes
  const credential = payer?.credential
  const usd = { amount_atomic: '5000000', amount_usd_micros: '5000000' }
  const terms = { kind: 'transfer', device: 'laptop', token: tokens[0], payee_alias: 'bob', ...usd }
  const order = { ...terms, chain: house.twin.chain, terms: {}, expires_in_seconds: 600 }
  const { payment_row } = entered.parse(await row('begin_payment', { credential, ...order }))
  const payment = payment_row.id
  const decision = { consent_level: 'none', facts_version: 1, funds_atomic: '5000000' }
  const validity = { seen_block: 1, valid_after: 0, valid_before: house.twin.now + 600 }
  const lanes = [{ address: lane?.address, mined_nonce: 0 }]
  const relay = { lease_seconds: 45, gas_from: gasFrom, wallet_nonce: 0, lanes }
  const asked = { credential, payment, ...decision, ...validity, ...relay }
  const { lease } = claimed.parse(await row('custody_authorize', asked)).claim
  const signed = { authorization_nonce: word('1'), signature: 'signed' }
  const transaction = { lease, calls: 1, tx_hash: first, raw: first, ...gas }
  const own = gasFrom === 'relayer' ? signed : {}
  await row('custody_record', { payment, ...own, ...transaction })
  const { slot } = listed.parse(await row('housekeeping_slots', { batch: 10 }))
  return { payment, slot }
}

async function stateOf(payment: string): Promise<Row | undefined> {
  const [found] = await ledger.query(
    'select state, tx_hash, block_hash from private.payments where id = $1',
    [payment],
  )
  return found
}

const placed = (hash: string, block: string) => ({
  tx_hash: hash,
  block_number: 7,
  block_hash: block,
  finality: 'included',
})

test("a wallet's own transfer ends with its place, also when it was booked in a block that is gone", async () => {
  const { payment, slot } = await sent('wallet')
  await row('housekeeping_settle', { payment, ...placed(first, word('c')), log_index: 0 })

  await row('housekeeping_requeue_slot', { slot, lost: true })

  expect(await stateOf(payment)).toMatchObject({ state: 'failed', block_hash: null })
})

test("a wallet's own transfer that is booked without a log in another block is open again, by the hash that stands there", async () => {
  const { payment, slot } = await sent('wallet')
  await row('housekeeping_settle', { payment, ...placed(first, word('c')), log_index: 0 })
  await row('custody_record_replacement', {
    slot,
    attempt: 2,
    tx_hash: second,
    raw: second,
    ...gas,
  })

  await row('housekeeping_book_slot', { slot, ...placed(second, word('d')), settled: [] })

  expect(await stateOf(payment)).toEqual({ state: 'signed', tx_hash: second, block_hash: null })
})

test('of several transactions of a place, a payment keeps the hash of the one that was mined', async () => {
  const { payment, slot } = await sent('wallet')
  const replacement = { slot, attempt: 2, tx_hash: second, raw: second, ...gas }
  await row('custody_record_replacement', replacement)

  await row('housekeeping_book_slot', { slot, ...placed(first, word('d')), settled: [] })

  expect(await stateOf(payment)).toMatchObject({ state: 'signed', tx_hash: first })
})

test('an authorization that is over is looked at, though its place is still open', async () => {
  const { payment } = await sent('relayer')
  await ledger.setClock(house.twin.now + 599)
  const before = await row('housekeeping_open', { batch: 10 })
  await ledger.setClock(house.twin.now + 600)

  const after = await row('housekeeping_open', { batch: 10 })

  expect(before).toEqual({})
  expect(after).toMatchObject({ payment_row: { id: payment } })
})
