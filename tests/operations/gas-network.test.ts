/** Accounts that were opened from one network share what relayers carry for them. */
import { beforeEach, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { openBrowser } from '../support/browserless.ts'
import { elapse } from '../support/faults/chain.ts'
import { holdGasPayers } from '../support/faults/pair.ts'
import { limitGas, mine, transfers, transferTo } from '../support/gas.ts'
import { codeFor, confirm, requestCode } from '../support/sign-up.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const here = '203.0.113.7'
let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true, gasPayers: 4 })
  await limitGas(world, { callsPerDay: 2n })
})

/** Opens an account that can pay, as if it had signed up from this network just now. */
async function from(network: string): Promise<Agent> {
  const payer = await world.agent('pay', { usdc: 1000 })
  await world.db.sql`insert into private.sign_up_networks values (${payer.id}, ${network})`
  return payer
}

function fromHere(count: number): Promise<Agent[]> {
  return Promise.all(Array.from({ length: count }, () => from(here)))
}

async function settle() {
  await mine(world)
  await runHousekeeping(world.world)
}

test('20 accounts of one network, all at once, have three times what one has', async () => {
  const payers = await fromHere(20)

  const sent = await Promise.all(payers.map((payer) => transfers(world, payer, 2, '0.01')))

  const total = (what: string) => sent.reduce((sum, { counts }) => sum + (counts[what] ?? 0), 0)
  // Payers that waited too long for the others may come again, but are refused then too.
  const again = payers.map((payer) => transferTo(world, payer, 9, '0.01'))
  expect(total('submitted')).toBe(6)
  expect((await Promise.all(again)).map(({ body }) => body['error'])).toEqual(
    payers.map(() => 'relay_limit_reached'),
  )
})

test('accounts of one network are judged one after the other, and keep no other network waiting', async () => {
  const [held, next] = [await from(here), await from(here)]
  const other = await from('203.0.113.8')

  const { passed, waited } = await world.db.sql.begin(async (holder) => {
    await holder`select private.hold_sign_up_network(${held.id})`
    const passed = await transferTo(world, other, 1, '0.01')
    const waited = transferTo(world, next, 1, '0.01')
    const waiting = () => holder`select from pg_locks
      where locktype = 'advisory' and classid = 7323 and not granted`
    await expect.poll(async () => (await waiting()).length, { interval: 5 }).toBe(1)
    return { passed, waited }
  })

  expect([passed.status, (await waited).status]).toEqual([200, 200])
})

test('an account of another network, and one that the operator opened, have all of theirs', async () => {
  for (const payer of await fromHere(3)) await transfers(world, payer, 2, '0.01')
  const refused = await from(here)
  const others = [await from('203.0.113.8'), await world.agent('pay', { usdc: 1000 })]

  const over = await transferTo(world, refused, 1, '0.01')
  const sent = await Promise.all(others.map((payer) => transfers(world, payer, 2, '0.01')))

  expect(over).toMatchObject({
    status: 429,
    body: { error: 'relay_limit_reached', details: { left_calls: 0 } },
  })
  expect(sent.map(({ counts }) => counts)).toEqual([{ submitted: 2 }, { submitted: 2 }])
})

test('what is left of the network is told to each, and is free again after 24 hours', async () => {
  const [first, second, third, late] = await fromHere(4)
  if (!first || !second || !third || !late) throw new Error('four accounts')
  for (const payer of [first, second]) await transfers(world, payer, 2, '0.01')
  await transfers(world, third, 1, '0.01')

  const { body } = await late.get('/get-identity')
  await transferTo(world, third, 2, '0.01')
  const over = await transferTo(world, late, 1, '0.01')
  await settle()
  await elapse(world, 86_401)
  const later = await transferTo(world, late, 2, '0.01')

  expect(body['limits']).toMatchObject({ relayed_transfers: [{ calls_per_day: 2, calls_left: 1 }] })
  expect([over.status, later.status]).toEqual([429, 200])
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(86_000)
})

test('30 days after it was opened, an account shares nothing, and its network is forgotten', async () => {
  const old = await from(here)
  await settle()
  await elapse(world, 30 * 86_400)
  for (const payer of await fromHere(3)) await transfers(world, payer, 2, '0.01')

  const { counts } = await transfers(world, old, 2, '0.01')
  await runHousekeeping(world.world)

  expect(counts).toEqual({ submitted: 2 })
  const kept = await world.db.sql`
    select from private.sign_up_networks where account = ${old.id}`
  expect(kept).toHaveLength(0)
})

test('what never got into a transaction is given back to the network', async () => {
  await limitGas(world, { callsPerDay: 1n })
  const payers = await fromHere(4)
  const [, , , late] = payers
  if (!late) throw new Error('four accounts')
  await holdGasPayers(world)
  for (const payer of payers.slice(0, 3)) await transferTo(world, payer, 1, '1')
  const queued = await transferTo(world, late, 1, '1')
  await world.db.sql`update private.gas_payers set paused_for = 'a test'`
  await elapse(world, 1_000)
  await world.db.sql`update private.payments set state = 'released' where state = 'signed'`
  await world.db.sql`update private.gas_payers set paused_for = null`

  const later = await transferTo(world, late, 2, '1')

  expect([queued.status, later.status]).toEqual([429, 200])
})

test.each([
  ['an IPv4 address', here, [{ network: here }]],
  ['an address of IPv6', '2001:db8:7:7::9', [{ network: '2001:db8:7:7::/64' }]],
  ['no address that is known', 'direct', []],
])('the account of a sign-up from %s shares with its network', async (_, client, networks) => {
  const [email, headers] = ['visitor@example.com', { 'cf-connecting-ip': client }]
  await requestCode(world, email, headers)
  const { body } = await confirm(world, email, await codeFor(world, email), headers)
  const browser = openBrowser(world)
  await browser.visit(new URL(String(body['registration_url'])).pathname)

  await browser.submit({ alias: 'from-here', password: 'seven green kettles' })

  const rows = await world.db.sql`select n.network from private.sign_up_networks n
    join private.accounts a on a.id = n.account where a.alias = 'from-here'`
  expect([...rows]).toEqual(networks)
})
