/**
 * Reads how signatures ended, from the nonces that the token (EIP-3009) and Permit2 keep. A nonce that is
 * unused above a final block later than the signature's end stays unused for good. One that is used was used
 * before that end, so in a block that is final as well.
 */
import * as z from 'zod'
import type { Chain } from '../../chain.ts'
import { quantitySchema } from '../../hex.ts'
import { readAnswer } from '../rpc/answer.ts'
import { decodeSnapshot, encodeSnapshot } from '../rpc/multicall.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import type { SignatureNonce } from '../signature-use.ts'
import { readUsed, useCall } from '../signature-use.ts'
import { isQuorum } from './enough.ts'

/** A signature that no block of the time `endSeconds` or later takes. */
export type EndedSignature = SignatureNonce & { endSeconds: number }

/** Ending of a signature. */
export type Ending = 'used' | 'unused'

/** Returns how each of at most 97 signatures ended; undefined where no quorum of endpoints says it. */
export async function readAgreedEndings(
  world: ChainWorld,
  chain: Chain,
  signatures: readonly EndedSignature[],
): Promise<(Ending | undefined)[]> {
  const told = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, endings: await readEndings(rpc, chain, signatures) }
    }),
  )
  return signatures.map((_, at) =>
    (['used', 'unused'] as const).find((ending) =>
      isQuorum(told.map(({ operator, endings }) => ({ operator, agrees: endings[at] === ending }))),
    ),
  )
}

const blockSchema = z.object({ number: quantitySchema, timestamp: quantitySchema })

async function readEndings(
  rpc: Rpc,
  chain: Chain,
  signatures: readonly EndedSignature[],
): Promise<(Ending | undefined)[]> {
  const finalCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
  const [block, state] = await rpc.batch([
    finalCall,
    encodeSnapshot(chain, signatures.map(useCall)),
  ])
  const final = readAnswer(block, blockSchema)
  const snapshot = decodeSnapshot(state, signatures.length)
  // Another backend may answer for the state and lag behind the final block.
  if ('status' in final || snapshot.status !== 'ok') return []
  if (snapshot.blockNumber < final.value.number) return []
  return signatures.map((signature, at) => {
    const isUsed = readUsed(signature, snapshot.results[at])
    if (isUsed === undefined || final.value.timestamp < signature.endSeconds) return undefined
    return isUsed ? 'used' : 'unused'
  })
}
