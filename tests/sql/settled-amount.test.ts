/** If a payee takes less than was authorized, limits count the smaller amount once it is known. */
import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const { db } = world
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const hashOf = (id: string) => `0x${id.replaceAll('-', '').padStart(64, '0')}`

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

function settle(id: string, settledAtomic: string | null, label = 'included', of = id) {
  return db.sql`select private.settle(${id}, ${hashOf(of)}, 1, 'block', 0, ${label}, ${settledAtomic})`
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

test('a final payment keeps its log, and another one that claims it has none and counts in full', async () => {
  const innocent = await authorized('40', '40000')
  const other = await authorized('40', '40000')
  await settle(innocent.id, '7', 'finalized')

  await settle(other.id, '7', 'included', innocent.id)
  await settle(innocent.id, '1')

  const rows = await db.sql`select log_index, settled_atomic::text as taken from private.payments
    where id in (${innocent.id}, ${other.id}) order by id = ${other.id}`
  expect([...rows]).toEqual([
    { log_index: 0, taken: '7' },
    { log_index: null, taken: null },
  ])
})

test('what left a wallet has its log, whichever account claimed that before', async () => {
  const [own, thief] = [await authorized('40', '40000'), await authorized('40', '40000')]
  const [chain, block] = [84532, `0x${'cd'.repeat(32)}`]
  await settle(thief.id, '40', 'finalized', own.id)
  await db.sql`insert into private.transfer_cursors values (${chain}, 0, 0, 9, 9, 9, ${block}, 9)`
  await db.sql`insert into private.outflows (chain, tx_hash, log_index, account, wallet, token,
      payee, amount_atomic, block_number, block_hash)
    select chain, ${hashOf(own.id)}, 0, account, wallet, token, payee, amount_atomic, 1, ${block}
    from private.payments where id = ${own.id}`

  await db.sql`select private.book_outflow(o, ${own.id}) from private.outflows o`

  const rows = await db.sql`select log_index from private.payments
    where id in (${own.id}, ${thief.id}) order by id = ${thief.id}`
  expect([...rows]).toEqual([{ log_index: 0 }, { log_index: null }])
})
