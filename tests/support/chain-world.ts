/**
 * Means that the chain tests share: the part of the world that reading a chain needs, with a count of HTTP
 * requests, and payers whose signatures and transactions ethers makes.
 */
import { getAddress, Interface, keccak256, Wallet } from 'ethers'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import type { GasConfig } from '../../shared/chains/evm/gas.ts'
import type { ChainWorld } from '../../shared/chains/evm/rpc/rpc.ts'
import type { Hex } from '../../shared/chains/hex.ts'
import {
  type Address,
  type Chain,
  findChain,
  type Token,
  tokenBySymbol,
} from '../../shared/chains/registry.ts'
import { type Deadlines, openDeadlines } from './deadlines.ts'
import { randomBytes } from './seed.ts'

export type CountingWorld = ChainWorld & { config: GasConfig; requests: number } & Pick<
    Deadlines,
    'expire'
  >

/** A gas budget that no fee of the tests exceeds. */
const gasConfig: GasConfig = {
  gasUsdMax: { '*': '100' },
  nativeUsdRates: { ETH: '5000', POL: '1', AVAX: '60' },
}

/** Returns a world connected to these endpoints. `fetch` stands for the network. */
export function worldOn(
  urls: Record<string, string | readonly string[]>,
  fetch: ChainWorld['fetch'] = globalThis.fetch,
): CountingWorld {
  const chainRpcUrls = Object.fromEntries(
    Object.entries(urls).map(([id, endpoints]) => [id, [endpoints].flat()]),
  )
  const { deadline, watch, expire } = openDeadlines()
  const world: CountingWorld = {
    requests: 0,
    config: { chainRpcUrls, ...gasConfig },
    endpointHealth: new Map(),
    now: () => new Date(),
    deadline,
    expire,
    fetch: watch((input, init) => {
      world.requests += 1
      return fetch(input, init)
    }),
  }
  return world
}

export function known(caip2: string): { chain: Chain; usdc: Token; eurc: Token | undefined } {
  const chain = findChain(caip2)
  const usdc = chain && tokenBySymbol(chain, 'USDC')
  if (!chain || !usdc) throw new Error(`the registry has no USDC on ${caip2}`)
  return { chain, usdc, eurc: tokenBySymbol(chain, 'EURC') }
}

export type Key = Wallet & { at: Address }

export function newKey(): Key {
  // The usual way in ethers derives the key from a mnemonic, which takes a hundred times as long.
  const wallet = new Wallet(`0x${randomBytes(32).toString('hex')}`)
  return Object.assign(wallet, { at: hex(getAddress(wallet.address)) })
}

export function hex(text: string): Hex {
  return `0x${text.replace(/^0x/, '')}`
}

export const nonceOf = (byte: string): Hex => hex(byte.repeat(32))

const transferTypes = [
  'from:address',
  'to:address',
  'value:uint256',
  'validAfter:uint256',
  'validBefore:uint256',
  'nonce:bytes32',
]
const forms = new Interface([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  'function cancelAuthorization(address,bytes32,bytes)',
  'function transfer(address,uint256)',
  'function aggregate3((address target,bool allowFailure,bytes callData)[])',
])

export type Terms = { to: Address; value: bigint; nonce: Hex; validBefore?: bigint }

/** Returns calldata of EIP-3009 transferWithAuthorization, signed by the payer. */
export async function authorize(
  chain: Chain,
  token: Token,
  payer: Key,
  terms: Terms,
): Promise<Hex> {
  const { to, value, nonce, validBefore = 2n ** 40n } = terms
  const message = { from: payer.at, to, value, validAfter: 0n, validBefore, nonce }
  const TransferWithAuthorization = transferTypes.map(field)
  const signature = await payer.signTypedData(
    domain(chain, token),
    { TransferWithAuthorization },
    message,
  )
  const values = [...Object.values(message), signature]
  return hex(forms.encodeFunctionData('transferWithAuthorization', values))
}

/** Returns calldata of EIP-3009 cancelAuthorization, signed by the payer. */
export async function cancel(chain: Chain, token: Token, payer: Key, nonce: Hex): Promise<Hex> {
  const CancelAuthorization = ['authorizer:address', 'nonce:bytes32'].map(field)
  const message = { authorizer: payer.at, nonce }
  const signature = await payer.signTypedData(
    domain(chain, token),
    { CancelAuthorization },
    message,
  )
  return cancelCalldata(payer.at, nonce, signature)
}

/** Returns calldata of cancelAuthorization with a given signature. */
export function cancelCalldata(authorizer: string, nonce: string, signature: string): Hex {
  return hex(forms.encodeFunctionData('cancelAuthorization', [authorizer, nonce, signature]))
}

/** Returns calldata of a plain ERC-20 transfer. */
export function transfer(to: Address, value: bigint): Hex {
  return hex(forms.encodeFunctionData('transfer', [to, value]))
}

/** Returns calldata of Multicall3 that tries each call and continues when one fails. */
export function batchCalls(token: Token, calls: readonly Hex[]): Hex {
  const tried = calls.map((callData) => ({ target: token.address, allowFailure: true, callData }))
  return hex(forms.encodeFunctionData('aggregate3', [tried]))
}

export type Outer = { to: Address; data: Hex; nonce: number; maxFeePerGas?: bigint }

/** Returns an EIP-1559 transaction signed by ethers, with its hash. */
export async function sign(
  chain: Chain,
  sender: Key,
  outer: Outer,
): Promise<{ raw: Hex; hash: Hex }> {
  const { maxFeePerGas = 20_000_000_000n } = outer
  const fees = { maxFeePerGas, maxPriorityFeePerGas: 1_000_000n }
  const fields = { type: 2, chainId: chain.id, gasLimit: 600_000n, ...fees }
  const raw = await sender.signTransaction({ ...outer, ...fields })
  return { raw: hex(raw), hash: hex(keccak256(raw)) }
}

function field(text: string) {
  const [name = '', type = ''] = text.split(':')
  return { name, type }
}

function domain(chain: Chain, token: Token) {
  return { ...token.domain, chainId: chain.id, verifyingContract: token.address }
}

/**
 * Runs with mining stopped, then mines one block. Anvil answers a broadcast before it has mined it, so a
 * test that looked at once would sometimes look too early.
 */
export async function minedTogether<Value>(
  rpcUrl: string,
  run: () => Promise<Value>,
): Promise<Value> {
  await callRpc(rpcUrl, [['evm_setAutomine', false]])
  const value = await run()
  // In two requests: anvil runs a batch in parallel, and automine would mine a second block.
  await callRpc(rpcUrl, [['evm_mine']])
  await callRpc(rpcUrl, [['evm_setAutomine', true]])
  return value
}

/** Returns a network that rewrites the text of each request before it reaches the node. */
export function rewriting(change: (body: string) => string): ChainWorld['fetch'] {
  return async (input, init) => {
    const body = change(await new Response(init?.body ?? null).text())
    return fetch(input, { ...init, body })
  }
}
