import { afterAll, beforeAll, expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import type { Token } from '../../shared/chains/chain.ts'
import { broadcast } from '../../shared/chains/evm/rpc/broadcast.ts'
import type { ChainWorld } from '../../shared/chains/evm/rpc/rpc.ts'
import { readUse } from '../../shared/chains/evm/use.ts'
import type { Hex } from '../../shared/chains/hex.ts'
import {
  authorize,
  batchCalls,
  type Key,
  known,
  minedTogether,
  newKey,
  nonceOf,
  rewriting,
  sign,
  transfer,
  worldOn,
} from '../support/chain-world.ts'

const { chain, usdc, eurc } = known('eip155:84532')
const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

let local: LocalChain
let world: ReturnType<typeof worldOn>

beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  world = worldOn({ [chain.caip2]: local.rpcUrl })
}, 30_000)

afterAll(() => local.stop())

async function funded(funds = {}): Promise<Key> {
  const key = newKey()
  await fund(local, key.at, { weiAmount: 10n ** 18n, usdcAtomic: 1_000n, ...funds })
  return key
}

async function send(sender: Key, to: Hex, data: Hex, nonce = 0) {
  const signed = await sign(chain, sender, { to, data, nonce })
  const sent = await minedTogether(local.rpcUrl, () => broadcast(world, chain, signed.raw))
  expect(sent).toEqual({ outcome: 'accepted' })
  return signed
}

type Question = { token: Token; from: Hex; nonce: Hex }

/** Returns where the authorization was used, or `unused`. */
const useOf = (on: ChainWorld, question: Question) =>
  readUse(on, { ...question, chain, to: question.from, amountAtomic: 100n, since: 0n })

/** Returns a mined relayed payment of 100 atomic units. */
async function relayed() {
  const [payer, relayer, payee] = [await funded(), await funded(), newKey().at]
  const terms = { to: payee, value: 100n, nonce: nonceOf('a1') }
  const signed = await send(relayer, usdc.address, await authorize(chain, usdc, payer, terms))
  return { ...signed, question: { token: usdc, from: payer.at, nonce: terms.nonce } }
}

test('a relayed payment is found by one request, and its finality follows the block tags', async () => {
  const { hash, question } = await relayed()
  const look = () => useOf(world, question)
  world.requests = 0

  const first = await look()
  const requests = world.requests
  const later = []
  for (const blocks of [4, 4]) {
    await callRpc(local.rpcUrl, [['anvil_mine', `0x${blocks}`]])
    later.push(await look())
  }

  expect(requests).toBe(1)
  const place = { transactionHash: hash, logIndex: 1 }
  expect([first, ...later]).toMatchObject([
    { ...place, confirmations: 1, finality: 'included' },
    { ...place, confirmations: 5, finality: 'safe' },
    { ...place, confirmations: 9, finality: 'finalized' },
  ])
})

test('a reorganization takes the proof away, and the same bytes bring it back once', async () => {
  const { raw, question } = await relayed()
  const look = () => useOf(world, question)
  const before = await look()

  await callRpc(local.rpcUrl, [['anvil_reorg', 2, []]])
  const between = await look()
  const resent = await minedTogether(local.rpcUrl, () => broadcast(world, chain, raw))
  const after = await look()

  expect([between, resent.outcome]).toEqual(['unused', 'accepted'])
  const blockOf = (use: typeof before) =>
    typeof use === 'object' && 'blockHash' in use ? use.blockHash : undefined
  expect(blockOf(before)).toMatch(/^0x/)
  expect(blockOf(after)).toMatch(/^0x/)
  expect(blockOf(after)).not.toEqual(blockOf(before))
})

test('in a batch each of two equal payments has its own log, and a failed one has none', async () => {
  const [payer, relayer, payee] = [await funded({ usdcAtomic: 200n }), await funded(), newKey().at]
  const nonces = ['b1', 'b2', 'b3'].map(nonceOf)
  const calls = await Promise.all(
    nonces.map((nonce) => authorize(chain, usdc, payer, { to: payee, value: 100n, nonce })),
  )
  const { hash } = await send(relayer, multicall3, batchCalls(usdc, calls))

  const uses = await Promise.all(
    nonces.map((nonce) => useOf(world, { token: usdc, from: payer.at, nonce })),
  )

  expect(uses).toMatchObject([
    { transactionHash: hash, logIndex: 1 },
    { transactionHash: hash, logIndex: 3 },
    'unused',
  ])
})

test("another token's use of the same nonce is not this payment", async () => {
  if (!eurc) throw new Error('Base Sepolia has EURC')
  const [payer, relayer] = [await funded({ eurcAtomic: 100n }), await funded()]
  const terms = { to: newKey().at, value: 100n, nonce: nonceOf('d1') }
  const { hash } = await send(relayer, eurc.address, await authorize(chain, eurc, payer, terms))
  const question = { from: payer.at, nonce: terms.nonce }

  expect(await useOf(world, { ...question, token: usdc })).toBe('unused')
  expect(await useOf(world, { ...question, token: eurc })).toMatchObject({ transactionHash: hash })
})

test('a node without the safe and finalized tags is never quoted as final, however deep', async () => {
  const { question } = await relayed()
  await callRpc(local.rpcUrl, [['anvil_mine', '0x40']])
  const untagged = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace(/"(safe|finalized)"/g, '"no-such-tag"')),
  )

  const use = await useOf(untagged, question)

  expect(use).toMatchObject({ confirmations: 65, finality: 'included' })
})

test('the same bytes twice are known while pending and used up once mined', async () => {
  const key = await funded()
  const outer = { to: usdc.address, nonce: 0 }
  const { raw } = await sign(chain, key, { ...outer, data: transfer(newKey().at, 1n) })
  const rival = await sign(chain, key, { ...outer, data: '0x' })

  const answers = await minedTogether(local.rpcUrl, async () => [
    await broadcast(world, chain, raw),
    await broadcast(world, chain, raw),
    await broadcast(world, chain, rival.raw),
  ])
  const mined = await broadcast(world, chain, raw)

  const outcomes = [...answers, mined].map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['accepted', 'known', 'underpriced', 'nonce_used'])
})

test('fees below the base fee, a sender without gas and garbage are told apart', async () => {
  const [rich, poor] = [await funded(), await funded({ weiAmount: 1n })]
  const outer = { to: usdc.address, data: transfer(newKey().at, 1n), nonce: 0 }
  const cheap = await sign(chain, rich, { ...outer, maxFeePerGas: 1_000_001n })
  const unpaid = await sign(chain, poor, outer)

  await callRpc(local.rpcUrl, [['anvil_setNextBlockBaseFeePerGas', '0x3b9aca00']])
  const answers = []
  for (const raw of [cheap.raw, unpaid.raw, '0x02ff'] as const)
    answers.push(await broadcast(world, chain, raw))

  expect(answers.map(({ outcome }) => outcome)).toEqual(['underpriced', 'unfunded', 'refused'])
})

test('a lost response leaves the outcome unknown although the chain took the payment', async () => {
  const [payer, relayer, nonce] = [await funded(), await funded(), nonceOf('e1')]
  const lossy = worldOn({ [chain.caip2]: local.rpcUrl }, async (input, init) => {
    await fetch(input, init)
    throw new TypeError('socket closed')
  })
  const data = await authorize(chain, usdc, payer, { to: newKey().at, value: 5n, nonce })
  const { raw, hash } = await sign(chain, relayer, { to: usdc.address, data, nonce: 0 })

  const sent = await minedTogether(local.rpcUrl, () => broadcast(lossy, chain, raw))
  const use = await useOf(world, { token: usdc, from: payer.at, nonce })

  expect(sent.outcome).toBe('unreachable')
  expect(use).toMatchObject({ transactionHash: hash })
})
