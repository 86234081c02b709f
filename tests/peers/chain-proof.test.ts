import { afterAll, beforeAll, expect, test } from 'vitest'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { broadcast } from '../../shared/chains/evm/broadcast.ts'
import { proveTransfer } from '../../shared/chains/evm/proof.ts'
import type { Hex } from '../../shared/chains/hex.ts'
import type { Key } from '../support/chain-world.ts'
import {
  authorize,
  batchCalls,
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

/** A relayed payment of 100 atomic units that is mined. */
async function relayed() {
  const [payer, relayer, payee] = [await funded(), await funded(), newKey().at]
  const terms = { to: payee, value: 100n, nonce: nonceOf('a1') }
  const signed = await send(relayer, usdc.address, await authorize(chain, usdc, payer, terms))
  const expected = { from: payer.at, to: payee, value: 100n, authorizationNonce: terms.nonce }
  return { ...signed, expected }
}

test('a relayed payment is proven by one request, and its finality follows the block tags', async () => {
  const { hash, expected } = await relayed()
  const look = () => proveTransfer(world, chain, usdc, expected, hash)
  world.requests = 0

  const first = await look()
  const requests = world.requests
  const later = []
  for (const blocks of [4, 4]) {
    await callRpc(local.rpcUrl, [['anvil_mine', `0x${blocks}`]])
    later.push(await look())
  }

  expect(requests).toBe(1)
  expect(first).toMatchObject({
    status: 'settled',
    transactionHash: hash,
    confirmations: 1,
    finality: 'included',
    logIndex: 1,
  })
  expect(later).toMatchObject([
    { status: 'settled', confirmations: 5, finality: 'safe' },
    { status: 'settled', confirmations: 9, finality: 'finalized' },
  ])
})

test('a reorganization takes the proof away, and the same bytes bring it back once', async () => {
  const { raw, hash, expected } = await relayed()
  const look = () => proveTransfer(world, chain, usdc, expected, hash)
  const before = await look()

  await callRpc(local.rpcUrl, [['anvil_reorg', 2, []]])
  const between = await look()
  const resent = await minedTogether(local.rpcUrl, () => broadcast(world, chain, raw))
  const after = await look()

  expect([before.status, between.status, resent.outcome, after.status]).toEqual([
    'settled',
    'not_found',
    'accepted',
    'settled',
  ])
  expect(after).not.toMatchObject({ blockHash: 'blockHash' in before && before.blockHash })
})

test('in a batch each of two equal payments has its own log, and a failed one has none', async () => {
  const [payer, relayer, payee] = [await funded({ usdcAtomic: 200n }), await funded(), newKey().at]
  const nonces = ['b1', 'b2', 'b3'].map(nonceOf)
  const calls = await Promise.all(
    nonces.map((nonce) => authorize(chain, usdc, payer, { to: payee, value: 100n, nonce })),
  )
  const { hash } = await send(relayer, multicall3, batchCalls(usdc, calls))

  const proofs = await Promise.all(
    nonces.map((authorizationNonce) =>
      proveTransfer(
        world,
        chain,
        usdc,
        { from: payer.at, to: payee, value: 100n, authorizationNonce },
        hash,
      ),
    ),
  )

  expect(proofs).toMatchObject([
    { status: 'settled', logIndex: 1 },
    { status: 'settled', logIndex: 3 },
    { status: 'unmatched', finality: 'included' },
  ])
})

test('a transaction that succeeded proves no other payment', async () => {
  const { hash, expected } = await relayed()
  const stranger = newKey().at
  const others = [
    { ...expected, value: 101n },
    { ...expected, to: stranger },
    { ...expected, from: stranger },
    { ...expected, authorizationNonce: nonceOf('ff') },
  ]
  for (const other of others) {
    expect(await proveTransfer(world, chain, usdc, other, hash)).toMatchObject({
      status: 'unmatched',
    })
  }
})

test('the same movement of another token is not this payment', async () => {
  if (!eurc) throw new Error('Base Sepolia has EURC')
  const [payer, payee] = [await funded({ eurcAtomic: 100n }), newKey().at]
  const { hash } = await send(payer, eurc.address, transfer(payee, 100n))
  const expected = { from: payer.at, to: payee, value: 100n }

  expect(await proveTransfer(world, chain, usdc, expected, hash)).toMatchObject({
    status: 'unmatched',
  })
  expect(await proveTransfer(world, chain, eurc, expected, hash)).toMatchObject({
    status: 'settled',
  })
})

test('a reverted transaction is told from one that nobody knows', async () => {
  const [payer, payee] = [await funded({ usdcAtomic: 1n }), newKey().at]
  const expected = { from: payer.at, to: payee, value: 2n }
  const { hash } = await send(payer, usdc.address, transfer(payee, 2n))

  expect(await proveTransfer(world, chain, usdc, expected, hash)).toMatchObject({
    status: 'reverted',
  })
  expect(await proveTransfer(world, chain, usdc, expected, nonceOf('00'))).toEqual({
    status: 'not_found',
  })
})

test('a node without the safe and finalized tags is never quoted as final, however deep', async () => {
  const { hash, expected } = await relayed()
  await callRpc(local.rpcUrl, [['anvil_mine', '0x40']])
  const untagged = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace(/"(safe|finalized)"/g, '"no-such-tag"')),
  )

  const proof = await proveTransfer(untagged, chain, usdc, expected, hash)

  expect(proof).toMatchObject({ status: 'settled', confirmations: 65, finality: 'included' })
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
  const [payer, payee] = [await funded(), newKey().at]
  const lossy = worldOn({ [chain.caip2]: local.rpcUrl }, async (input, init) => {
    await fetch(input, init)
    throw new TypeError('socket closed')
  })
  const { raw, hash } = await sign(chain, payer, {
    to: usdc.address,
    data: transfer(payee, 5n),
    nonce: 0,
  })

  const sent = await minedTogether(local.rpcUrl, () => broadcast(lossy, chain, raw))
  const proof = await proveTransfer(
    world,
    chain,
    usdc,
    { from: payer.at, to: payee, value: 5n },
    hash,
  )

  expect(sent.outcome).toBe('unreachable')
  expect(proof.status).toBe('settled')
})
