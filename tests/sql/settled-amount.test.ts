/** Where a payee may take less than was authorized, limits count what it took, once that is known. */
import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const { db } = world
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const hash = `0x${'ab'.repeat(32)}`

async function authorized(amountAtomic: string, usdMicros: string) {
  const payer = await world.agent('pay')
  const [row] = await db.sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before)
    select account, id, 'device', 'x402', 'signed', 84532, ${payee}, ${payer.address}, ${payee},
      ${amountAtomic}, ${usdMicros}, private.clock(), 'none', private.clock(), 2000000000
    from private.credentials where account = ${payer.id} returning id`
  if (!row) throw new Error('no payment was entered')
  return { account: payer.id, id: row.id }
}

async function spent(account: string): Promise<string> {
  const [row] = await db.sql<{ total: string }[]>`
    select (private.spent(${account})).total::text as total`
  return row?.total ?? ''
}

function settle(id: string, settledAtomic: string | null, label = 'included') {
  return db.sql`select private.settle(${id}, ${hash}, 1, 'block', 0, ${label}, ${settledAtomic})`
}

test.each([
  ['40', '40', '40000', '40000'],
  ['40', '7', '40000', '7000'],
  ['3', '1', '10', '4'],
  ['40', '0', '40000', '0'],
  ['40', null, '40000', '40000'],
  ['9'.repeat(77), `1${'0'.repeat(76)}`, `${2n ** 62n}`, '461168601842738791'],
])(
  'of %s authorized %s taken: %s micro-USD count until that is final, then %s',
  async (amount, taken, whole, counted) => {
    const { account, id } = await authorized(amount, whole)
    const before = await spent(account)

    await settle(id, taken)
    const included = await spent(account)
    await settle(id, taken, 'finalized')

    expect([before, included, await spent(account)]).toEqual([whole, whole, counted])
  },
)

test('more than was authorized is never booked', async () => {
  const { id } = await authorized('40', '40000')

  await expect(settle(id, '41')).rejects.toThrow(/violates check constraint/)
})

test('a settlement that a reorganization took back counts whole again', async () => {
  const { account, id } = await authorized('40', '40000')
  await settle(id, '7')

  await db.sql`select private.unsettle(${id}, 'block')`

  expect(await spent(account)).toBe('40000')
})
