/**
 * Circle's stablecoins on the two test networks that the local chains imitate. The table is a second copy
 * on purpose: a wrong address or EIP-712 name in the product's own registry then fails against these
 * contracts, as it would fail outside.
 */
import type { Address } from 'viem'

/** A token as it is deployed on one network. */
export type LocalToken = {
  symbol: 'USDC' | 'EURC'
  address: Address
  /** EIP-712 domain name, which differs between networks for the same symbol. */
  name: string
  currency: 'USD' | 'EUR'
}

/** Id of a test network that is imitated. */
export type LocalChainId = 84532 | 421614

/** Tokens by chain id; source: Circle's published contract addresses and the asset table of @x402/evm. */
export const localTokens: Readonly<Record<LocalChainId, readonly LocalToken[]>> = {
  84532: [
    {
      symbol: 'USDC',
      address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      name: 'USDC',
      currency: 'USD',
    },
    {
      symbol: 'EURC',
      address: '0x808456652fdb597867f38412077A9182bf77359F',
      name: 'EURC',
      currency: 'EUR',
    },
  ],
  421614: [
    {
      symbol: 'USDC',
      address: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
      name: 'USD Coin',
      currency: 'USD',
    },
  ],
}

/** Account that holds every role of the tokens; anvil signs for it without being given a key. */
export const issuer: Address = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** Admin of the proxies, without any other role: FiatTokenProxy refuses token calls from its admin. */
export const proxyAdmin: Address = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f'
