/**
 * What kind of thing an address is on one chain. It is asked before a transfer to a stranger, for a
 * warning; it decides nothing, since code can appear at an address later.
 */
import type { Address, Chain } from '../chain.ts'
import { hexSchema } from '../hex.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer } from './answer.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** `delegated`: an account with a key that runs a contract's code (EIP-7702). */
export type AddressKind = { status: 'ok'; kind: 'account' | 'delegated' | 'contract' }

/** Whether code lives at the address. A contract can receive tokens and be unable to send them. */
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
  // EIP-3541 keeps all other code from beginning with 0xef.
  return { status: 'ok', kind: code.startsWith('0xef0100') ? 'delegated' : 'contract' }
}

/** True if it is a contract on any of the chains; null when a chain that might say so is silent. */
export async function isContractOn(
  world: ChainWorld,
  chains: readonly Chain[],
  address: Address,
): Promise<boolean | null> {
  const kinds = await Promise.all(chains.map((chain) => readAddressKind(world, chain, address)))
  if (kinds.some((read) => read.status === 'ok' && read.kind === 'contract')) return true
  return kinds.every((read) => read.status === 'ok') ? false : null
}
