/** Long, malformed answers of a node cost no more than reading their bytes. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { listen } from '../../../scripts/local/process/listen.ts'
import { placedLogs } from '../../../shared/chains/evm/rpc/logs.ts'
import { rpcFor } from '../../../shared/chains/evm/rpc/rpc.ts'
import { rpcReceiptSchema } from '../../../shared/chains/evm/use.ts'
import { findChain, listOf } from '../../../shared/chains/registry.ts'
import { worldOn } from '../../support/chain-world.ts'
import { atEnd } from '../../support/ending.ts'

const empty = Array.from({ length: 30_000 }, () => ({}))

test('a list is read as far as its first wrong element, and one that is too long not at all', () => {
  let looks = 0
  const never = z.custom<string>(() => {
    looks += 1
    return false
  })

  const wrong = listOf(never, 40_000).safeParse(empty)
  const long = listOf(never, 10).safeParse(empty)

  expect([wrong.success, long.success, looks]).toEqual([false, false, 1])
})

test.each([
  ['logs', placedLogs, empty],
  ['receipts', rpcReceiptSchema, { logs: empty }],
])('of %s in the wrong shape one thing is told for the list', (_, schema, answer) => {
  const { error } = schema.safeParse(answer)

  expect(error?.issues.length).toBeLessThan(10)
})

test('a batch with more answers than calls is none', async () => {
  const many = Array.from({ length: 50_000 }, (_, id) => ({ jsonrpc: '2.0', id, result: '0x1' }))
  const { url, close } = await listen(async () => Response.json(many))
  atEnd(close)
  const chain = findChain('eip155:84532')
  if (!chain) throw new Error('the chain is not known')
  const rpc = rpcFor(worldOn({ [chain.caip2]: url }), chain)

  const [answer] = await rpc.batch([
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_chainId', params: [] },
  ])

  expect(answer).toMatchObject({ failure: { kind: 'unreachable' } })
})
