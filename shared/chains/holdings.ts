/**
 * Wallet holdings on one chain, in the form of the API answer. USD values use the rates that limits are
 * counted with, not market prices. The native coin has no USD value.
 */
import type { Config } from '../env.ts'
import { formatAmount, formatUsd } from '../money/amount.ts'
import { usdMicrosOf } from '../money/usd.ts'
import type { Chain, Token } from './chain.ts'
import type { WalletBalances } from './evm/funds.ts'
import type { Unavailable } from './evm/rpc/endpoints.ts'
import type { IsWanted } from './wanted.ts'

/** Returns the wanted tokens that exist on the chain, and its native coin if that is wanted. */
export function holdings(chain: Chain, seen: WalletBalances, isWanted: IsWanted, config: Config) {
  const present = seen.tokens.filter(({ absent }) => !absent)
  const tokens = present.map(({ token, amountAtomic }) =>
    holding(chain, token, amountAtomic, config),
  )
  if (!isWanted(chain.native.symbol, null)) return tokens
  return [...tokens, holding(chain, chain.native, seen.nativeWei, config)]
}

function holding(
  { caip2: chain }: Chain,
  asset: Token | Chain['native'],
  amountAtomic: bigint,
  config: Config,
) {
  const { symbol: token, decimals } = asset
  const usdMicros = 'address' in asset ? usdMicrosOf(asset, amountAtomic, config) : undefined
  const body = {
    chain,
    token,
    token_address: 'address' in asset ? asset.address : null,
    decimals,
    amount: formatAmount(amountAtomic, decimals),
    amount_atomic: amountAtomic.toString(),
    usd_value: usdMicros === undefined ? null : formatUsd(usdMicros),
  }
  return { body, usdMicros }
}

/** Returns whether the chain answered, and the block and time of its answer. */
export function chainBody(chain: Chain, seen: WalletBalances | Unavailable) {
  const { caip2, title: name } = chain
  if (seen.status !== 'ok') {
    return { chain: caip2, name, status: 'unavailable' as const, block_number: null, as_of: null }
  }
  const asOf = new Date(Number(seen.blockTimestampSeconds) * 1000).toISOString()
  return {
    chain: caip2,
    name,
    status: 'ok' as const,
    block_number: seen.blockNumber.toString(),
    as_of: asOf,
  }
}
