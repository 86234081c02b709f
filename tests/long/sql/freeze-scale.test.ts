/**
 * A freeze does no work that grows with each payment, whatever a leaked key bought before. The tests
 * measure its cost in PostgreSQL blocks, and compare it with passes over the account's payments.
 */
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../../shared/auth/api-key.ts'
import { costOf } from '../../support/cost.ts'
import { fingerprint, pepper, start, type TestWorld } from '../../support/world.ts'

const payments = 10_000

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

/** Returns the credential of a key with many purchases of this age and finality. */
async function buyer({ daysAgo, finality }: { daysAgo: number; finality: string }) {
  const agent = await world.agent('pay')
  const credential = await credentialOf(agent.key, pepper)
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_after,
      valid_before, tx_hash, block_hash, finality, settled_at)
    select k.account, k.id, ${fingerprint}, 'x402', ${finality === 'finalized' ? 'settled' : 'signed'}, 84532, w.address, w.address,
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

function onePass(account: string): Promise<number> {
  return costOf(
    world,
    `select sum(p.amount_usd_micros), count(distinct p.tx_hash)
    from private.payments p where p.account = '${account}'`,
  )
}

test('a freeze of what bought 10,000 times a moment ago costs a few passes', async () => {
  const { credential, account } = await buyer({ daysAgo: 0, finality: 'included' })
  const cost = await costOf(world, `select from api.freeze_account('${credential}', 10)`)

  expect(cost).toBeLessThan(10 * (await onePass(account)))
})

test('a freeze looks through nothing that is long over', async () => {
  const { credential, account } = await buyer({ daysAgo: 30, finality: 'finalized' })
  const cost = await costOf(world, `select from api.freeze_account('${credential}', 10)`)

  expect(cost).toBeLessThan((await onePass(account)) / 2)
})

test('a freeze costs the same however many answers of sites are kept', async () => {
  const cost = async (answers: number) => {
    const agent = await world.agent('vault')
    const credential = await credentialOf(agent.key, pepper)
    await world.db.sql`
      insert into private.idempotent_answers (account, holder, credential, operation, key,
        request_digest, claimed_until, status, body)
      select k.account, k.id, k.id, 'vault_use', n::text, 'x', private.clock(), 200, 'sealed'
      from private.credentials k, generate_series(1, ${answers}::integer) n
      where k.digest = ${credential}`
    return costOf(world, `select from api.freeze_account('${credential}', 10)`)
  }
  await cost(0)
  const once = await cost(0)

  expect(await cost(1_000)).toBeLessThan(2 * once)
})
