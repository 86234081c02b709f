/**
 * Everything that a transfer is decided and priced from, in one HTTP request: what the wallet and
 * the relayer hold, what gas costs, the wallet's next nonce, and whether the token contract signs
 * under the domain that the registry names. It reserves nothing; it is true for one block.
 */
import { encodeAbiParameters, encodeFunctionData, keccak256, stringToHex } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { quantitySchema } from '../hex.ts'
import { rollupAbi, tokenAbi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { Fees } from './fees.ts'
import { directTransferGas, feeHistoryCall, readFees, relayedTransferGas } from './fees.ts'
import type { Inner } from './multicall.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, nativeCall, readWord } from './multicall.ts'
import { gasPriceOracleAddress } from './places.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** `lane` is the relayer's address; `withNonce` asks for the wallet's next transaction number. */
export type PreflightRequest = {
  token: Token
  wallet: Address
  lane?: Address
  withNonce?: boolean
}

/** Amounts of the token in atomic units, all others in wei. */
export type Preflight = Fees & {
  status: 'ok'
  blockNumber: bigint
  tokenAtomic: bigint
  walletWei: bigint
  laneWei?: bigint
  /** Worst case of one relayed transfer, calldata of a rollup included. */
  relayedCostWei: bigint
  /** Worst case of one transfer that the wallet sends itself. */
  directCostWei: bigint
  /** False: a signature under the registry's EIP-712 domain would be refused by this contract. */
  domainMatches: boolean
  walletNonce?: number
}

const timeoutMilliseconds = 3_000
// An unsigned transferWithAuthorization has about 450 bytes; a rollup charges for all of them.
const transactionBytesMax = 600n

/** Reads all of it at once; any part that is missing makes the whole `unavailable`. */
export async function readPreflight(
  world: ChainWorld,
  chain: Chain,
  request: PreflightRequest,
): Promise<Preflight | Unavailable> {
  const { wallet, withNonce } = request
  const nonceCall = { method: 'eth_getTransactionCount', params: [wallet, 'pending'] }
  const calls = [encodeSnapshot(chain, innerCalls(request)), feeHistoryCall]
  const [state, history, count] = await rpcFor(world, chain).batch(
    withNonce ? [...calls, nonceCall] : calls,
    { timeoutMilliseconds },
  )
  const holdings = readHoldings(chain, request, state)
  const fees = readFees(history)
  if ('log' in holdings) return holdings
  if ('log' in fees) return fees
  const { dataFeeWei, ...rest } = holdings
  const priced = {
    ...rest,
    ...fees,
    relayedCostWei: relayedTransferGas * fees.maxFeePerGas + dataFeeWei,
    directCostWei: directTransferGas * fees.maxFeePerGas + dataFeeWei,
  }
  if (!withNonce) return priced
  const nonce = readAnswer(count, quantitySchema)
  return 'status' in nonce ? nonce : { ...priced, walletNonce: Number(nonce.value) }
}

function innerCalls({ token, wallet, lane }: PreflightRequest): Inner[] {
  const args = [transactionBytesMax] as const
  const separator = encodeFunctionData({ abi: tokenAbi, functionName: 'DOMAIN_SEPARATOR' })
  const fee = encodeFunctionData({ abi: rollupAbi, functionName: 'getL1FeeUpperBound', args })
  return [
    balanceCall(token, wallet),
    nativeCall(wallet),
    { target: token.address, callData: separator },
    { target: gasPriceOracleAddress, callData: fee },
    ...(lane ? [nativeCall(lane)] : []),
  ]
}

function readHoldings(
  chain: Chain,
  { token, lane }: PreflightRequest,
  state: RpcAnswer | undefined,
) {
  const snapshot = decodeSnapshot(state)
  if (snapshot.status !== 'ok') return snapshot
  const [balance, native, separator, dataFee, laneNative] = snapshot.results
  const tokenAtomic = readWord(balance)
  const walletWei = readWord(native)
  const laneWei = readWord(laneNative)
  if (tokenAtomic === undefined) return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  if (walletWei === undefined) return unavailable('the native balance is missing')
  if (lane && laneWei === undefined) return unavailable("the relayer's balance is missing")
  return {
    status: 'ok' as const,
    blockNumber: snapshot.blockNumber,
    tokenAtomic,
    walletWei,
    ...(laneWei === undefined ? {} : { laneWei }),
    // Only rollups of the OP Stack have this contract; elsewhere nobody answers, nobody charges.
    dataFeeWei: (chain.stack === 'op' ? readWord(dataFee) : undefined) ?? 0n,
    domainMatches: separator === domainSeparator(chain, token),
  }
}

/** EIP-712 domainSeparator over name, version, chainId and verifyingContract. */
function domainSeparator({ id }: Chain, { address, domain }: Token): Hex {
  const type = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
  const [typeHash, name, version] = [type, domain.name, domain.version].map((text) =>
    keccak256(stringToHex(text)),
  )
  return keccak256(
    encodeAbiParameters(
      [
        { type: 'bytes32' },
        { type: 'bytes32' },
        { type: 'bytes32' },
        { type: 'uint256' },
        { type: 'address' },
      ],
      [typeHash ?? '0x', name ?? '0x', version ?? '0x', BigInt(id), address],
    ),
  )
}
