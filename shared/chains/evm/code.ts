/**
 * What kind of thing an address is on one chain. It is asked before a transfer to a stranger, for a
 * warning; it decides nothing, since code can appear at an address later.
 */

import { hexSchema } from '../hex.ts'
import type { Address, Chain } from '../registry.ts'
import type { ChainWorld, Unavailable } from './rpc.ts'
import { readAnswer, rpcFor } from './rpc.ts'

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
