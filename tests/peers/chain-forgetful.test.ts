/** Settlements are found on nodes that refuse long ranges of logs or have pruned old states. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { broadcast } from '../../shared/chains/evm/rpc/broadcast.ts'
import type { ChainWorld } from '../../shared/chains/evm/rpc/rpc.ts'
import { rpcFor } from '../../shared/chains/evm/rpc/rpc.ts'
import { findAuthorization } from '../../shared/payments/settle/on-chain-outcome.ts'
import {
  authorize,
  known,
  minedTogether,
  newKey,
  nonceOf,
  rewriting,
  sign,
  worldOn,
} from '../support/chain-world.ts'

const { chain, usdc } = known('eip155:84532')
const nonce = nonceOf('d7')

let local: LocalChain
beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
})
afterAll(() => local.stop())

/** Returns a payment that was settled some time ago, and the block at which it was signed. */
async function settled() {
  const [payer, relayer] = [newKey(), newKey()]
  await fund(local, payer.at, { usdcAtomic: 10n })
  await fund(local, relayer.at, { weiAmount: 10n ** 18n })
  const since = await latest()
  await callRpc(local.rpcUrl, [['anvil_mine', '0x28']])
  const data = await authorize(chain, usdc, payer, { to: newKey().at, value: 3n, nonce })
  const { raw, hash } = await sign(chain, relayer, { to: usdc.address, data, nonce: 0 })
  const world = worldOn({ [chain.caip2]: local.rpcUrl })
  await minedTogether(local.rpcUrl, () => broadcast(world, chain, raw))
  await callRpc(local.rpcUrl, [['anvil_mine', '0x64']])
  return { question: { chain, token: usdc, from: payer.at, nonce, since }, hash }
}

async function latest(): Promise<bigint> {
  const [head] = await callRpc(local.rpcUrl, [['eth_blockNumber']])
  return BigInt(String(head))
}

/** Refuses logs of more than `blocksMax` blocks. */
const refusing =
  (blocksMax: bigint): ChainWorld['fetch'] =>
  async (input, init) => {
    const body = await new Response(init?.body ?? null).text()
    const [, from, to] = /"fromBlock":"(0x[0-9a-f]+)","toBlock":"(0x[0-9a-f]+)"/.exec(body) ?? []
    if (from && to && BigInt(to) - BigInt(from) >= blocksMax) {
      const error = { code: -32600, message: 'the range is too long' }
      return Response.json({ jsonrpc: '2.0', id: 0, error })
    }
    return fetch(input, { ...init, body })
  }

test.each([1n, 10n, 50n])('logs of at most %s blocks at once are enough', async (blocksMax) => {
  const { question, hash } = await settled()
  const world = worldOn({ [chain.caip2]: local.rpcUrl }, refusing(blocksMax))

  const fate = await findAuthorization(rpcFor(world, chain), question)

  expect(fate).toMatchObject({ status: 'used', transactionHash: hash })
  expect(world.requests).toBeLessThan(30)
})

test('a node without the states of old blocks still has their logs', async () => {
  const { question, hash } = await settled()
  const forgetting = rewriting((body) => body.replace(/\},"0x[0-9a-f]{1,8}"\]/g, '},"0xffffffff"]'))
  const world = worldOn({ [chain.caip2]: local.rpcUrl }, forgetting)

  const fate = await findAuthorization(rpcFor(world, chain), question)

  expect(fate).toMatchObject({ status: 'used', transactionHash: hash })
})

test('a block that is said to be later than the chain is does not hide what follows it', async () => {
  const { question, hash } = await settled()
  const world = worldOn({ [chain.caip2]: local.rpcUrl })

  const fate = await findAuthorization(rpcFor(world, chain), { ...question, since: 2n ** 40n })

  expect(fate).toMatchObject({ status: 'used', transactionHash: hash })
})
