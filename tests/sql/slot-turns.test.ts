/** Housekeeping looks first at the slots that waited longest, when one run cannot take them all. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openHouse } from '../support/model/house.ts'
import { type Ledger, openLedger } from '../support/model/ledger.ts'

let ledger: Ledger
beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger.close())

const gasPayer = (digit: string) => `0x${digit.repeat(40)}`
const [busy, quiet, relayer] = [gasPayer('a'), gasPayer('b'), gasPayer('c')]
const batch = 10
const told = z.array(z.object({ gas_payer: z.string(), nonce: z.int() }))

/** Inserts a gas payer with `count` slots that no run has looked at lately. */
async function openSlots(address: string, kind: string, count: number): Promise<void> {
  await ledger.query(`insert into private.gas_payers (chain, address, kind, next_nonce)
    values (84532, '${address}', '${kind}', ${count})`)
  await ledger.query(`insert into private.relay_slots (chain, gas_payer, nonce, checked_at)
    select 84532, '${address}', n, private.clock() - interval '1 minute' from generate_series(0, ${count - 1}) n`)
}

const look = async () => told.parse(await ledger.call('housekeeping_slots', { batch }))

test('hundreds of slots of one wallet keep nobody else waiting', async () => {
  await openHouse(ledger)
  await openSlots(busy, 'wallet', 300)
  await openSlots(quiet, 'wallet', 1)
  await openSlots(relayer, 'relayer', 3)

  const first = await look()
  const second = await look()

  const gasPayersOf = (slots: typeof first) => slots.map((slot) => slot.gas_payer)
  expect(gasPayersOf(first).filter((one) => one === relayer)).toHaveLength(3)
  expect(gasPayersOf(first)).toContain(quiet)
  expect(first.filter((one) => one.gas_payer === busy)).toHaveLength(batch - 4)
  const again = second.filter((one) => first.some((before) => before.nonce === one.nonce))
  expect(again.filter((one) => one.gas_payer === busy)).toEqual([])
})

test("a relayer's mined slot that the chain does not count is looked at as often as its open ones", async () => {
  await openHouse(ledger)
  await openSlots(relayer, 'relayer', 30)
  await ledger.query(`update private.relay_slots set state = 'mined', block_number = 1,
    block_hash = '0x${'1'.repeat(64)}', checked_at = private.clock() where nonce = 0`)

  const seen = []
  for (let run = 0; run < 4; run += 1) seen.push(...(await look()))

  expect(seen.map(({ nonce }) => nonce)).toContain(0)
})
