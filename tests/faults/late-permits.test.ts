/** Transfers to one payee that name no permit find theirs one after the other. */
import { beforeAll, expect, test } from 'vitest'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { headOf, sendAs } from '../support/deposits.ts'
import { node } from '../support/faults/chain.ts'
import { isFrozen, owned, passGrace, signedPermit, verdictsOn } from '../support/outflows.ts'
import type { TestWorld } from '../support/world.ts'
import { finalize, start } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
  await indexTransfers(world.world)
})

test('however many only the index finds, one run books them all', async () => {
  const { agent } = await owned(world)
  const payee = newKey().at
  await world.acquaint(agent, payee)
  const permits = []
  for (let count = 0; count < 5; count += 1) {
    permits.push(await signedPermit(world, agent, payee, count % 2 === 0 ? 'exact' : 'upto'))
    await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  }
  await passGrace(world)
  await world.db.sql`update private.payments set state = 'settled', finality = 'finalized',
    settled_at = private.clock(), checked_at = private.clock() where account = ${agent.id}`

  await world.tick(700)
  await indexTransfers(world.world)

  const verdicts = await verdictsOn(world, agent)
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(permits.map(() => 'booked'))
  expect(new Set(verdicts.map(({ payment }) => payment))).toEqual(new Set(permits))
  expect(await isFrozen(world, agent)).toBe(false)
})

test('a transfer that is judged late finds its permit, since later transfers wait for it', async () => {
  const { agent } = await owned(world)
  const payee = newKey().at
  const early = await signedPermit(world, agent, payee, 'exact')
  await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  const first = await headOf(world)
  await node(world, 'anvil_mine', '0x64')
  const late = await signedPermit(world, agent, payee)
  await sendAs(world, agent.address, transfer(payee, 5_000_000n))
  await world.db.sql`update private.payments set state = 'settled', finality = 'finalized',
    settled_at = private.clock(), checked_at = private.clock() where id = ${early}`
  await world.db.sql`update private.payments set state = 'settled', finality = 'finalized',
    authorized_block = ${first + 99}, settled_at = private.clock() where id = ${late}`
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.db.sql`update private.outflows set due_at = due_at + interval '10 minutes'
    where account = ${agent.id} and block_number = ${first}`

  for (let run = 0; run < 9; run += 1) await passGrace(world)

  const verdict = 'booked'
  expect(await verdictsOn(world, agent)).toEqual([
    { verdict, payment: early },
    { verdict, payment: late },
  ])
  expect(await isFrozen(world, agent)).toBe(false)
})

test('after the service was down, the watch looks before a transfer is given to a permit', async () => {
  const { agent } = await owned(world)
  const payee = newKey().at
  const unused = await signedPermit(world, agent, payee)
  const used = await signedPermit(world, agent, payee)
  await world.db
    .sql`update private.payments set amount_atomic = 6000000, amount_usd_micros = 6000000
    where id = ${used}`
  const hash = await sendAs(world, agent.address, transfer(payee, 3_000_000n))
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.tick(86_400)
  await indexTransfers(world.world)
  const before = await verdictsOn(world, agent)
  await world.db.sql`update private.payments set state = 'released', failure = 'ended unused'
    where id = ${unused}`
  await world.db.sql`update private.payments set state = 'settled', finality = 'finalized',
    tx_hash = ${hash}, settled_at = private.clock(), checked_at = private.clock() where id = ${used}`

  for (let run = 0; run < 9; run += 1) await passGrace(world)

  expect(before).toEqual([{ verdict: null, payment: null }])
  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment: used }])
  expect(await isFrozen(world, agent)).toBe(false)
})
