/**
 * Reads the wallet's token allowance for Permit2, and the wallet's next EIP-2612 nonce, with which that
 * allowance can be raised.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import { hexSchema, readWord } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import { readRpcAnswer, type Unavailable, unavailable } from './rpc/endpoints.ts'
import { decodeSnapshot, encodeSnapshot } from './rpc/multicall.ts'
import { permit2Address } from './rpc/places.ts'
import { type ChainWorld, rpcFor } from './rpc/rpc.ts'

/** Allowance as read. `absent`: Permit2 or the spender has no code here, so no signature can be used. */
export type Allowance =
  | { status: 'ok'; allowanceAtomic: bigint; permitNonce: bigint }
  | { status: 'absent' }
  | Unavailable

/** Reads all in one round trip. `spender` is the only contract that can use the permit. */
export async function readAllowance(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  { wallet, spender }: { wallet: Address; spender: Address },
): Promise<Allowance> {
  const args = [wallet, permit2Address] as const
  const allowance = encodeFunctionData({ abi: tokenAbi, functionName: 'allowance', args })
  const nonces = encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args: [wallet] })
  const calls = [allowance, nonces].map((callData) => ({ target: token.address, callData }))
  const [state, ...codes] = await rpcFor(world, chain).batch([
    encodeSnapshot(chain, calls),
    ...[permit2Address, spender].map((place) => ({
      method: 'eth_getCode',
      params: [place, 'latest'],
    })),
  ])
  for (const code of codes) {
    const read = readRpcAnswer(code, hexSchema)
    if ('status' in read) return read
    if (read.value === '0x') return { status: 'absent' }
  }
  const snapshot = decodeSnapshot(state, calls.length)
  if (snapshot.status !== 'ok') return snapshot
  const [allowanceAtomic, permitNonce] = snapshot.results.map(readWord)
  if (allowanceAtomic === undefined || permitNonce === undefined) {
    return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  }
  return { status: 'ok', allowanceAtomic, permitNonce }
}
