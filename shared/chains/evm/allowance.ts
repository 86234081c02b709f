/**
 * What Permit2 may take of a wallet's token, and the wallet's next EIP-2612 nonce, with which it could
 * be let to take more.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import { hexSchema } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import { permit2Address } from './places.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** `absent`: Permit2 or the spender is no contract here, so nothing that is signed could be used. */
export type Allowance =
  | { status: 'ok'; allowanceAtomic: bigint; permitNonce: bigint }
  | { status: 'absent' }
  | Unavailable

/** Read in one round trip; `spender` is the contract through which alone a permit is used. */
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
    const read = readAnswer(code, hexSchema)
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
