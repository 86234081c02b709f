/**
 * Reads ERC-4626 vaults and the shares that the yield gate holds for a wallet, and encodes orders for the gate
 * (scripts/local/contracts/YieldGate.sol). What is read is one endpoint's word: the bounds of an order are
 * enforced by the gate on the chain.
 */
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem/utils'
import type { Address, Chain } from '../chain.ts'
import { type Hex, readWord } from '../hex.ts'
import { type Unavailable, unavailable } from './rpc/endpoints.ts'
import { decodeSnapshot, encodeSnapshot, type InnerCall } from './rpc/multicall.ts'
import { type ChainWorld, rpcFor } from './rpc/rpc.ts'

const abi = parseAbi([
  'function sharesOf(address payer, address vault) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function previewDeposit(uint256 assets) view returns (uint256)',
  'function previewWithdraw(uint256 assets) view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
])

/** Vault with the gate through which it is used. */
export type Place = { chain: Chain; gate: Address; address: Address }

/** Position of a wallet; amounts of the token are in atomic units, the price is that of one whole share. */
export type Position = {
  shares: bigint
  decimals: number
  priceAtomic: bigint
  worthAtomic: bigint
}

const timeoutMilliseconds = 3_000
const decimalsMax = 36n

/** Reads a wallet's position in a vault. */
export async function readPosition(
  world: ChainWorld,
  { chain, gate, address }: Place,
  wallet: Address,
): Promise<Position | Unavailable> {
  const held = await readWords(world, chain, [
    sharesCall(gate, wallet, address),
    { target: address, callData: encodeFunctionData({ abi, functionName: 'decimals' }) },
  ])
  if ('log' in held) return held
  const [shares = 0n, decimals = 0n] = held
  if (decimals > decimalsMax) return unavailable('a share has too many decimals')
  const values = await readWords(world, chain, [
    vaultCall(address, 'convertToAssets', 10n ** decimals),
    vaultCall(address, 'convertToAssets', shares),
  ])
  if ('log' in values) return values
  const [priceAtomic = 0n, worthAtomic = 0n] = values
  return { shares, decimals: Number(decimals), priceAtomic, worthAtomic }
}

/** Reads how many shares the vault promises for a deposit. */
export async function readDeposit(
  world: ChainWorld,
  { chain, address }: Place,
  amountAtomic: bigint,
): Promise<{ shares: bigint } | Unavailable> {
  const read = await readWords(world, chain, [vaultCall(address, 'previewDeposit', amountAtomic)])
  return 'log' in read ? read : { shares: read[0] ?? 0n }
}

/** Reads the wallet's shares, those that a withdrawal of the amount takes, or all, and what they bring. */
export async function readWithdrawal(
  world: ChainWorld,
  { chain, gate, address }: Place,
  wallet: Address,
  amountAtomic: bigint | 'all',
): Promise<{ held: bigint; shares: bigint; worthAtomic: bigint } | Unavailable> {
  const read = await readWords(world, chain, [
    sharesCall(gate, wallet, address),
    ...(amountAtomic === 'all' ? [] : [vaultCall(address, 'previewWithdraw', amountAtomic)]),
  ])
  if ('log' in read) return read
  const [held = 0n, shares = held] = read
  const worth = await readWords(world, chain, [vaultCall(address, 'previewRedeem', shares)])
  return 'log' in worth ? worth : { held, shares, worthAtomic: worth[0] ?? 0n }
}

/** Encodes an order as the gate decodes it. */
export function encodeOrder(order: {
  vault: Address
  isDeposit: boolean
  shares: bigint
  minimumOut: bigint
}): Hex {
  return encodeAbiParameters(
    [{ type: 'address' }, { type: 'bool' }, { type: 'uint256' }, { type: 'uint256' }],
    [order.vault, order.isDeposit, order.shares, order.minimumOut],
  )
}

function sharesCall(gate: Address, wallet: Address, vault: Address): InnerCall {
  const callData = encodeFunctionData({ abi, functionName: 'sharesOf', args: [wallet, vault] })
  return { target: gate, callData }
}

type Preview = 'convertToAssets' | 'previewDeposit' | 'previewWithdraw' | 'previewRedeem'

function vaultCall(target: Address, functionName: Preview, amount: bigint): InnerCall {
  return { target, callData: encodeFunctionData({ abi, functionName, args: [amount] }) }
}

async function readWords(
  world: ChainWorld,
  chain: Chain,
  calls: readonly InnerCall[],
): Promise<bigint[] | Unavailable> {
  const { method, params } = encodeSnapshot(chain, calls)
  const answer = await rpcFor(world, chain).request(method, params, { timeoutMilliseconds })
  const snapshot = decodeSnapshot(answer, calls.length)
  if (snapshot.status !== 'ok') return snapshot
  const words = snapshot.results.map(readWord).filter((word) => word !== undefined)
  return words.length === calls.length ? words : unavailable('a vault or its gate does not answer')
}
