/** The service itself sends nothing that moves the money of a frozen account. */
import { expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import type { Fetch } from '../../shared/world.ts'
import { elapse, node, stopMining } from '../support/faults/chain.ts'
import { holdGasPayers, orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { type Agent, type Answer, start } from '../support/world.ts'

const world = await start({ chain: true })

const send = (payer: Agent, payee: Agent) => payer.post(transferPath, orderTo(payee))
const freeze = (payer: Agent) => payer.post('/account-freeze', {})

/** Runs some minutes of housekeeping, with blocks in between. */
async function goOn(): Promise<void> {
  for (let run = 0; run < 5; run += 1) {
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
    await elapse(world, 61)
  }
}

function namedIn({ body }: Answer): unknown[] {
  const lists: unknown = [body['may_settle'], body['stopped']]
  return [...JSON.stringify(lists).matchAll(/"payment_id":"([^"]+)"/g)].map(([, id]) => id)
}

/** Refuses every transaction at every endpoint; reads still work. */
const sendingNothing: Fetch = async (input, init) => {
  const body = await new Response(init?.body ?? null).text()
  if (body.includes('eth_sendRawTransaction')) return new Response('down', { status: 503 })
  return fetch(input, { ...init, body })
}

test('what endpoints did not take before a freeze is named, and not sent after it', async () => {
  const { payer, payee } = await acquainted(world)
  const cut = world.worker({ fetch: sendingNothing })
  const sent = await cut.post(payer, transferPath, orderTo(payee))

  const frozen = await freeze(payer)
  await goOn()

  expect(sent.body).toMatchObject({ status: 'submitted' })
  expect(frozen.body).toMatchObject({ may_settle: [{ why: 'in_transaction' }] })
  expect(namedIn(frozen)).toEqual([sent.body['transfer_id']])
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a call that went back to the queue is put into no slot after a freeze', async () => {
  const { payer, payee } = await acquainted(world)
  await stopMining(world)
  const sent = await send(payer, payee)
  await node(world, 'anvil_dropTransaction', sent.body['tx_hash'])
  await world.db.sql`update private.relay_calls set slot = null`
  await holdGasPayers(world)

  const frozen = await freeze(payer)
  await elapse(world, 6)
  await goOn()

  expect(namedIn(frozen)).toEqual([sent.body['transfer_id']])
  expect(await usdcOf(world, payee)).toBe(0n)
})

test("the wallet's own key signs nothing but an empty transaction after a freeze", async () => {
  const { payer, payee } = await acquainted(world)
  await world.db.sql`update private.gas_payers set paused_for = 'a test' where kind = 'relayer'`
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  await stopMining(world)
  const sent = await send(payer, payee)
  await node(world, 'anvil_dropTransaction', sent.body['tx_hash'])

  await freeze(payer)
  await elapse(world, 61)
  await goOn()

  const [count] = [await node(world, 'eth_getTransactionCount', payer.address, 'latest')]
  expect(count).toBe('0x1')
  expect(await usdcOf(world, payee)).toBe(0n)
  await world.db.sql`update private.gas_payers set paused_for = null`
})

test('a settlement that its block took back is named, and not brought again', async () => {
  const { payer, payee } = await acquainted(world)
  const sent = await send(payer, payee)
  const look = () => payer.post('/transfer-status', { transfer_id: sent.body['transfer_id'] })
  await expect.poll(look).toMatchObject({ body: { status: 'settled' } })
  await runHousekeeping(world.world)
  await node(world, 'anvil_reorg', 1, [])

  const frozen = await freeze(payer)
  await goOn()

  expect(frozen.body).toMatchObject({ may_settle: [{ why: 'in_block' }] })
  expect(namedIn(frozen)).toEqual([sent.body['transfer_id']])
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('of a batch the transfers of other accounts go on when one of them is frozen', async () => {
  const [one, other] = [await acquainted(world), await acquainted(world)]
  await holdGasPayers(world)
  await Promise.all([send(one.payer, one.payee), send(other.payer, other.payee)])
  await elapse(world, 6)
  const cut = world.worker({ fetch: sendingNothing })
  await runHousekeeping(cut.world)

  await freeze(one.payer)
  await goOn()

  expect(await usdcOf(world, one.payee)).toBe(0n)
  expect(await usdcOf(world, other.payee)).toBe(10_000_000n)
})
