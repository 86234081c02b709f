import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { planFrom } from '../../scripts/local/chain/rpc-proxy/plan.ts'
import { type RpcProxy, type Rule, startRpcProxy } from '../../scripts/local/chain/rpc-proxy.ts'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { broadcast } from '../../shared/chains/evm/rpc/broadcast.ts'
import { known, newKey, sign, transfer, worldOn } from '../support/chain-world.ts'

const { chain, usdc } = known('eip155:84532')
const mine = { id: 7, jsonrpc: '2.0', method: 'evm_mine', params: [] }
const blockSchema = z
  .object({ transactions: z.tuple([z.string()]) })
  .transform(({ transactions: [hash] }) => ({ hash }))
const head = { id: 8, jsonrpc: '2.0', method: 'eth_blockNumber', params: [] }

let local: LocalChain

beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
}, 30_000)

afterAll(() => local.stop())

async function proxied(...rules: Rule[]): Promise<RpcProxy> {
  const proxy = await startRpcProxy({ nodeUrl: local.rpcUrl, rules })
  onTestFinished(() => proxy.close())
  return proxy
}

/** Returns the status, or `cut` if the connection ended without an answer. */
async function post({ url }: { url: string }, body: unknown): Promise<number | 'cut'> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
    () => undefined,
  )
  return response?.status ?? 'cut'
}

async function blockNumber(url = local.rpcUrl): Promise<number> {
  return Number((await callRpc(url, [['eth_blockNumber']]))[0])
}

const faults: [Rule, number | 'cut', number][] = [
  [{ kind: 'drop' }, 'cut', 0],
  [{ kind: 'lose' }, 'cut', 1],
  [{ kind: 'status', status: 502 }, 502, 0],
  [{ kind: 'status', status: 429, acted: true }, 429, 1],
  [{ kind: 'duplicate' }, 200, 2],
]

test.each(faults)(
  '%o: answers as planned, and the node acted as often as planned',
  async (rule, seen, acted) => {
    const proxy = await proxied({ ...rule, methods: ['evm_mine'] })
    const before = await blockNumber()

    const answers = [
      await post(proxy, mine),
      await post(proxy, head),
      await post(proxy, [head, mine]),
    ]

    expect(answers).toEqual([seen, 200, seen])
    expect(await blockNumber()).toBe(before + 2 * acted)
    expect(proxy.faults[rule.kind]).toBe(2)
  },
)

test('without rules, and once they are taken back, it answers what the node answers', async () => {
  const proxy = await proxied({ kind: 'drop' })
  const lost = await post(proxy, head)
  proxy.set([])
  const calls = [
    ['eth_getBlockByNumber', 'latest', true],
    ['eth_chainId'],
    ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }],
  ] as const

  expect(lost).toBe('cut')
  expect(await callRpc(proxy.url, calls)).toEqual(await callRpc(local.rpcUrl, calls))
})

test('an answer that is held comes after one that was asked for later', async () => {
  const proxy = await proxied({ kind: 'hold', methods: ['eth_blockNumber'] })
  const order: string[] = []

  const late = post(proxy, head).then(() => order.push('first'))
  await expect.poll(() => proxy.requests()).toBe(1)
  const early = post(proxy, { ...head, method: 'eth_chainId' }).then(() => order.push('second'))
  await Promise.all([late, early])

  expect(order).toEqual(['second', 'first'])
})

test('one that lags knows nothing of the last blocks, under any tag', async () => {
  const [key, payee] = [newKey(), newKey().at]
  await fund(local, key.at, { weiAmount: 10n ** 18n, usdcAtomic: 5n })
  const order = { to: usdc.address, data: transfer(payee, 5n), nonce: 0 }
  const { raw, hash } = await sign(chain, key, order)
  await callRpc(local.rpcUrl, [['anvil_mine', '0x20']])
  await broadcast(worldOn({ [chain.caip2]: local.rpcUrl }), chain, raw)
  await callRpc(local.rpcUrl, [['anvil_mine', '0x5']])
  const proxy = await proxied({ kind: 'lag', blocks: 20 })
  const balance = `0x70a08231${payee.slice(2).toLowerCase().padStart(64, '0')}`
  const now = await blockNumber()
  const calls = [
    ['eth_getTransactionReceipt', hash],
    ['eth_getTransactionCount', key.at, 'pending'],
    ['eth_call', { to: usdc.address, data: balance }, 'latest'],
    ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', topics: [null, null, topic(payee)] }],
    ['eth_getBlockByNumber', `0x${now.toString(16)}`, false],
  ] as const

  const [receipt, count, held, logs, block] = await callRpc(proxy.url, calls)
  const [finalized] = await callRpc(proxy.url, [['eth_getBlockByNumber', 'finalized', false]])

  expect({ receipt, count, held: Number(held), logs, block }).toEqual({
    receipt: null,
    count: '0x0',
    held: 0,
    logs: [],
    block: null,
  })
  expect(finalized).toMatchObject({ number: `0x${(now - 28).toString(16)}` })
  expect(await blockNumber(proxy.url)).toBe(now - 20)
  proxy.set([{ kind: 'lag', blocks: 2 }])
  expect(await callRpc(proxy.url, calls)).toMatchObject([{ status: '0x1' }, '0x1', {}, [{}], null])
})

test('one that lies adds to counts and forgets receipts', async () => {
  const key = newKey()
  await fund(local, key.at, { usdcAtomic: 1n })
  const latest = await callRpc(local.rpcUrl, [['eth_getBlockByNumber', 'latest', false]])
  const { hash } = blockSchema.parse(latest[0])
  const proxy = await proxied({ kind: 'miscount', by: 3 }, { kind: 'no_receipts' })

  const answers = await callRpc(proxy.url, [
    ['eth_getTransactionCount', key.at, 'latest'],
    ['eth_getTransactionReceipt', hash],
    ['eth_getBlockByNumber', 'latest', false],
  ])

  expect(answers).toEqual(['0x3', null, ...latest])
})

test('what a rule strikes is fixed by the seed, whatever other traffic there is', () => {
  const rules: Rule[] = [
    { kind: 'lose', methods: ['a'], share: 0.3 },
    { kind: 'hold', share: 0.5 },
  ]
  const strikes = (seed: number, methods: string[]) => {
    const plan = planFrom(rules, seed)
    const struck = methods.map((method) => plan([method]).some(({ kind }) => kind === 'lose'))
    return struck.filter((_, at) => methods[at] === 'a')
  }
  const lone = Array.from({ length: 1_000 }, () => 'a')

  const struck = strikes(1, lone)

  expect(
    strikes(
      1,
      lone.flatMap((method) => ['b', method, 'c']),
    ),
  ).toEqual(struck)
  expect(strikes(2, lone)).not.toEqual(struck)
  expect(struck.filter(Boolean).length).toBeGreaterThan(250)
  expect(struck.filter(Boolean).length).toBeLessThan(350)
})

function topic(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
