/**
 * Which networks and tokens exist for the product, and which of them this deployment is connected
 * to. It is plain data: looking something up touches no network, and what is not listed here is
 * neither shown nor paid with.
 */
import type { Config } from '../env.ts'
import type { Chain, Token } from './registry-data.ts'
import { knownChains } from './registry-data.ts'

/** The types of the table, for everyone who looks things up in it. */
export type { Address, Chain, Token } from './registry-data.ts'

/** Finds a network by CAIP-2 id or name. A bare number is refused: it could mean anything. */
export function findChain(nameOrCaip2: string): Chain | undefined {
  return knownChains.find((chain) => chain.caip2 === nameOrCaip2 || chain.name === nameOrCaip2)
}

/** The token of that symbol on the chain, in any letter case. */
export function tokenBySymbol(chain: Chain, symbol: string): Token | undefined {
  return chain.tokens.find((token) => token.symbol === symbol.toUpperCase())
}

/** The token at that contract address on the chain, in any letter case. */
export function tokenByAddress(chain: Chain, address: string): Token | undefined {
  return chain.tokens.find((token) => token.address.toLowerCase() === address.toLowerCase())
}

/** The networks with an RPC endpoint in this deployment, in the order of the registry. */
export function connectedChains(config: Pick<Config, 'chainRpcUrls'>): Chain[] {
  return knownChains.filter((chain) => config.chainRpcUrls[chain.caip2]?.[0] !== undefined)
}
