/**
 * Everything that a transfer is decided and priced from, in one HTTP request: what the wallet and
 * the relayers hold, what gas costs, their nonces, and whether the token contract signs under the
 * domain that the registry names and moves money now. It reserves nothing; it is true for one block.
 */
import { encodeAbiParameters, encodeFunctionData, keccak256, stringToHex } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import type { LaneHolding } from './ask-head.ts'
import { askHead, holdingOf } from './ask-head.ts'
import type { Barred } from './bars.ts'
import { barCalls, readBarred } from './bars.ts'
import { countCall, readCount } from './counts.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import { feeHistoryCall, readFees, relayGas } from './fees.ts'
import type { BudgetedFees, GasConfig } from './gas-budget.ts'
import { maxFeePerGasOf, withinBudget } from './gas-budget.ts'
import type { GasSeen } from './gas-seen.ts'
import { believedGas } from './gas-seen.ts'
import type { Inner } from './multicall.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, nativeCall, readWord } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** `lanes` are relayers that could carry the transfer; `lately` is what gas cost in the last hour. */
export type PreflightRequest = {
  token: Token
  wallet: Address
  payee: Address
  lanes: readonly Address[]
  lately?: GasSeen | undefined
}

/** Amounts of the token in atomic units, all others in wei. */
export type Preflight = BudgetedFees & {
  status: 'ok'
  /** The latest block, where enough endpoints tell it. */
  seenBlock: number | undefined
  /** Unix seconds of the latest block, as the endpoints say together. */
  blockTimestampSeconds: bigint
  tokenAtomic: bigint
  walletWei: bigint
  lanes: LaneHolding[]
  /** Worst case of one relayed transfer, calldata of a rollup included; of a wallet's own as well. */
  relayedCostWei: bigint
  /** Of it, what a rollup charges for calldata. */
  dataFeeWei: bigint
  /** False: a signature under the registry's EIP-712 domain would be refused by this contract. */
  domainMatches: boolean
  /** Why the issuer's contract would refuse it now, by the word of one endpoint (FiatToken's own rules). */
  barred?: Barred
  /** The wallet's next transaction number, pending ones included, as enough endpoints show it. */
  walletNonce: number
}

const timeoutMilliseconds = 3_000

/** Reads all of it at once; any part that is missing makes the whole `unavailable`. */
export async function readPreflight(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  request: PreflightRequest,
): Promise<Preflight | Unavailable> {
  const { wallet, lanes } = request
  const inner = innerCalls(request)
  const calls = [
    encodeSnapshot(chain, inner),
    feeHistoryCall,
    countCall(wallet, 'pending'),
    ...lanes.map((lane) => countCall(lane, 'latest')),
  ]
  const [[state, history, walletCount, ...laneCounts], together] = await Promise.all([
    rpcFor(world, chain).batch(calls, { timeoutMilliseconds }),
    askHead(world, chain, { wallet, lanes }),
  ])
  const holdings = readHoldings(chain, request.token, { answer: state, calls: inner.length })
  const suggested = together?.head ?? readFees(history)
  const walletNonce = together ? together.walletNonce : readCount(walletCount)
  if ('log' in holdings) return holdings
  if ('log' in suggested) return suggested
  if (walletNonce === undefined) return unavailable('a transaction count is missing')
  const { lanesWei, blockNumber, ...rest } = holdings
  const told = { ...rest, ...suggested }
  const believed = believedGas(told, together?.isAgreed ?? true, request.lately)
  const { blockTimestampSeconds, dataFeeWei } = believed
  const fees = withinBudget(believed, maxFeePerGasOf(chain, world.config))
  const alone = (address: Address, at: number) =>
    holdingOf(address, presentIn(lanesWei[at]), presentIn(readCount(laneCounts[at])))
  const several = together?.lanes ?? []
  return {
    ...rest,
    ...fees,
    seenBlock: together ? together.blockNumber : blockNumber,
    blockTimestampSeconds,
    dataFeeWei,
    lanes: several.length > 0 ? several : lanes.flatMap(alone),
    relayedCostWei: relayGas(chain.id, 1) * fees.maxFeePerGas + dataFeeWei,
    walletNonce,
  }
}

const presentIn = <Value>(value: Value | undefined) => (value === undefined ? [] : [value])

function innerCalls({ token, wallet, payee, lanes }: PreflightRequest): Inner[] {
  const separator = encodeFunctionData({ abi: tokenAbi, functionName: 'DOMAIN_SEPARATOR' })
  return [
    balanceCall(token, wallet),
    nativeCall(wallet),
    { target: token.address, callData: separator },
    ...barCalls({ token, wallet, payee }),
    dataFeeCall,
    ...lanes.map(nativeCall),
  ]
}

function readHoldings(
  chain: Chain,
  token: Token,
  { answer, calls }: { answer: RpcAnswer | undefined; calls: number },
) {
  const snapshot = decodeSnapshot(answer, calls)
  if (snapshot.status !== 'ok') return snapshot
  const [balance, native, separator, paused, payer, payee, dataFee, ...lanes] = snapshot.results
  const tokenAtomic = readWord(balance)
  const walletWei = readWord(native)
  if (tokenAtomic === undefined) return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  if (walletWei === undefined) return unavailable('the native balance is missing')
  return {
    status: 'ok' as const,
    blockNumber: Number(snapshot.blockNumber),
    blockTimestampSeconds: snapshot.blockTimestampSeconds,
    tokenAtomic,
    walletWei,
    lanesWei: lanes.map(readWord),
    dataFeeWei: readDataFee(chain, readWord(dataFee)),
    domainMatches: separator === domainSeparator(chain, token),
    ...readBarred([paused, payer, payee]),
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
