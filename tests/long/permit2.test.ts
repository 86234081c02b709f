/**
 * What we sign for x402 by Permit2 moves exactly that with Permit2's own code. The proxies' code is in
 * no package, so the test calls Permit2 in the name of their addresses, as their source does.
 */
import { getBytes, MaxUint256 } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { Chain } from '../../scripts/local/chain.ts'
import { fund, startChain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { readAllowance } from '../../shared/chains/evm/allowance.ts'
import { findPermit } from '../../shared/chains/evm/permit2.ts'
import { permit2Address } from '../../shared/chains/evm/places.ts'
import { signAllowance } from '../../shared/custody/allowance.ts'
import type { Permit2Terms } from '../../shared/custody/permit2.ts'
import { signPermit2 } from '../../shared/custody/permit2.ts'
import { permit2Payload } from '../../shared/x402/permit2.ts'
import type { Key } from '../support/chain-world.ts'
import { hex, known, minedTogether, newKey, nonceOf, worldOn } from '../support/chain-world.ts'
import {
  allow,
  installTimeoutMilliseconds,
  permitCall,
  permitPayload,
  placePermit2,
  useAllowance,
  usePermit,
} from '../support/permit2.ts'

const { chain, usdc } = known('eip155:84532')
const facilitator = newKey().at

let local: Chain
let world: ReturnType<typeof worldOn>
beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  world = worldOn({ [chain.caip2]: local.rpcUrl })
  await placePermit2(local)
}, installTimeoutMilliseconds)
afterAll(() => local.stop())

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

/** Sent and not waited for, so that one block takes several. */
async function submit(payer: Key, terms: Permit2Terms, amount: bigint): Promise<unknown> {
  const call = permitCall(await payload(payer, terms), amount)
  const [hash] = await callRpc(local.rpcUrl, [['eth_sendTransaction', { ...call, gas: '0x7a120' }]])
  return hash
}

/** What of a payment's permit is asked for; in upto anything up to the amount. */
function use({ from, to, nonce, scheme, valueAtomic }: Permit2Terms) {
  const valueMinAtomic = scheme === 'upto' ? 0n : valueAtomic
  const parties = { from: hex(from), to: hex(to), nonce: hex(nonce) }
  return findPermit(world, chain, usdc, { ...parties, valueMinAtomic, valueMaxAtomic: valueAtomic })
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
    expect(after).toMatchObject({ status: 'used', transactionHash: hash, valueAtomic: amount })
    await expect(settle(payer, terms, amount)).rejects.toThrow()
    expect([await usdcAt(payer.at), await usdcAt(terms.to)]).toEqual([1_000n - amount, amount])
  },
)

test.each(['exact', 'upto'] as const)(
  'of two %s payments to one payee in one block each is found by its own nonce',
  async (scheme) => {
    const payer = await payerWith(MaxUint256)
    const first = termsOf(payer, scheme, nonceOf('01'))
    const second = { ...first, nonce: nonceOf('02') }
    const least = scheme === 'upto' ? 7n : 40n

    const [a, b] = await minedTogether(local.rpcUrl, async () => [
      await submit(payer, second, 40n),
      await submit(payer, first, least),
    ])

    expect(await Promise.all([use(second), use(first)])).toMatchObject([
      { status: 'used', transactionHash: a, valueAtomic: 40n },
      { status: 'used', transactionHash: b, valueAtomic: least },
    ])
  },
)

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
  const allowed = await readAllowance(world, chain, usdc, payer.at)
  await settle(payer, terms, 40n)
  const used = await readAllowance(world, chain, usdc, payer.at)

  expect(allowed).toEqual({ status: 'ok', allowanceAtomic: 40n, permitNonce: 1n })
  expect(used).toEqual({ status: 'ok', allowanceAtomic: 0n, permitNonce: 1n })
})

test('what Permit2 may take is read with the next nonce of EIP-2612', async () => {
  const payer = await payerWith(39n)

  expect(await readAllowance(world, chain, usdc, payer.at)).toEqual({
    status: 'ok',
    allowanceAtomic: 39n,
    permitNonce: 0n,
  })
  await expect(settle(payer, termsOf(payer, 'exact', nonceOf('03')), 40n)).rejects.toThrow()
})
