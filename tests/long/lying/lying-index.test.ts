/** One endpoint that hides or invents transfers freezes nobody, and no transfer is lost. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../../shared/payments/deposits/reconcile.ts'
import { newKey, transfer } from '../../support/chain-world.ts'
import { headOf, payAs, sendAs, transferTopic, useTopic } from '../../support/deposits.ts'
import { besideLiar, disagreement, received } from '../../support/faults/beside-liar.ts'
import { aheadBy, hiding, inventing } from '../../support/faults/liar.ts'
import { alarmsOf, feedOf, isFrozen, passGrace, verdictsOn } from '../../support/outflows.ts'
import { signedPayment } from '../../support/signed.ts'
import { type Agent, finalize, type TestWorld } from '../../support/world.ts'

const blockSchema = z.object({ number: z.string(), hash: z.string() })

/** Runs as housekeeping does: once to read, and once more when that reading is final. */
async function reconcile(world: TestWorld): Promise<void> {
  for (let run = 0; run < 2; run += 1) {
    await indexTransfers(world.world)
    await reconcileBalances(world.world, false)
    await finalize(world.chain)
  }
  await indexTransfers(world.world)
  await reconcileBalances(world.world, false)
}

async function settledPayment(world: TestWorld, agent: Agent): Promise<string> {
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)
  await agent.post('/transfer-status', { transfer_id: signed.paymentId })
  return signed.paymentId
}

/** Returns the log of an invented deposit in the newest block. */
async function inventedDeposit(world: TestWorld, { address }: Agent) {
  const [latest] = await callRpc(world.chain.rpcUrl, [['eth_getBlockByNumber', 'latest', false]])
  const { number, hash } = blockSchema.parse(latest)
  const words = [newKey().at, address].map((at) => at.slice(2).toLowerCase().padStart(64, '0'))
  return inventing({
    address: world.chain.usdc,
    topics: [transferTopic, ...words.map((word) => `0x${word}`)],
    data: `0x${(5_000).toString(16).padStart(64, '0')}`,
    logIndex: '0x99',
    transactionHash: `0x${'a'.repeat(64)}`,
    blockNumber: number,
    blockHash: hash,
  })
}

test('a use that one of two endpoints leaves out freezes nobody, and alarms', async () => {
  const { world, agent, liar } = await besideLiar()
  const payment = await settledPayment(world, agent)
  liar.tell(hiding(useTopic))
  await passGrace(world)
  const during = await isFrozen(world, agent)
  const told = [...world.log]
  liar.tell()

  await passGrace(world)

  expect([during, await isFrozen(world, agent)]).toEqual([false, false])
  expect(told).toContainEqual(disagreement)
  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment }])
})

test('what one of two endpoints hides is read again, and neither lost nor missed', async () => {
  const { world, agent, liar } = await besideLiar()
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  await sendAs(world, agent.address, transfer(newKey().at, 1_000_000n))
  liar.tell(hiding(transferTopic))
  await passGrace(world)
  const told = [...world.log]
  liar.tell()

  await passGrace(world)

  expect(told).toContainEqual(disagreement)
  expect(await feedOf(agent)).toContainEqual(received('finalized'))
  expect(alarmsOf(world, agent)).toEqual(['unexplained_outflow'])
})

test('while a final block is in dispute, newer deposits are shown as what is not final', async () => {
  const { world, agent, liar } = await besideLiar()
  await settledPayment(world, agent)
  liar.tell(hiding(useTopic))
  await passGrace(world)
  await payAs(world, newKey().at, agent.address, 2_000_000n)

  await indexTransfers(world.world)
  const during = await feedOf(agent)
  liar.tell()
  await passGrace(world)

  expect(during).toContainEqual(received('included'))
  expect(await feedOf(agent)).toContainEqual(received('finalized'))
})

test('of three endpoints two are believed, and the third holds nothing up', async () => {
  const { world, agent, liar } = await besideLiar({ endpoints: 3 })
  const payment = await settledPayment(world, agent)
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  liar.tell(hiding(transferTopic), aheadBy(100))

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment }])
  expect(await feedOf(agent)).toContainEqual(received('finalized'))
  expect(await isFrozen(world, agent)).toBe(false)
})

test('what is hidden before a balance is compared freezes nobody', async () => {
  const { world, agent, liar } = await besideLiar()
  await reconcile(world)
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)
  liar.tell(hiding(transferTopic))
  await world.tick(86_401)

  await reconcile(world)

  expect(await isFrozen(world, agent)).toBe(false)
  expect(world.log).toContainEqual(disagreement)
})

test('one invented deposit among many makes no wallet short', async () => {
  const { world, agent, liar } = await besideLiar()
  await reconcile(world)
  const payer = newKey().at
  for (let count = 0; count < 51; count += 1) await payAs(world, payer, agent.address, 10_000n)
  liar.tell(await inventedDeposit(world, agent))
  await world.tick(86_401)

  await reconcile(world)

  expect(await isFrozen(world, agent)).toBe(false)
  expect(world.log).toContainEqual(disagreement)
})

test('two endpoints are asked for final blocks once each, and nothing is asked twice', async () => {
  const { world } = await besideLiar()
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x400']])
  const final = (await headOf(world)) - 8
  const asked: string[] = []
  const { fetch } = world.world
  world.world.fetch = (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    const to = /"toBlock":"(0x[0-9a-f]+)"/.exec(body)?.[1]
    if (to !== undefined && Number(to) <= final) asked.push(`${new Request(input).url} ${to}`)
    return fetch(input, init)
  }

  await indexTransfers(world.world)

  expect(asked).toHaveLength(6)
  expect(new Set(asked).size).toBe(6)
})
