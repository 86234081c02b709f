/**
 * Checks of a deposit that an agent requests: chain and token, if named, must belong to this deployment,
 * and the token must be able to express the amount. The person chooses what is not named.
 */
import { tokenNamed } from '../chains/registry.ts'
import { wantedChains } from '../chains/wanted.ts'
import { fail, isRefusal, type Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'
import { parseAmount } from '../money/amount.ts'

/** The deposit as the agent names it. */
export type DepositOrder = {
  chain?: string | undefined
  token?: string | undefined
  amount?: string | undefined
}

/** The criteria by which the database matches deposits, and the text for the page. */
export type WantedDeposit = {
  chain?: number
  tokens?: string[]
  shown: { chain?: string; token?: string; amount?: string }
}

type OrderRefusal = Refusal<'unsupported_chain' | 'unsupported_token' | 'invalid_request'>

/** Parses an order. An amount without a token is in USDC, as everywhere on the pages. */
export function wantedDeposit(config: Config, order: DepositOrder): WantedDeposit | OrderRefusal {
  const chains = wantedChains(config, order.chain === undefined ? undefined : [order.chain])
  if (isRefusal(chains)) return chains
  if (chains.length === 0) return fail('unsupported_chain')
  const [only] = order.chain === undefined ? [] : chains
  const named = order.token ?? (order.amount === undefined ? undefined : 'USDC')
  const found = named === undefined ? [] : chains.flatMap((chain) => tokenNamed(chain, named) ?? [])
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

function isPayable(amount: string, decimals: number): boolean {
  return (parseAmount(amount, decimals) ?? 0n) > 0n
}
