/**
 * What we sign for x402 by Permit2 moves exactly that with Permit2's own code. The proxies' code is in
 * no package, so the test calls Permit2 in the name of their addresses, as their source does.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AbiCoder, getBytes, Interface, keccak256, MaxUint256 } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { Chain } from '../../scripts/local/chain.ts'
import { fund, startChain } from '../../scripts/local/chain.ts'
import { callRpc, transact } from '../../scripts/local/rpc.ts'
import { findPermit, readPermit2 } from '../../shared/chains/evm/permit2.ts'
import { permit2Address } from '../../shared/chains/evm/places.ts'
import { signAllowance } from '../../shared/custody/allowance.ts'
import type { Permit2Terms } from '../../shared/custody/permit2.ts'
import { permit2Spenders, signPermit2 } from '../../shared/custody/permit2.ts'
import type { Key } from '../support/chain-world.ts'
import { hex, known, newKey, nonceOf, worldOn } from '../support/chain-world.ts'

const installTimeoutMilliseconds = 300_000
const { chain, usdc } = known('eip155:84532')
const facilitator = newKey().at
const artifact =
  'node_modules/@uniswap/v4-periphery/foundry-out/DeployPermit2.sol/DeployPermit2.json'
const artifactFields = z.object({ deployedBytecode: z.object({ object: z.string() }) })
const code = new Interface([
  'function permitWitnessTransferFrom(((address token,uint256 amount) permitted,uint256 nonce,uint256 deadline) permit,(address to,uint256 requestedAmount) details,address owner,bytes32 witness,string witnessType,bytes signature)',
  'function approve(address,uint256)',
  'function permit(address,address,uint256,uint256,bytes)',
])

let local: Chain
let world: ReturnType<typeof worldOn>
beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  world = worldOn({ [chain.caip2]: local.rpcUrl })
  await callRpc(local.rpcUrl, [['anvil_setCode', permit2Address, await permit2Code()]])
  await callRpc(local.rpcUrl, [['anvil_autoImpersonateAccount', true]])
}, installTimeoutMilliseconds)
afterAll(() => local.stop())

/** Permit2's code stands whole inside the contract that deploys it in tests. */
async function permit2Code(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-permit2-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const peer = fileURLToPath(new URL('../peers/permit2', import.meta.url))
  cpSync(peer, directory, { recursive: true })
  const timeout = installTimeoutMilliseconds
  await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: directory, timeout })
  const read: unknown = JSON.parse(readFileSync(join(directory, artifact), 'utf8'))
  const { object } = artifactFields.parse(read).deployedBytecode
  const runtime = object.slice(object.indexOf('6040608081526004908136101561001557'))
  return `0x${runtime.slice(0, 2 * 9_152)}`
}

async function payerWith(allowance: bigint): Promise<Key> {
  const payer = newKey()
  await fund(local, payer.at, { usdcAtomic: 1_000n })
  await sendAs(
    payer.at,
    usdc.address,
    code.encodeFunctionData('approve', [permit2Address, allowance]),
  )
  return payer
}

/** Sends in the name of an address whose key nobody has; a revert is thrown. */
async function sendAs(from: `0x${string}`, to: `0x${string}`, data: string): Promise<unknown> {
  await fund(local, from, { weiAmount: 10n ** 18n })
  return transact(local.rpcUrl, from, to, hex(data))
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

/** What the proxy of a scheme does with a permit, by its source. */
async function settle(payer: Key, terms: Permit2Terms, amount: bigint): Promise<unknown> {
  const signed = await signPermit2(getBytes(payer.privateKey), terms)
  const isUpto = terms.scheme === 'upto'
  const type = `Witness(address to,${isUpto ? 'address facilitator,' : ''}uint256 validAfter)`
  const fields = isUpto ? [terms.to, terms.facilitator, 0] : [terms.to, 0]
  const types = isUpto ? ['address', 'address', 'uint256'] : ['address', 'uint256']
  const words = AbiCoder.defaultAbiCoder().encode(types, fields).slice(2)
  const witness = keccak256(`${keccak256(Buffer.from(type))}${words}`)
  const permissions = 'TokenPermissions(address token,uint256 amount)'
  const data = code.encodeFunctionData('permitWitnessTransferFrom', [
    {
      permitted: { token: usdc.address, amount: 40n },
      nonce: terms.nonce,
      deadline: terms.validBefore,
    },
    { to: terms.to, requestedAmount: amount },
    payer.at,
    witness,
    `Witness witness)${permissions}${type}`,
    signed.signature,
  ])
  return sendAs(permit2Spenders[terms.scheme], permit2Address, data)
}

test.each([
  ['exact', 40n],
  ['upto', 7n],
] as const)(
  'a permit of %s moves its amount once and is found without its hash',
  async (scheme, amount) => {
    const payer = await payerWith(MaxUint256)
    const terms = termsOf(payer, scheme, nonceOf('c7'))
    const use = { from: payer.at, to: hex(terms.to), nonce: nonceOf('c7') }
    const before = await findPermit(world, chain, usdc, use, 0n)

    const hash = await settle(payer, terms, amount)
    const after = await findPermit(world, chain, usdc, use, 0n)

    expect(before).toMatchObject({ status: 'unused' })
    expect(after).toMatchObject({ status: 'used', transactionHash: hash })
    await expect(settle(payer, terms, amount)).rejects.toThrow()
    expect([await usdcAt(payer.at), await usdcAt(terms.to)]).toEqual([1_000n - amount, amount])
  },
)

test('of equal payments to one payee each is found by its own nonce', async () => {
  const payer = await payerWith(MaxUint256)
  const first = termsOf(payer, 'exact', nonceOf('01'))
  const second = { ...first, nonce: nonceOf('02') }
  const hashes = [await settle(payer, second, 40n), await settle(payer, first, 40n)]

  const uses = [nonceOf('02'), nonceOf('01')].map((nonce) =>
    findPermit(world, chain, usdc, { from: payer.at, to: hex(first.to), nonce }, 0n),
  )

  expect(await Promise.all(uses)).toMatchObject(
    hashes.map((transactionHash) => ({ status: 'used', transactionHash })),
  )
})

test('an allowance that we sign is taken by the token, and used up by the payment', async () => {
  const payer = await payerWith(0n)
  const terms = termsOf(payer, 'exact', nonceOf('04'))
  const { validBefore, valueAtomic } = terms
  const order = { chainId: chain.id, token: usdc.address, domain: usdc.domain, validBefore }
  const key = getBytes(payer.privateKey)
  const signature = await signAllowance(key, { ...order, owner: payer.at, valueAtomic, nonce: 0n })
  const permit = [payer.at, permit2Address, valueAtomic, validBefore, signature]

  await sendAs(facilitator, usdc.address, code.encodeFunctionData('permit', permit))
  const allowed = await readPermit2(world, chain, usdc, payer.at)
  await settle(payer, terms, 40n)
  const used = await readPermit2(world, chain, usdc, payer.at)

  expect(allowed).toEqual({ status: 'ok', allowanceAtomic: 40n, permitNonce: 1n })
  expect(used).toEqual({ status: 'ok', allowanceAtomic: 0n, permitNonce: 1n })
})

test('what Permit2 may take is read with the next nonce of EIP-2612', async () => {
  const payer = await payerWith(39n)

  expect(await readPermit2(world, chain, usdc, payer.at)).toEqual({
    status: 'ok',
    allowanceAtomic: 39n,
    permitNonce: 0n,
  })
  await expect(settle(payer, termsOf(payer, 'exact', nonceOf('03')), 40n)).rejects.toThrow()
})
