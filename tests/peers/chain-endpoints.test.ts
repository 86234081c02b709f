import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { type RpcProxy, type Rule, startRpcProxy } from '../../scripts/local/chain/rpc-proxy.ts'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { readBalances } from '../../shared/chains/evm/funds.ts'
import { readGasPayers } from '../../shared/chains/evm/gas-payers.ts'
import { broadcast } from '../../shared/chains/evm/rpc/broadcast.ts'
import { isBlockReplaced, readReceipts, readUse } from '../../shared/chains/evm/use.ts'
import {
  authorize,
  type CountingWorld,
  known,
  minedTogether,
  newKey,
  nonceOf,
  sign,
  transfer,
  worldOn,
} from '../support/chain-world.ts'

const { chain, usdc } = known('eip155:84532')

let local: LocalChain
let first: RpcProxy
let second: RpcProxy
let world: CountingWorld

beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  await callRpc(local.rpcUrl, [['anvil_mine', '0x20']])
}, 30_000)

afterAll(() => local.stop())

beforeEach(async () => {
  const nodeUrl = local.rpcUrl
  const proxies = await Promise.all([startRpcProxy({ nodeUrl }), startRpcProxy({ nodeUrl })])
  ;[first, second] = proxies
  world = worldOn({ [chain.caip2]: [first.url, second.url] })
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()))
  })
})

async function funded() {
  const key = newKey()
  await fund(local, key.at, { weiAmount: 10n ** 18n, usdcAtomic: 100n })
  return key
}

/** Returns a signed transfer of 100 atomic units. */
async function signedTransfer() {
  const [payer, payee] = [await funded(), newKey().at]
  const data = transfer(payee, 100n)
  const signed = await sign(chain, payer, { to: usdc.address, data, nonce: 0 })
  return { ...signed, payer }
}

function mined<Value>(run: () => Promise<Value>) {
  return minedTogether(local.rpcUrl, run)
}

const outages: Rule[] = [
  { kind: 'drop' },
  { kind: 'status', status: 502 },
  { kind: 'status', status: 429, retryAfterSeconds: 1 },
]

test('with one endpoint out balances are read from the other, and bytes reach the chain', async () => {
  for (const outage of outages) {
    first.set([outage])
    const { raw, hash, payer } = await signedTransfer()

    const held = await readBalances(world, chain, { address: payer.at, tokens: [usdc] })
    const sent = await mined(() => broadcast(world, chain, raw))
    const receipt = (await readReceipts(world, chain, [hash])).get(hash)

    expect(held).toMatchObject({ status: 'ok', tokens: [{ amountAtomic: 100n }] })
    expect([sent.outcome, receipt?.status]).toEqual(['accepted', 1n])
    expect([...world.endpointHealth.keys()]).toEqual([first.url])
  }
})

test('an endpoint that limits reads is set aside for them, and still takes bytes', async () => {
  const { raw, payer } = await signedTransfer()
  first.set([{ kind: 'status', status: 429, methods: ['eth_call'] }])
  second.set([{ kind: 'drop', methods: ['eth_sendRawTransaction'] }])

  const held = await readBalances(world, chain, { address: payer.at, tokens: [usdc] })
  const sent = await mined(() => broadcast(world, chain, raw))

  expect(held.status).toBe('ok')
  expect(sent.outcome).toBe('accepted')
})

test('refusals of a transaction set no endpoint aside', async () => {
  const { raw, payer } = await signedTransfer()
  const rich = { to: usdc.address, data: transfer(payer.at, 1n), nonce: 0 }
  const poor = await sign(chain, newKey(), rich)
  await mined(() => broadcast(world, chain, raw))

  const outcomes = []
  for (const bytes of [raw, poor.raw, '0x02ff'] as const) {
    outcomes.push((await broadcast(world, chain, bytes)).outcome)
  }

  expect(outcomes).toEqual(['nonce_used', 'unfunded', 'refused'])
  expect(world.endpointHealth.size).toBe(0)
})

test('what both endpoints took is unknown while both answers are lost, and is on the chain', async () => {
  const { raw, hash } = await signedTransfer()
  for (const proxy of [first, second]) {
    proxy.set([{ kind: 'lose', methods: ['eth_sendRawTransaction'] }])
  }

  const sent = await mined(() => broadcast(world, chain, raw))

  expect(sent.outcome).toBe('unreachable')
  expect([first.faults.lose, second.faults.lose]).toEqual([1, 1])
  expect((await readReceipts(world, chain, [hash])).get(hash)?.status).toBe(1n)
})

test('a payment that one endpoint does not know yet is proven by the other', async () => {
  const { raw, hash } = await signedTransfer()
  await mined(() => broadcast(world, chain, raw))
  const look = async () => (await readReceipts(world, chain, [hash])).get(hash)
  const receipts = []
  for (const rule of [{ kind: 'lag', blocks: 20 }, { kind: 'no_receipts' }] as const) {
    first.set([rule])
    second.set([])
    receipts.push(await look())
    second.set([rule])
    receipts.push(await look())
  }

  expect(receipts.map((receipt) => receipt?.status)).toEqual([1n, undefined, 1n, undefined])
  expect(world.endpointHealth.size).toBe(0)
})

test('a block that only one endpoint has is compared with that one', async () => {
  const [latest] = await callRpc(local.rpcUrl, [['eth_blockNumber']])
  first.set([{ kind: 'lag', blocks: 20 }])

  const other = { number: Number(latest), hash: nonceOf('00') }
  const replaced = await isBlockReplaced(world, chain, other)
  second.set([{ kind: 'lag', blocks: 20 }])
  const unseen = await isBlockReplaced(world, chain, other)

  expect([replaced, unseen]).toEqual([true, undefined])
})

test('an authorization whose log one endpoint has not seen is traced by the other', async () => {
  const [payer, relayer, nonce] = [await funded(), await funded(), nonceOf('a1')]
  const data = await authorize(chain, usdc, payer, { to: newKey().at, value: 1n, nonce })
  const { raw, hash } = await sign(chain, relayer, { to: usdc.address, data, nonce: 0 })
  await mined(() => broadcast(world, chain, raw))
  first.set([{ kind: 'lag', blocks: 20, methods: ['eth_getLogs'] }])

  const asked = { chain, token: usdc, from: payer.at, to: payer.at, amountAtomic: 1n, nonce }
  const found = await readUse(world, { ...asked, since: 0n })

  expect(found).toMatchObject({ transactionHash: hash })
})

test('a count is agreed as far as both endpoints show it, and none as long as one is silent', async () => {
  const { raw, payer } = await signedTransfer()
  const next = await sign(chain, payer, { to: usdc.address, data: '0x', nonce: 1 })
  const look = async () => {
    const seen = await readGasPayers(world, chain, [payer.at])
    return seen.status === 'ok' ? seen.gasPayers : seen.status
  }
  await mined(() => broadcast(world, chain, raw))
  const counts = []
  for (const rule of [
    { kind: 'lag', blocks: 20 },
    { kind: 'miscount', by: -1 },
    { kind: 'drop' },
  ] as const) {
    first.set([rule])
    counts.push(await look())
  }
  await mined(() => broadcast(world, chain, next.raw))
  await callRpc(local.rpcUrl, [['anvil_mine', '0x20']])

  const told = (agreedNonce: number | undefined): unknown => [
    expect.objectContaining({ agreedNonce, minedNonce: 1, safeNonce: 0 }),
  ]
  expect(counts).toEqual([told(0), told(0), told(undefined)])
  first.set([{ kind: 'miscount', by: 5 }])
  const invented = { agreedNonce: 2, minedNonce: 7, safeNonce: 2 }
  expect(await look()).toEqual([expect.objectContaining(invented)])
  first.set([])
  const all = { agreedNonce: 2, minedNonce: 2, safeNonce: 2 }
  expect(await look()).toEqual([expect.objectContaining(all)])
  first.set([{ kind: 'drop' }])
  second.set([{ kind: 'drop' }])
  expect(await look()).toBe('unavailable')
})
