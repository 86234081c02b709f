/**
 * Whether another transaction took an address's nonce for good, so that none of ours can be mined
 * any more. A payment ends by this, so one endpoint that counts what is not there, or denies a
 * receipt, must not be believed alone: each has to say so, and one that is silent delays it.
 */
import * as z from 'zod'
import type { Address, Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { quantitySchema } from '../hex.ts'
import { readAnswer } from './answer.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcsFor } from './rpc.ts'

/** A nonce and all that was ever signed for it. */
export type Place = { address: Address; nonce: number; hashes: readonly Hex[] }

/** Asks every endpoint: the nonce is used at its finalized block, and it knows none of ours. */
export async function isDisplaced(world: ChainWorld, chain: Chain, place: Place): Promise<boolean> {
  const said = await Promise.all(rpcsFor(world, chain).map((rpc) => saysDisplaced(rpc, place)))
  return said.length > 0 && said.every(Boolean)
}

async function saysDisplaced(rpc: Rpc, { address, nonce, hashes }: Place): Promise<boolean> {
  const [count, ...receipts] = await rpc.batch([
    { method: 'eth_getTransactionCount', params: [address, 'finalized'] },
    ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  ])
  const used = readAnswer(count, quantitySchema)
  const isUsed = 'value' in used && used.value > BigInt(nonce)
  return isUsed && receipts.every((receipt) => 'value' in readAnswer(receipt, z.null()))
}
