/** Accounts share few relayers fairly when many calls wait, and a bad call does not stop the others. */
import { beforeEach, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import type { Fetch } from '../../shared/world.ts'
import { elapse } from '../support/faults/chain.ts'
import { holdGasPayers, onePair, pairs, transfer } from '../support/faults/pair.ts'
import { mine } from '../support/gas.ts'
import { usdcOf } from '../support/ledger.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true })
})

/** Queues `calls` signed transfers of an account. */
async function queue({ id, address }: Agent, calls: number): Promise<void> {
  await world.db.sql`
      insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
        amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_after,
        valid_before, leased_until, authorization_nonce, signature)
      select ${id}, k.id, 'd', 'transfer', 'signed', 84532, ${world.chain.usdc}, ${address},
        ${world.chain.usdc}, 1, 1, private.clock(), 'none', private.clock(), 0,
        extract(epoch from private.clock())::bigint + 600, private.clock(),
        '0x' || encode(sha256(gen_random_uuid()::text::bytea), 'hex'), '0x'
      from private.credentials k, generate_series(1, ${calls}) where k.account = ${id}`
  await world.db.sql`
    select private.queue_call(p, '0x') from private.payments p
     where p.account = ${id} order by p.id`
}

/** Returns the number of an account's calls in each of the next transactions. */
async function nextClaims(agent: Agent, count: number): Promise<number[]> {
  const [gasPayer] = await world.db.sql<
    { address: string }[]
  >`select address from private.gas_payers`
  const seen = [{ address: gasPayer?.address, mined_nonce: 0 }]
  const carried: number[] = []
  for (let claim = 0; claim < count; claim += 1) {
    const [row] = await world.db.sql<{ mine: number }[]>`
      select (select count(*)::integer from jsonb_array_elements(c.calls) e
        where e ->> 'from' = ${agent.address}) as mine
      from private.claim_gas_payer(84532, ${JSON.stringify(seen)}::text::jsonb, false) c`
    carried.push(row?.mine ?? 0)
    await world.db.sql`update private.gas_payers set lease = null, leased_until = null`
  }
  return carried
}

test('an account with 1,000 calls in the queue delays another by no transaction', async () => {
  const [many, one] = [await world.agent('pay'), await world.agent('pay')]
  await queue(many, 1_000)
  await queue(one, 1)

  expect(await nextClaims(one, 2)).toEqual([1, 0])
})

test('of two long queues each transaction carries half, whichever was first', async () => {
  const [first, second] = [await world.agent('pay'), await world.agent('pay')]
  await queue(first, 100)
  await nextClaims(first, 2)
  await queue(second, 100)

  const shares = await nextClaims(second, 4)

  expect(shares.every((share) => share >= 12 && share <= 13)).toBe(true)
})

test('who comes to thirty long queues waits for two transactions at most, also the second time', async () => {
  for (let at = 0; at < 30; at += 1) await queue(await world.agent('pay'), 20)
  const late = await world.agent('pay')
  const waits: number[] = []

  for (let time = 0; time < 3; time += 1) {
    await queue(late, 1)
    waits.push((await nextClaims(late, 3)).indexOf(1))
  }

  expect(waits.every((wait) => wait === 0 || wait === 1)).toBe(true)
})

test('a call that no token could read is set aside with an alarm, and the others are paid', async () => {
  const all = await pairs(world, 4)
  await holdGasPayers(world)
  for (const pair of all) await transfer(world.worker(), pair)
  const [bad, ...good] = all
  await world.db.sql`update private.relay_calls set signature = 'spoilt'
    where account = ${bad?.payer.id ?? ''}`
  await elapse(world, 6)

  await runHousekeeping(world.world)
  await mine(world)

  expect(await Promise.all(good.map(({ payee }) => usdcOf(world, payee)))).toEqual(
    good.map(() => 10_000_000n),
  )
  const refused = await world.db.sql`select account from private.relay_calls where refused`
  expect(refused).toEqual([{ account: bad?.payer.id }])
  expect(world.log.filter(({ alarm }) => alarm === 'call_refused')).toHaveLength(1)
})

test('where nothing but bad calls wait, the relayer is free for the next transfer', async () => {
  const bad = await onePair(world)
  await holdGasPayers(world)
  await transfer(world.worker(), bad)
  await world.db.sql`update private.relay_calls set signature = 'spoilt'`
  await elapse(world, 6)
  await runHousekeeping(world.world)

  const next = await onePair(world)
  const sent = await transfer(world.worker(), next)

  expect(sent.body['status']).toBe('submitted')
  expect(sent.body['tx_hash']).toMatch(/^0x/)
})

test('a transfer is answered once its own transaction is sent, however many others are relayed', async () => {
  const others = await pairs(world, 26)
  await holdGasPayers(world)
  for (const pair of others) await transfer(world.worker(), pair)
  await elapse(world, 6)
  let sent = 0
  const never = new Promise<Response>(() => {})
  const fetchOnce: Fetch = (input, init) => {
    const asked = init?.body
    const isSending = typeof asked === 'string' && asked.includes('eth_sendRawTransaction')
    if (isSending) sent += 1
    return isSending && sent > 1 ? never : fetch(input, init)
  }

  const own = await onePair(world)
  const answer = await transfer(world.worker({ fetch: fetchOnce }), own)

  expect(answer.body['status']).toBe('submitted')
  await expect.poll(() => sent).toBe(2)
  for (let run = 0; run < 3; run += 1) {
    await elapse(world, 61)
    await runHousekeeping(world.world)
    await mine(world)
  }
  const received = await Promise.all([own, ...others].map(({ payee }) => usdcOf(world, payee)))
  expect(new Set(received)).toEqual(new Set([10_000_000n]))
})
