import * as z from 'zod'
import type { Balances } from '../../shared/chains/evm/balances.ts'
import { readBalances } from '../../shared/chains/evm/balances.ts'
import { addressSchema } from '../../shared/chains/hex.ts'
import type { Chain, Token } from '../../shared/chains/registry.ts'
import { connectedChains, findChain } from '../../shared/chains/registry.ts'
import type { Refusal } from '../../shared/contract/errors.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Config } from '../../shared/env.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { formatAmount, formatUsd } from '../../shared/money/amount.ts'
import { usdMicrosOf } from '../../shared/money/usd.ts'
import type { walletBalances } from './contract.ts'

const walletRow = z.object({
  address: addressSchema,
  reserved_usd_micros: z.string().transform(BigInt),
})

export const run: Handler<typeof walletBalances> = async (input, { db, world }) => {
  const chains = wantedChains(world.config, input.chains)
  if (isRefusal(chains)) return chains
  const isWanted = wantedTokens(chains, input.tokens)
  if (isRefusal(isWanted)) return isWanted
  const wallet = await db.one('get_wallet', {}, walletRow)
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const { address } = wallet
  const reads = await Promise.all(
    chains.map(async (chain) => {
      const tokens = chain.tokens.filter((token) => isWanted(token.symbol, token.address))
      return { chain, seen: await readBalances(world, chain, { address, tokens }) }
    }),
  )
  const held = reads.flatMap(({ chain, seen }) =>
    seen.status === 'ok' ? holdings(chain, seen, isWanted, world.config) : [],
  )
  const total = held.reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n)
  const reserved = wallet.reserved_usd_micros
  return {
    balances: held.map(({ body }) => body),
    chains: reads.map(({ chain, seen }) => chainBody(chain, seen)),
    total_usd: formatUsd(total),
    reserved_usd: formatUsd(reserved),
    available_usd: formatUsd(total > reserved ? total - reserved : 0n),
  }
}

function wantedChains(
  config: Config,
  names: string[] | undefined,
): Chain[] | Refusal<'unsupported_chain'> {
  const connected = connectedChains(config)
  if (!names) return connected
  const wanted = new Set<Chain>()
  for (const name of names) {
    const chain = findChain(name)
    if (!chain || !connected.includes(chain)) {
      const available = connected.map(({ caip2 }) => caip2)
      return fail('unsupported_chain', { details: { chain: name, available } })
    }
    wanted.add(chain)
  }
  return [...wanted]
}

type IsWanted = (symbol: string, address: string | null) => boolean

function wantedTokens(
  chains: Chain[],
  names: string[] | undefined,
): IsWanted | Refusal<'unsupported_token'> {
  if (!names) return () => true
  const lower = new Set(names.map((name) => name.toLowerCase()))
  const isWanted: IsWanted = (symbol, address) =>
    lower.has(symbol.toLowerCase()) || (address !== null && lower.has(address.toLowerCase()))
  const known = chains.flatMap(({ native, tokens }) => [
    native.symbol.toLowerCase(),
    ...tokens.flatMap(({ symbol, address }) => [symbol.toLowerCase(), address.toLowerCase()]),
  ])
  const unknown = [...lower].find((name) => !known.includes(name))
  return unknown === undefined
    ? isWanted
    : fail('unsupported_token', { details: { token: unknown } })
}

function holdings(chain: Chain, seen: Balances, isWanted: IsWanted, config: Config) {
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

function chainBody(chain: Chain, seen: Awaited<ReturnType<typeof readBalances>>) {
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
