/**
 * What a deposit that an agent asks for has to be: a chain and a token of this deployment, where they
 * are named, and an amount that the token can express. What is not named is the person's choice.
 */
import type { Chain } from '../chains/chain.ts'
import { connectedChains } from '../chains/registry.ts'
import { wantedChains } from '../chains/wanted.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'
import { parseAmount } from '../money/amount.ts'

/** How an agent names it. */
export type DepositOrder = {
  chain?: string | undefined
  token?: string | undefined
  amount?: string | undefined
}

/** What the database matches deposits by, and what the page shows. */
export type WantedDeposit = {
  chain?: number
  tokens?: string[]
  shown: { chain?: string; token?: string; amount?: string }
}

type OrderRefusal = Refusal<'unsupported_chain' | 'unsupported_token' | 'invalid_request'>

/** Reads an order. An amount without a token is of USDC, as everywhere on the pages. */
export function wantedDeposit(config: Config, order: DepositOrder): WantedDeposit | OrderRefusal {
  const chains =
    order.chain === undefined ? connectedChains(config) : wantedChains(config, [order.chain])
  if (isRefusal(chains)) return chains
  if (chains.length === 0) return fail('unsupported_chain')
  const [only] = order.chain === undefined ? [] : chains
  const named = order.token ?? (order.amount === undefined ? undefined : 'USDC')
  const found = named === undefined ? [] : tokensNamed(chains, named)
  const [token] = found
  if (named !== undefined && !token) {
    return fail('unsupported_token', { details: { token: named } })
  }
  if (order.amount !== undefined && !isPayable(order.amount, token?.decimals ?? 0)) {
    return fail('invalid_request', { message: 'amount: more than zero, and as fine as the token' })
  }
  return {
    ...(only ? { chain: only.id } : {}),
    ...(token ? { tokens: found.map(({ address }) => address) } : {}),
    shown: {
      ...(only ? { chain: only.caip2 } : {}),
      ...(token ? { token: token.symbol } : {}),
      ...(order.amount === undefined ? {} : { amount: order.amount }),
    },
  }
}

function tokensNamed(chains: Chain[], named: string) {
  const lower = named.toLowerCase()
  return chains
    .flatMap(({ tokens }) => tokens)
    .filter(({ symbol, address }) => [symbol, address].some((one) => one.toLowerCase() === lower))
}

function isPayable(amount: string, decimals: number): boolean {
  return (parseAmount(amount, decimals) ?? 0n) > 0n
}
