/**
 * Reads what kind of account an address is on one chain. The answer warns before a transfer to an unknown
 * payee. It decides nothing, because code can appear at an address later.
 */
import type { Address, Chain } from '../chain.ts'
import { hexSchema } from '../hex.ts'
import type { Unavailable } from './rpc/answer.ts'
import { readAnswer } from './rpc/answer.ts'
import type { ChainWorld } from './rpc/rpc.ts'
import { rpcFor } from './rpc/rpc.ts'

/** Kind of an address. `delegated`: an account with a key that runs a contract's code (EIP-7702). */
export type AddressKind = { status: 'ok'; kind: 'account' | 'delegated' | 'contract' }

/** Reads whether an address has code. A contract may receive tokens that it cannot send on. */
export async function readAddressKind(
  world: ChainWorld,
  chain: Chain,
  address: Address,
): Promise<AddressKind | Unavailable> {
  const answer = await rpcFor(world, chain).request('eth_getCode', [address, 'latest'])
  const read = readAnswer(answer, hexSchema)
  if ('status' in read) return read
  const code = read.value.toLowerCase()
  if (code === '0x') return { status: 'ok', kind: 'account' }
  // EIP-3541 forbids all other code to begin with 0xef.
  return { status: 'ok', kind: code.startsWith('0xef0100') ? 'delegated' : 'contract' }
}

/** Returns true if it is a contract on any of the chains; null if a chain that could say so is silent. */
export async function isContractOn(
  world: ChainWorld,
  chains: readonly Chain[],
  address: Address,
): Promise<boolean | null> {
  const kinds = await Promise.all(chains.map((chain) => readAddressKind(world, chain, address)))
  if (kinds.some((read) => read.status === 'ok' && read.kind === 'contract')) return true
  return kinds.every((read) => read.status === 'ok') ? false : null
}
