/** One endpoint that invents or denies a transfer writes nothing into the books. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import type { Fetch } from '../../shared/world.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { sendAs, transferTopic } from '../support/deposits.ts'
import { alarmsOf, owned, passGrace, verdictsOn } from '../support/outflows.ts'
import { start, type TestWorld } from '../support/world.ts'

const filterSchema = z.object({
  fromBlock: z.string().optional(),
  toBlock: z.string().optional(),
  blockHash: z.string().optional(),
})
const callSchema = z.object({ id: z.int(), method: z.string(), params: z.array(z.unknown()) })
const bodySchema = z.union([z.array(callSchema), callSchema])
const answerSchema = z.looseObject({ id: z.int(), result: z.unknown() })
const answersSchema = z.union([z.array(answerSchema), answerSchema])
const blockSchema = z.object({ number: z.string(), hash: z.string() })
type Log = { blockNumber: string; blockHash: string }

/** Makes one endpoint return these logs instead of the chain's, whenever logs are requested. */
function lieAboutLogs(world: TestWorld, isLiar: (url: string) => boolean, logs: Log[]): void {
  const { fetch } = world.world
  const lying: Fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const body = typeof init?.body === 'string' ? init.body : ''
    if (!body.includes('eth_getLogs') || !isLiar(new Request(input).url)) return answer
    const calls = [bodySchema.parse(JSON.parse(body))].flat()
    const told = [answersSchema.parse(JSON.parse(await answer.text()))].flat().map((one) => {
      const call = calls.find(({ id }) => id === one.id)
      if (call?.method !== 'eth_getLogs') return one
      const { blockHash, fromBlock = '', toBlock = '' } = filterSchema.parse(call.params[0])
      const isAsked = (log: Log) =>
        blockHash === undefined
          ? Number(log.blockNumber) >= Number(fromBlock) &&
            Number(log.blockNumber) <= Number(toBlock)
          : log.blockHash === blockHash
      return { ...one, result: logs.filter(isAsked) }
    })
    return Response.json(calls.length === 1 ? told[0] : told)
  }
  world.world.fetch = lying
}

async function withTwoEndpoints() {
  const world = await start({ chain: true, endpoints: async (url) => [url, `${url}/?other`] })
  const { agent } = await owned(world, 10)
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x10']])
  await indexTransfers(world.world)
  return { world, agent }
}

test('a transfer that one of two endpoints invents is not booked, and alarms', async () => {
  const { world, agent } = await withTwoEndpoints()
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x1']])
  const [latest] = await callRpc(world.chain.rpcUrl, [['eth_getBlockByNumber', 'latest', false]])
  const block = blockSchema.parse(latest)
  const words = [agent.address, newKey().at].map((at) =>
    at.slice(2).toLowerCase().padStart(64, '0'),
  )
  const invented = {
    address: world.chain.usdc,
    topics: [transferTopic, ...words.map((word) => `0x${word}`)],
    data: `0x${(5_000_000).toString(16).padStart(64, '0')}`,
    logIndex: '0x0',
    transactionHash: `0x${'a'.repeat(64)}`,
    blockNumber: block.number,
    blockHash: block.hash,
  }
  lieAboutLogs(world, (url) => !url.includes('other'), [invented])

  await passGrace(world)

  expect(await verdictsOn(world, agent)).toEqual([])
  expect(world.log).toContainEqual(expect.objectContaining({ alarm: 'endpoints_disagree' }))
})

test('a transfer that one of two endpoints denies is told once both show it', async () => {
  const { world, agent } = await withTwoEndpoints()
  await sendAs(world, agent.address, transfer(newKey().at, 1_000_000n))
  let isDenied = true
  lieAboutLogs(world, (url) => isDenied && url.includes('other'), [])
  await passGrace(world)
  const denied = alarmsOf(world, agent)
  isDenied = false

  await passGrace(world)

  expect(denied).toEqual([])
  expect(alarmsOf(world, agent)).toEqual(['unexplained_outflow'])
})
