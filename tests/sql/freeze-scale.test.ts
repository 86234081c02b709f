/**
 * A freeze waits for no work that grows with each payment, whatever a leaked key bought before. Its cost is
 * told in passes over the account's payments, which the same machine makes in the same run.
 */
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { TestWorld } from '../support/world.ts'
import { fingerprint, pepper, start } from '../support/world.ts'

const payments = 10_000

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

/** The credential of a key that bought so much, each purchase that many days ago and that final. */
async function buyer({ daysAgo, finality }: { daysAgo: number; finality: string }) {
  const agent = await world.agent('pay')
  const credential = await credentialOf(agent.key, pepper)
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_after,
      valid_before, tx_hash, block_hash, finality, settled_at)
    select k.account, k.id, ${fingerprint}, 'x402', 'settled', 84532, w.address, w.address,
      w.address, 1000, 1000, at, 'none', at, 0, extract(epoch from at)::bigint + 60, hash, hash,
      ${finality}, at
    from private.credentials k join private.wallets w on w.account = k.account,
      generate_series(1, ${payments}::integer) n,
      lateral (select private.clock() - ${daysAgo} * interval '1 day' - n * interval '1 second' as at,
        '0x' || encode(sha256((k.id || '-' || n)::bytea), 'hex') as hash) of_payment
    where k.digest = ${credential}`
  await world.db.sql`analyze private.payments`
  return { credential, account: agent.id }
}

const undone = new Error('undone')

/** Milliseconds, the least of three; each is taken back. */
async function costOf(query: string): Promise<number> {
  const costs: number[] = []
  for (let time = 0; time < 3; time += 1) {
    const taken = world.db.sql.begin(async (sql) => {
      const begun = performance.now()
      await sql.unsafe(query)
      costs.push(performance.now() - begun)
      throw undone
    })
    await expect(taken).rejects.toBe(undone)
  }
  return Math.min(...costs)
}

function onePass(account: string): Promise<number> {
  return costOf(`select sum(p.counted_usd_micros), count(distinct p.tx_hash)
    from private.payments p where p.account = '${account}'`)
}

test('a freeze of what bought 10,000 times a moment ago costs a few passes', async () => {
  const { credential, account } = await buyer({ daysAgo: 0, finality: 'included' })
  const cost = await costOf(`select from api.freeze_account('${credential}', 10)`)

  expect(cost).toBeLessThan(10 * (await onePass(account)))
})

test('a freeze looks through nothing that is long over', async () => {
  const { credential, account } = await buyer({ daysAgo: 30, finality: 'finalized' })
  const cost = await costOf(`select from api.freeze_account('${credential}', 10)`)

  expect(cost).toBeLessThan((await onePass(account)) / 2)
})
