/**
 * Our x402 signatures for Permit2 move exactly the signed amount with Permit2's own code. No package
 * holds the proxies' code, so the test calls Permit2 from their addresses, as their source does.
 */
import { getBytes, MaxUint256 } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { Chain } from '../../scripts/local/chain.ts'
import { fund, startChain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { readAllowance } from '../../shared/chains/evm/permit2/allowance.ts'
import { agreeOnPermit } from '../../shared/chains/evm/quorum/agreed-permit.ts'
import { permit2Address } from '../../shared/chains/evm/rpc/places.ts'
import { signAllowance } from '../../shared/custody/allowance.ts'
import type { Permit2Terms } from '../../shared/custody/permit2.ts'
import { signPermit2 } from '../../shared/custody/permit2.ts'
import { permit2Spenders } from '../../shared/custody/permit2-terms.ts'
import { permit2Payload } from '../../shared/x402/permit2.ts'
import type { Key } from '../support/chain-world.ts'
import {
  hex,
  known,
  minedTogether,
  newKey,
  nonceOf,
  rewriting,
  worldOn,
} from '../support/chain-world.ts'
import {
  allow,
  installTimeoutMilliseconds,
  permitCall,
  permitPayload,
  placePermit2,
  useAllowance,
  usePermit,
} from '../support/permit2.ts'
import { permit2Code } from '../support/play/contracts.ts'

const { chain, usdc } = known('eip155:84532')
const facilitator = newKey().at
const spender = permit2Spenders.exact

let local: Chain
let world: ReturnType<typeof worldOn>
beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  world = worldOn({ [chain.caip2]: local.rpcUrl })
  await placePermit2(local)
}, installTimeoutMilliseconds)
afterAll(() => local.stop())

test('the code that the other tests place is that of its package', async () => {
  const [code] = await callRpc(local.rpcUrl, [['eth_getCode', permit2Address, 'latest']])

  expect(code).toBe(permit2Code())
})

async function payerWith(allowance: bigint): Promise<Key> {
  const payer = newKey()
  await fund(local, payer.at, { usdcAtomic: 1_000n })
  await allow(local, payer.at, allowance)
  return payer
}

async function usdcAt(holder: string): Promise<bigint> {
  const data = `0x70a08231${holder.slice(2).toLowerCase().padStart(64, '0')}`
  const [balance] = await callRpc(local.rpcUrl, [
    ['eth_call', { to: usdc.address, data }, 'latest'],
  ])
  return BigInt(z.string().parse(balance))
}

function termsOf(payer: Key, scheme: 'exact' | 'upto', nonce: `0x${string}`): Permit2Terms {
  const to = newKey().at
  const common = { chainId: chain.id, token: usdc.address, from: payer.at, to, valueAtomic: 40n }
  return { ...common, validBefore: 2n ** 40n, nonce, scheme, facilitator }
}

async function payload(payer: Key, terms: Permit2Terms) {
  const signed = await signPermit2(getBytes(payer.privateKey), terms)
  return permitPayload.parse(permit2Payload(signed, terms, usdc.address))
}

async function settle(payer: Key, terms: Permit2Terms, amount: bigint): Promise<unknown> {
  return usePermit(local, await payload(payer, terms), amount)
}

/** Submits without waiting, so that one block takes several. */
async function submit(payer: Key, terms: Permit2Terms, amount: bigint): Promise<unknown> {
  const call = permitCall(await payload(payer, terms), amount)
  const [hash] = await callRpc(local.rpcUrl, [['eth_sendTransaction', { ...call, gas: '0x7a120' }]])
  return hash
}

/** Returns what the chain shows of a payment's permit. */
async function use(
  { from, to, nonce, scheme, valueAtomic: amountAtomic }: Permit2Terms,
  seenBy = world,
) {
  const parties = { from: hex(from), to: hex(to), nonce: hex(nonce) }
  const permit = { ...parties, scheme, amountAtomic }
  const question = { chain, token: usdc, permit }
  const fate = await agreeOnPermit(seenBy, question, { endSeconds: 2n ** 40n })
  return fate.status === 'used' ? { status: fate.status, ...fate.settlement } : fate
}

test.each([
  ['exact', 40n],
  ['upto', 7n],
] as const)(
  'a permit of %s moves its amount once and is found without its hash',
  async (scheme, amount) => {
    const payer = await payerWith(MaxUint256)
    const terms = termsOf(payer, scheme, nonceOf('c7'))
    const before = await use(terms)

    const hash = await settle(payer, terms, amount)
    const after = await use(terms)

    expect(before).toMatchObject({ status: 'unused' })
    expect(after).toMatchObject({ status: 'used', transactionHash: hash, takenAtomic: amount })
    await expect(settle(payer, terms, amount)).rejects.toThrow()
    expect([await usdcAt(payer.at), await usdcAt(terms.to)]).toEqual([1_000n - amount, amount])
  },
)

test('of two payments of exact to one payee in one block each is found by its own nonce', async () => {
  const payer = await payerWith(MaxUint256)
  const first = termsOf(payer, 'exact', nonceOf('01'))
  const second = { ...first, nonce: nonceOf('02') }

  const [a, b] = await minedTogether(local.rpcUrl, async () => [
    await submit(payer, second, 40n),
    await submit(payer, first, 40n),
  ])

  const found = await Promise.all([use(second), use(first)])
  const firstLogs = found.map((one) => ('logs' in one ? one.logs[0]?.transactionHash : undefined))
  expect(found).toMatchObject([{ status: 'used' }, { status: 'used' }])
  expect(firstLogs).toEqual([a, b])
})

test('of two payments of upto to one payee in one block neither is believed to have taken less', async () => {
  const payer = await payerWith(MaxUint256)
  const first = termsOf(payer, 'upto', nonceOf('01'))
  const second = { ...first, nonce: nonceOf('02') }

  await minedTogether(local.rpcUrl, async () => {
    await submit(payer, second, 40n)
    await submit(payer, first, 7n)
  })

  const inFull = { status: 'used', takenAtomic: null, logs: [] }
  expect(await Promise.all([use(second), use(first)])).toMatchObject([inFull, inFull])
})

test('where old states are forgotten, the one transfer that it can be is booked in full', async () => {
  const forgetting = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace(/\},"0x[0-9a-f]{1,8}"\]/g, '},"0xffffffff"]')),
  )
  const [exact, upto] = [await payerWith(MaxUint256), await payerWith(MaxUint256)]
  const whole = termsOf(exact, 'exact', nonceOf('05'))
  const less = termsOf(upto, 'upto', nonceOf('06'))
  const hash = await settle(exact, whole, 40n)
  const other = await settle(upto, less, 7n)

  const found = await Promise.all([use(whole, forgetting), use(less, forgetting)])

  expect(found).toMatchObject([
    { status: 'used', transactionHash: hash, takenAtomic: 40n, logs: [{ transactionHash: hash }] },
    { status: 'used', transactionHash: other, takenAtomic: null, logs: [] },
  ])
})

test('what cannot be told apart where states are forgotten waits until it is final, and no longer', async () => {
  const forgetting = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace(/\},"0x[0-9a-f]{1,8}"\]/g, '},"0xffffffff"]')),
  )
  const payer = await payerWith(MaxUint256)
  const first = termsOf(payer, 'upto', nonceOf('07'))
  await settle(payer, first, 40n)
  await settle(payer, { ...first, nonce: nonceOf('08') }, 7n)

  const soon = await use(first, forgetting)
  await callRpc(local.rpcUrl, [['anvil_mine', '0x20']])
  const late = await use(first, forgetting)

  expect([soon, late]).toMatchObject([
    { status: 'untraced', isFinal: false },
    { status: 'untraced', isFinal: true },
  ])
})

test('an allowance that we sign is taken by the token, and used up by the payment', async () => {
  const payer = await payerWith(0n)
  const terms = termsOf(payer, 'exact', nonceOf('04'))
  const { validBefore, valueAtomic } = terms
  const order = { chainId: chain.id, token: usdc.address, domain: usdc.domain, validBefore }
  const key = getBytes(payer.privateKey)
  const signature = await signAllowance(key, { ...order, owner: payer.at, valueAtomic, nonce: 0n })

  await useAllowance(local, facilitator, {
    from: payer.at,
    asset: usdc.address,
    spender: permit2Address,
    amount: '40',
    nonce: '0',
    deadline: validBefore.toString(),
    signature,
    version: '1',
  })
  const allowed = await readAllowance(world, chain, usdc, { wallet: payer.at, spender })
  await settle(payer, terms, 40n)
  const used = await readAllowance(world, chain, usdc, { wallet: payer.at, spender })

  expect(allowed).toEqual({ status: 'ok', allowanceAtomic: 40n, permitNonce: 1n })
  expect(used).toEqual({ status: 'ok', allowanceAtomic: 0n, permitNonce: 1n })
})

test('what Permit2 may take is read with the next nonce of EIP-2612', async () => {
  const payer = await payerWith(39n)

  expect(await readAllowance(world, chain, usdc, { wallet: payer.at, spender })).toEqual({
    status: 'ok',
    allowanceAtomic: 39n,
    permitNonce: 0n,
  })
  await expect(settle(payer, termsOf(payer, 'exact', nonceOf('03')), 40n)).rejects.toThrow()
})
