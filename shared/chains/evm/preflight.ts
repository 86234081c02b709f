/**
 * Reads everything that a transfer is decided and priced from, in one round trip: balances and nonces of
 * wallet and relayers, the price of gas, whether the token contract has the registry's EIP-712 domain, and
 * whether it moves money now. It reserves nothing and holds for one block.
 */
import { encodeAbiParameters, encodeFunctionData, keccak256, stringToHex } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import { type Hex, readWord } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import { type Barred, barCalls, readBarred } from './funds.ts'
import {
  type BudgetedFees,
  dataFeeCall,
  feeHistoryCall,
  type GasConfig,
  maxFeePerGasOf,
  readDataFee,
  readFees,
  relayGas,
  withinBudget,
} from './gas.ts'
import { type RpcAnswer, type Unavailable, unavailable } from './rpc/endpoints.ts'
import {
  balanceCall,
  decodeSnapshot,
  encodeSnapshot,
  type InnerCall,
  nativeCall,
} from './rpc/multicall.ts'
import { countCall, readCount } from './rpc/reads.ts'
import { type ChainWorld, rpcFor } from './rpc/rpc.ts'
import { type OpenSignature, sumUsed, useCall } from './signature-use.ts'

/** Input. `gasPayers` are relayers that could carry the transfer, `open` what is reserved in the wallet. */
export type PreflightRequest = {
  token: Token
  wallet: Address
  payee: Address
  gasPayers: readonly Address[]
  open?: readonly OpenSignature[]
}

/** Result. Amounts of the token are in atomic units, all others in wei. */
export type Preflight = BudgetedFees & {
  status: 'ok'
  /** Latest block. */
  seenBlock: number
  /** Unix seconds of that block. */
  blockTimestampSeconds: bigint
  /** Balance, with what open signatures have taken from it. */
  tokenAtomic: bigint
  walletWei: bigint
  gasPayers: GasPayerHolding[]
  /** Worst-case cost of one transfer, relayed or sent by the wallet, with a rollup's calldata. */
  relayedCostWei: bigint
  /** Part of that cost that a rollup charges for calldata. */
  dataFeeWei: bigint
  /** False if this contract would refuse a signature under the registry's EIP-712 domain. */
  domainMatches: boolean
  /** Reason why the issuer's contract would refuse it now (FiatToken's own rules). */
  barred?: Barred
  /** The wallet's next nonce, pending transactions included. */
  walletNonce: number
}

/** Balance of a relayer, and the number of its transactions that are mined. */
export type GasPayerHolding = { address: Address; wei: bigint; minedNonce: number }

const timeoutMilliseconds = 3_000

/** Reads all parts at once. If a required part is missing, the result is `unavailable`. */
export async function readPreflight(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  request: PreflightRequest,
): Promise<Preflight | Unavailable> {
  const { wallet, gasPayers } = request
  const inner = innerCalls(request)
  const calls = [
    encodeSnapshot(chain, inner),
    feeHistoryCall,
    countCall(wallet, 'pending'),
    ...gasPayers.map((gasPayer) => countCall(gasPayer, 'latest')),
  ]
  const [state, history, walletCount, ...gasPayerCounts] = await rpcFor(world, chain).batch(calls, {
    timeoutMilliseconds,
  })
  const holdings = readHoldings(chain, request, { answer: state, calls: inner.length })
  const suggested = readFees(history)
  const walletNonce = readCount(walletCount)
  if ('log' in holdings) return holdings
  if ('log' in suggested) return suggested
  if (walletNonce === undefined) return unavailable('a transaction count is missing')
  const { gasPayersWei, blockNumber: seenBlock, ...rest } = holdings
  const fees = withinBudget(suggested, maxFeePerGasOf(chain, world.config))
  return {
    ...rest,
    ...fees,
    seenBlock,
    gasPayers: gasPayers.flatMap((address, at) => {
      const [wei, minedNonce] = [gasPayersWei[at], readCount(gasPayerCounts[at])]
      return wei === undefined || minedNonce === undefined ? [] : [{ address, wei, minedNonce }]
    }),
    relayedCostWei: relayGas(chain.id, 1) * fees.maxFeePerGas + rest.dataFeeWei,
    walletNonce,
  }
}

function innerCalls({ token, wallet, payee, gasPayers, open = [] }: PreflightRequest): InnerCall[] {
  const separator = encodeFunctionData({ abi: tokenAbi, functionName: 'DOMAIN_SEPARATOR' })
  return [
    balanceCall(token, wallet),
    nativeCall(wallet),
    { target: token.address, callData: separator },
    ...barCalls({ token, wallet, payee }),
    dataFeeCall,
    ...open.map(useCall),
    ...gasPayers.map(nativeCall),
  ]
}

function readHoldings(
  chain: Chain,
  { token, open = [] }: PreflightRequest,
  { answer, calls }: { answer: RpcAnswer | undefined; calls: number },
) {
  const snapshot = decodeSnapshot(answer, calls)
  if (snapshot.status !== 'ok') return snapshot
  const [balance, native, separator, paused, payer, payee, dataFee, ...rest] = snapshot.results
  const tokenAtomic = readWord(balance)
  const walletWei = readWord(native)
  if (tokenAtomic === undefined) return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  if (walletWei === undefined) return unavailable('the native balance is missing')
  return {
    status: 'ok' as const,
    blockNumber: Number(snapshot.blockNumber),
    blockTimestampSeconds: snapshot.blockTimestampSeconds,
    tokenAtomic: tokenAtomic + sumUsed(open, rest),
    walletWei,
    gasPayersWei: rest.slice(open.length).map(readWord),
    dataFeeWei: readDataFee(chain, readWord(dataFee)),
    domainMatches: separator === domainSeparator(chain, token),
    ...readBarred([paused, payer, payee]),
  }
}

/** Returns the EIP-712 domainSeparator over name, version, chainId and verifyingContract. */
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
