import { afterAll, beforeAll, expect, test } from 'vitest'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { broadcast } from '../../shared/chains/evm/rpc/broadcast.ts'
import { rpcFor } from '../../shared/chains/evm/rpc/rpc.ts'
import { findAuthorization } from '../../shared/payments/settle/on-chain-outcome.ts'
import type { Key } from '../support/chain-world.ts'
import {
  authorize,
  cancel,
  hex,
  known,
  minedTogether,
  newKey,
  nonceOf,
  rewriting,
  sign,
  worldOn,
} from '../support/chain-world.ts'

const { chain, usdc } = known('eip155:421614')
const nonce = nonceOf('c1')

let local: LocalChain
let world: ReturnType<typeof worldOn>

beforeAll(async () => {
  local = await startChain({ chainId: 421614 })
  world = worldOn({ [chain.caip2]: local.rpcUrl })
}, 30_000)

afterAll(() => local.stop())

async function pair(): Promise<{ payer: Key; relayer: Key }> {
  const [payer, relayer] = [newKey(), newKey()]
  await fund(local, payer.at, { usdcAtomic: 1_000n })
  await fund(local, relayer.at, { weiAmount: 10n ** 18n })
  return { payer, relayer }
}

async function relay(relayer: Key, data: `0x${string}`) {
  const signed = await sign(chain, relayer, { to: usdc.address, data, nonce: 0 })
  const sent = await minedTogether(local.rpcUrl, () => broadcast(world, chain, signed.raw))
  expect(sent).toEqual({ outcome: 'accepted' })
  return signed.hash
}

const fateOf = (payer: Key, fromBlock?: bigint) =>
  findAuthorization(rpcFor(world, chain), {
    chain,
    token: usdc,
    from: payer.at,
    nonce,
    since: fromBlock,
  })

async function timeOf(tag: string): Promise<bigint> {
  const [block] = await callRpc(local.rpcUrl, [['eth_getBlockByNumber', tag, false]])
  return BigInt(String(Reflect.get(Object(block), 'timestamp')))
}

test('the transaction that used an authorization is found without its hash', async () => {
  const { payer, relayer } = await pair()
  const hash = await relay(
    relayer,
    await authorize(chain, usdc, payer, { to: newKey().at, value: 3n, nonce }),
  )

  expect(await fateOf(payer)).toMatchObject({ status: 'used', transactionHash: hash, logIndex: 0 })
})

test('a cancelled authorization is spent but not paid', async () => {
  const { payer, relayer } = await pair()
  const hash = await relay(relayer, await cancel(chain, usdc, payer, nonce))

  expect(await fateOf(payer)).toMatchObject({ status: 'canceled', transactionHash: hash })
})

test('a log before the blocks that are searched is found by the state of blocks', async () => {
  const { payer, relayer } = await pair()
  const data = await authorize(chain, usdc, payer, { to: newKey().at, value: 3n, nonce })
  const hash = await relay(relayer, data)
  await callRpc(local.rpcUrl, [['anvil_mine', '0x2']])
  const [head] = await callRpc(local.rpcUrl, [['eth_blockNumber']])

  const fate = await fateOf(payer, BigInt(String(head)))

  expect(fate).toMatchObject({ status: 'used', transactionHash: hash })
})

test('a spent authorization whose log no block shows is never unused, and final once its block is', async () => {
  const { payer, relayer } = await pair()
  await relay(relayer, await authorize(chain, usdc, payer, { to: newKey().at, value: 3n, nonce }))
  const silent = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) =>
      body
        .replaceAll(usdc.address.toLowerCase(), usdc.address)
        .replace(`"address":"${usdc.address}"`, `"address":"${newKey().at}"`),
    ),
  )
  const look = () =>
    findAuthorization(rpcFor(silent, chain), { chain, token: usdc, from: payer.at, nonce })

  const soon = await look()
  await callRpc(local.rpcUrl, [['anvil_mine', '0x20']])
  const late = await look()

  expect([soon, late]).toMatchObject([
    { status: 'untraced', isFinal: false },
    { status: 'untraced', isFinal: true },
  ])
})

test("another payer's or nonce's use is not taken for this one", async () => {
  const [one, other] = [await pair(), await pair()]
  await relay(
    one.relayer,
    await authorize(chain, usdc, one.payer, { to: other.payer.at, value: 3n, nonce }),
  )

  expect(await fateOf(other.payer)).toMatchObject({ status: 'unused' })
  expect(
    await findAuthorization(rpcFor(world, chain), {
      chain,
      token: usdc,
      from: one.payer.at,
      nonce: nonceOf('c2'),
    }),
  ).toMatchObject({
    status: 'unused',
  })
})

test('expiry is final only once the finalized block is past it', async () => {
  const { payer } = await pair()
  const expiry = (await timeOf('latest')) + 600n
  await callRpc(local.rpcUrl, [
    ['evm_increaseTime', 700],
    ['anvil_mine', '0x1'],
  ])
  const soon = await fateOf(payer)
  await callRpc(local.rpcUrl, [['anvil_mine', '0x8', '0x1']])
  const late = await fateOf(payer)

  if (soon.status !== 'unused' || late.status !== 'unused') throw new Error('it was never used')
  expect(soon.latestTimestampSeconds).toBeGreaterThan(expiry)
  expect(soon.finalizedTimestampSeconds).toBeLessThan(expiry)
  expect(late.finalizedTimestampSeconds).toBeGreaterThan(expiry)
  expect(late.finalizedTimestampSeconds).toBe(await timeOf('finalized'))
})

test('a state read behind the finalized block is final only up to its own time', async () => {
  const { payer } = await pair()
  const [stale] = await callRpc(local.rpcUrl, [['eth_blockNumber']])
  const staleTime = await timeOf('latest')
  await callRpc(local.rpcUrl, [['anvil_mine', '0x20', '0x5']])
  const lagging = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace('"latest"', JSON.stringify(stale))),
  )

  const fate = await findAuthorization(rpcFor(lagging, chain), {
    chain,
    token: usdc,
    from: payer.at,
    nonce,
  })

  expect(await timeOf('finalized')).toBeGreaterThan(staleTime)
  expect(fate).toEqual({
    status: 'unused',
    latest: BigInt(String(stale)),
    latestTimestampSeconds: staleTime,
    finalizedTimestampSeconds: staleTime,
  })
})

test('without a finalized tag there is no time at which expiry is final', async () => {
  const { payer } = await pair()
  const [head] = await callRpc(local.rpcUrl, [['eth_blockNumber']])
  const untagged = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace('"finalized"', '"no-such-tag"')),
  )

  const fate = await findAuthorization(rpcFor(untagged, chain), {
    chain,
    token: usdc,
    from: payer.at,
    nonce,
  })

  const times = { latest: BigInt(String(head)), latestTimestampSeconds: await timeOf('latest') }
  expect(fate).toEqual({ status: 'unused', ...times })
})

test('an absent token or a dead node proves nothing', async () => {
  const { payer } = await pair()
  const absent = { ...usdc, address: hex('11'.repeat(20)) }
  const dead = worldOn({ [chain.caip2]: 'http://127.0.0.1:1' })

  expect(
    await findAuthorization(rpcFor(world, chain), { chain, token: absent, from: payer.at, nonce }),
  ).toMatchObject({
    status: 'unavailable',
  })
  expect(
    await findAuthorization(rpcFor(dead, chain), { chain, token: usdc, from: payer.at, nonce }),
  ).toMatchObject({
    status: 'unavailable',
  })
})
