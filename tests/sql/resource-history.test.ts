import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const resource = 'a'.repeat(64)

/** Inserts settled payments for a resource, a minute apart and each dearer than the one before. */
async function pay(account: string, count: number, firstMicros: number, of = resource) {
  await sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, resource, expires_at, consent_level, authorized_at,
      valid_before, tx_hash, block_hash, finality, settled_at)
    select k.account, k.id, 'a device', 'x402', 'settled', 84532, '0x' || repeat('1', 40), w.address,
      '0x' || lpad(n::text, 40, '0'), 1, ${firstMicros} + n, ${of}, private.clock(), 'none',
      private.clock(), 1, '0x' || repeat('0', 64), '0x' || repeat('0', 64), 'finalized',
      private.clock() + make_interval(mins => n)
    from private.credentials k join private.wallets w using (account), generate_series(1, ${count}) n
   where k.account = ${account}`
}

async function historyOf(account: string) {
  const [row] = await sql<{ history: { payees: string[]; [price: string]: unknown } }[]>`
    select private.resource_history(p) as history from private.payments p
     where p.account = ${account} and p.resource = ${resource} limit 1`
  return row?.history
}

test('the 20 that settled last are remembered of a resource, and no older one', async () => {
  const { id } = await world.agent('pay')
  await pay(id, 25, 100)

  const history = await historyOf(id)

  expect(history).toMatchObject({ highest_usd_micros: '125' })
  expect(history?.payees).toHaveLength(20)
})

test('what others paid, and what was paid for something else, is not remembered', async () => {
  const [own, other] = [await world.agent('pay'), await world.agent('pay')]
  await pay(own.id, 2, 100)
  await pay(own.id, 2, 900, 'b'.repeat(64))
  await pay(other.id, 2, 900)

  const history = await historyOf(own.id)

  expect(history).toMatchObject({ highest_usd_micros: '102' })
  expect(history?.payees).toHaveLength(2)
})
