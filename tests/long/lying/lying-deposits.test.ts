/** An endpoint that is asked first and invents deposits in the newest block has no lasting effect. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { newKey } from '../../support/chain-world.ts'
import { depositsInFeed, payAs, reorg, transferTopic } from '../../support/deposits.ts'
import { besideLiar, received } from '../../support/faults/beside-liar.ts'
import { node } from '../../support/faults/chain.ts'
import { inventing, saying } from '../../support/faults/liar.ts'
import { feedOf } from '../../support/outflows.ts'
import { type Agent, finalize, type TestWorld } from '../../support/world.ts'

const blockSchema = z.object({ number: z.string(), hash: z.string() })
const logsSchema = z.array(z.looseObject({ topics: z.array(z.string()) }))
const rangeSchema = z.tuple([z.looseObject({ fromBlock: z.string(), toBlock: z.string() })])

type Place = { blockNumber: string; blockHash: string }

/** Mines a block without transactions and returns its place. */
async function newestPlace(world: TestWorld): Promise<Place> {
  await node(world, 'evm_mine')
  const read = await node(world, 'eth_getBlockByNumber', 'latest', false)
  const { number, hash } = blockSchema.parse(read)
  return { blockNumber: number, blockHash: hash }
}

const wordOf = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

async function settleIndex(world: TestWorld) {
  await finalize(world.chain)
  await indexTransfers(world.world)
}

/** Returns the chain's own log of the last deposit to a wallet. */
async function lastDeposit({ chain }: TestWorld, { address }: Agent) {
  const topics = [transferTopic, null, wordOf(address)]
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: chain.usdc, topics }
  const [read] = await callRpc(chain.rpcUrl, [['eth_getLogs', filter]])
  const log = logsSchema.parse(read).at(-1)
  if (!log) throw new Error('there is no deposit')
  return log
}

/** Returns the deposits of the feed that were never made. */
async function madeUp(world: TestWorld, agent: Agent): Promise<string[]> {
  return (await depositsInFeed(world, agent)).filter((hash) => hash.startsWith('0xdddd'))
}

/** Returns a lie: that block holds `count` deposits, each in a transaction of its own. */
function flooding({ chain }: TestWorld, { address }: Agent, count: number, place: Place) {
  const topics = [transferTopic, wordOf(newKey().at), wordOf(address)]
  const data = wordOf('0x4c4b40')
  const at = Number(place.blockNumber)
  const logs = Array.from({ length: count }, (_, index) => {
    const transactionHash = `0x${(at * 10_000 + index).toString(16).padStart(64, 'd')}`
    return {
      ...place,
      address: chain.usdc,
      topics,
      data,
      logIndex: `0x${index.toString(16)}`,
      transactionHash,
    }
  })
  return saying('eth_getLogs', (read, params) => {
    const [{ fromBlock, toBlock }] = rangeSchema.parse(params)
    return Number(fromBlock) <= at && at <= Number(toBlock) ? logs : read
  })
}

test('a final deposit stays where it is, wherever one endpoint shows it since', async () => {
  const { world, agent, liar } = await besideLiar()
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  await settleIndex(world)
  const own = await lastDeposit(world, agent)
  liar.tell(inventing({ ...own, ...(await newestPlace(world)) }))
  await indexTransfers(world.world)
  const during = await feedOf(agent)
  liar.tell()

  await settleIndex(world)

  expect(during).toContainEqual(received('finalized'))
  expect(await feedOf(agent)).toContainEqual(received('finalized'))
})

test('of deposits that were never made the feed keeps the newest ten', async () => {
  const { world, agent, liar } = await besideLiar()
  for (let run = 0; run < 2; run += 1) {
    liar.tell(flooding(world, agent, 40, await newestPlace(world)))
    await indexTransfers(world.world)
  }
  const during = await madeUp(world, agent)
  liar.tell()

  await settleIndex(world)

  const told = await madeUp(world, agent)
  const kept = await world.db.sql`select from private.deposits where reorged`

  expect(during).toHaveLength(80)
  expect([told.length, kept.length]).toEqual([10, 10])
})

/** Returns the number of a wallet's booked deposits above the final blocks. */
async function waitingFor({ db }: TestWorld, { id }: Agent): Promise<number> {
  const rows = await db.sql`select from private.deposits d
    join private.transfer_cursors c on c.chain = d.chain
    where d.account = ${id} and d.block_number > c.finalized_through`
  return rows.length
}

test('of one wallet at most 100 deposits wait to be final, however many are made up', async () => {
  const { world, agent, liar } = await besideLiar()
  const counts: number[] = []
  for (let run = 0; run < 3; run += 1) {
    liar.tell(flooding(world, agent, 150, await newestPlace(world)))
    await indexTransfers(world.world)
    counts.push(await waitingFor(world, agent))
  }

  expect(counts).toEqual([100, 100, 100])
  expect(await madeUp(world, agent)).toHaveLength(100)
})

test('what was made up in blocks that are read again is gone at once, but for the newest ten', async () => {
  const { world, agent, liar } = await besideLiar()
  const place = await newestPlace(world)
  liar.tell(flooding(world, agent, 60, place))
  await indexTransfers(world.world)
  const during = await waitingFor(world, agent)
  liar.tell()
  await reorg(world, 1)
  await indexTransfers(world.world)

  expect([during, await waitingFor(world, agent)]).toEqual([60, 10])
  expect(await madeUp(world, agent)).toHaveLength(10)
})

test('of one chain at most 5,000 wait, and one that is final is booked beyond any number', async () => {
  const { world, agent, liar } = await besideLiar()
  const other = await world.agent('read')
  const place = await newestPlace(world)
  await world.db.sql`insert into private.deposits (account, chain, tx_hash, wallet, token, sender,
      amount_atomic, nth, block_number, block_hash, log_index)
    select ${other.id}, ${world.chain.chainId}, '0x' || lpad(to_hex(n), 64, '0'), ${other.address},
      ${world.chain.usdc}, ${newKey().at}, 1, 1, ${Number(place.blockNumber) + 10_000},
      ${place.blockHash}, n from generate_series(1, 4990) n`
  liar.tell(flooding(world, agent, 40, place))
  await indexTransfers(world.world)
  const during = await waitingFor(world, agent)
  liar.tell()
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  await indexTransfers(world.world)
  const told = await feedOf(agent)

  await settleIndex(world)

  expect(during).toBe(10)
  expect(told).not.toContainEqual(received('included'))
  expect(await feedOf(agent)).toContainEqual(received('finalized'))
})
