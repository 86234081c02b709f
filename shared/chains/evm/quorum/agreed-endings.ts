/**
 * Reads how signatures ended, from the nonces that the token (EIP-3009) and Permit2 keep. A nonce that is
 * unused above a final block later than the signature's end stays unused for good. One that is used was used
 * before that end, so in a block that is final as well.
 */
import { encodeFunctionData } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain } from '../../chain.ts'
import type { Hex } from '../../hex.ts'
import { quantitySchema } from '../../hex.ts'
import { permit2Abi, tokenAbi } from '../abi.ts'
import { readAnswer } from '../rpc/answer.ts'
import type { InnerCall } from '../rpc/multicall.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from '../rpc/multicall.ts'
import { permit2Address } from '../rpc/places.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import { isQuorum } from './enough.ts'

/** A signature with its nonce. `endSeconds`: no block of this time or later takes it. */
export type EndedSignature = {
  wallet: Address
  token: Address
  nonce: Hex
  isPermit: boolean
  endSeconds: number
}

/** How a signature ended. */
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
    const word = readWord(snapshot.results[at])
    if (word === undefined || final.value.timestamp < signature.endSeconds) return undefined
    return isUsed(signature, word) ? 'used' : 'unused'
  })
}

function useCall({ wallet, token, nonce, isPermit }: EndedSignature): InnerCall {
  if (isPermit) {
    const args = [wallet, BigInt(nonce) >> 8n] as const
    const callData = encodeFunctionData({ abi: permit2Abi, functionName: 'nonceBitmap', args })
    return { target: permit2Address, callData }
  }
  const args = [wallet, nonce] as const
  const functionName = 'authorizationState'
  return { target: token, callData: encodeFunctionData({ abi: tokenAbi, functionName, args }) }
}

function isUsed({ nonce, isPermit }: EndedSignature, word: bigint): boolean {
  return isPermit ? ((word >> (BigInt(nonce) & 255n)) & 1n) === 1n : word === 1n
}
