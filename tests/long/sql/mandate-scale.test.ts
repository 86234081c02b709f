/**
 * Queries about mandates cost no more with more mandates or more payments under them. Cost is measured in
 * PostgreSQL blocks, and compared with passes over the account's payments.
 */
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../../shared/auth/api-key.ts'
import { costOf } from '../../support/cost.ts'
import { giveMandate } from '../../support/mandates.ts'
import { fingerprint, pepper, start, type TestWorld } from '../../support/world.ts'

const payments = 20_000
const mandates = 2_000

let world: TestWorld
let credential: string
let mandate: string

beforeAll(async () => {
  world = await start()
  const agent = await world.agent('pay')
  credential = await credentialOf(agent.key, pepper)
  mandate = (await giveMandate(world, agent)).id
  const { sql } = world.db
  await sql`
    insert into private.mandates (account, key, device, state, merchant_domain, include_subdomains,
      max_payment_usd_micros, max_total_usd_micros, expires_at, consent)
    select account, key, device, state, 'm' || n || '.example.com', false, 1, 1, expires_at, consent
      from private.mandates, generate_series(1, ${mandates}::integer) n where id = ${mandate}`
  await sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, mandate, expires_at, consent_level, authorized_at,
      valid_after, valid_before, tx_hash, block_hash, finality, settled_at)
    select k.account, k.id, ${fingerprint}, 'transfer', 'settled', 84532, w.address, w.address,
      w.address, 1000, 1000, ${mandate}, at, 'mandate', at, 0, 0, hash, hash, 'finalized', at
    from private.credentials k join private.wallets w on w.account = k.account,
      generate_series(1, ${payments}::integer) n,
      lateral (select private.clock() - n * interval '5 minutes' as at,
        '0x' || encode(sha256(n::text::bytea), 'hex') as hash) of_payment
    where k.digest = ${credential}`
  await sql`analyze private.payments, private.mandates, private.settled_sums`
})

function onePass(): Promise<number> {
  return costOf(
    world,
    `select sum(p.amount_usd_micros), count(*) from private.payments p
    where p.mandate = '${mandate}' and p.state = 'settled'`,
  )
}

test('a page of a statement costs a small part of a pass over its payments', async () => {
  const page = `select from api.list_mandate_payments('${credential}', '${mandate}', 21)`

  // The first call reads the catalog as well.
  await costOf(world, page)
  expect(await costOf(world, page)).toBeLessThan((await onePass()) / 10)
})

test('the exposure of a key under thousands of mandates costs a few passes', async () => {
  const exposure = await costOf(world, `select from api.account_exposure('${credential}')`)

  expect(exposure).toBeLessThan(10 * (await onePass()))
})

test('those that wait are found without looking up what the others have used', async () => {
  const list = await costOf(
    world,
    `select from api.list_mandates('${credential}', 21, status => 'pending_approval')`,
  )
  const looking = await costOf(world, 'select count(private.used_of(m)) from private.mandates m')

  expect(list).toBeLessThan(looking / 2)
})
