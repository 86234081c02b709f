/**
 * Offers of the sandbox: 0.01 USDC on test networks, for its operator's address. Only a deployment whose networks
 * are all test networks of the registry has a sandbox, so none can sell for real money.
 */
import {
  type Address,
  type Chain,
  connectedChains,
  findChain,
  type Token,
  tokenBySymbol,
} from '../../shared/chains/registry.ts'
import { fail, type Refusal } from '../../shared/contract/errors.ts'
import type { Config } from '../../shared/env.ts'

/** Price of a report in words. */
export const price = '0.01'
/** Price of a report in atomic units of USDC. */
export const priceAtomic = '10000'
/** Seconds for which a payment is valid; settling takes less. */
export const timeoutSeconds = 300

/** A way to pay: USDC on one test network. */
export type TestOffer = { chain: Chain; token: Token; payTo: Address }

type Given = Pick<Config, 'chainRpcUrls' | 'SANDBOX_PAY_TO'>

/** Returns the offers in the order of the registry, or a refusal that says why there is no sandbox. */
export function testOffers(config: Given): readonly TestOffer[] | Refusal {
  const { SANDBOX_PAY_TO: payTo, chainRpcUrls } = config
  if (payTo === '') return noSandbox('This deployment has no sandbox: SANDBOX_PAY_TO is empty.')
  const isTest = Object.keys(chainRpcUrls).every((id) => findChain(id)?.testnet === true)
  if (!isTest) {
    return noSandbox('The sandbox takes test money only, and this deployment moves real money.')
  }
  const offers = connectedChains(config).flatMap((chain) => {
    const token = tokenBySymbol(chain, 'USDC')
    return token ? [{ chain, token, payTo }] : []
  })
  if (offers.length > 0) return offers
  return noSandbox('This deployment has no sandbox: it is connected to no test network.')
}

function noSandbox(message: string): Refusal {
  return fail('not_found', { message })
}

/** Returns the requirement of x402 version 2, which is also how a facilitator is told what to settle. */
export function requirementOf({ chain, token, payTo }: TestOffer) {
  return {
    scheme: 'exact',
    network: chain.caip2,
    amount: priceAtomic,
    asset: token.address,
    payTo,
    maxTimeoutSeconds: timeoutSeconds,
    extra: { ...token.domain },
  }
}
