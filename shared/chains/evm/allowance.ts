/**
 * What Permit2 may take of a wallet's token, and the wallet's next EIP-2612 nonce, with which it could
 * be let to take more.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import { permit2Abi, tokenAbi } from './abi.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import { permit2Address } from './places.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** Read in one block. Where Permit2 itself is missing, nothing that is signed for it would ever end. */
export async function readAllowance(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  wallet: Address,
): Promise<{ status: 'ok'; allowanceAtomic: bigint; permitNonce: bigint } | Unavailable> {
  const args = [wallet, permit2Address] as const
  const allowance = encodeFunctionData({ abi: tokenAbi, functionName: 'allowance', args })
  const nonces = encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args: [wallet] })
  const bitmap = encodeFunctionData({
    abi: permit2Abi,
    functionName: 'nonceBitmap',
    args: [wallet, 0n],
  })
  const ofToken = [allowance, nonces].map((callData) => ({ target: token.address, callData }))
  const calls = [...ofToken, { target: permit2Address, callData: bitmap }]
  const { method, params } = encodeSnapshot(chain, calls)
  const snapshot = decodeSnapshot(await rpcFor(world, chain).request(method, params))
  if (snapshot.status !== 'ok') return snapshot
  const [allowanceAtomic, permitNonce, deployed] = snapshot.results.map(readWord)
  if (allowanceAtomic === undefined || permitNonce === undefined || deployed === undefined) {
    return unavailable(`${token.symbol} and Permit2 are not both on ${chain.caip2}`)
  }
  return { status: 'ok', allowanceAtomic, permitNonce }
}
