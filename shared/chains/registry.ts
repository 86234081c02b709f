/**
 * The table of known networks and tokens, and of those that this deployment is connected to. Token
 * addresses come from Circle's own lists. The EIP-712 domain is fixed here, because a merchant's claim must
 * never decide what is signed. A token that is not listed is neither shown nor paid with.
 */
import * as z from 'zod'
import type { Config } from '../env.ts'
import type { Address, Chain, Token } from './chain.ts'

/** The types of the table, re-exported for modules that look up entries in it. */
export type { Address, Chain, Token } from './chain.ts'

const usdcSource = 'https://developers.circle.com/stablecoins/usdc-contract-addresses'
const eurcSource = 'https://developers.circle.com/stablecoins/eurc-contract-addresses'

// Circle's FiatToken signs under version "2" since its second release. Only the name differs.
function usdc(address: Address, name: 'USD Coin' | 'USDC'): Token {
  return {
    symbol: 'USDC',
    address,
    decimals: 6,
    domain: { name, version: '2' },
    source: usdcSource,
  }
}

// Published tables disagree on some of these names, so preflight asks the contract itself.
function eurc(address: Address, name: 'Euro Coin' | 'EURC'): Token {
  return {
    symbol: 'EURC',
    address,
    decimals: 6,
    domain: { name, version: '2' },
    source: eurcSource,
  }
}

function network(
  id: number,
  name: string,
  title: string,
): Pick<Chain, 'id' | 'caip2' | 'name' | 'title'> {
  return { id, caip2: `eip155:${id}`, name, title }
}

function runs(stack: Chain['stack'], nativeSymbol: string): Pick<Chain, 'stack' | 'native'> {
  return { stack, native: { symbol: nativeSymbol, decimals: 18 } }
}

const liveChains: Omit<Chain, 'testnet'>[] = [
  {
    ...network(1, 'ethereum', 'Ethereum'),
    ...runs('ethereum', 'ETH'),
    explorerUrl: 'https://etherscan.io',
    tokens: [
      usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin'),
      eurc('0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c', 'Euro Coin'),
    ],
  },
  {
    ...network(8453, 'base', 'Base'),
    ...runs('op', 'ETH'),
    explorerUrl: 'https://basescan.org',
    tokens: [
      usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'),
      eurc('0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', 'EURC'),
    ],
  },
  {
    ...network(42161, 'arbitrum', 'Arbitrum One'),
    ...runs('nitro', 'ETH'),
    explorerUrl: 'https://arbiscan.io',
    tokens: [usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin')],
  },
  {
    ...network(10, 'optimism', 'OP Mainnet'),
    ...runs('op', 'ETH'),
    explorerUrl: 'https://optimistic.etherscan.io',
    tokens: [usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USD Coin')],
  },
  {
    ...network(137, 'polygon', 'Polygon PoS'),
    ...runs('ethereum', 'POL'),
    explorerUrl: 'https://polygonscan.com',
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin')],
  },
  {
    ...network(43114, 'avalanche', 'Avalanche C-Chain'),
    ...runs('ethereum', 'AVAX'),
    explorerUrl: 'https://snowtrace.io',
    tokens: [
      usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin'),
      eurc('0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD', 'Euro Coin'),
    ],
  },
]

const testChains: Omit<Chain, 'testnet'>[] = [
  {
    ...network(11155111, 'sepolia', 'Ethereum Sepolia'),
    ...runs('ethereum', 'ETH'),
    explorerUrl: 'https://sepolia.etherscan.io',
    tokens: [
      usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 'USDC'),
      eurc('0x08210F9170F89Ab7658F0B5E3fF39b0E03C594D4', 'EURC'),
    ],
  },
  {
    ...network(84532, 'base-sepolia', 'Base Sepolia'),
    ...runs('op', 'ETH'),
    explorerUrl: 'https://sepolia.basescan.org',
    tokens: [
      usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'),
      eurc('0x808456652fdb597867f38412077A9182bf77359F', 'EURC'),
    ],
  },
  {
    ...network(421614, 'arbitrum-sepolia', 'Arbitrum Sepolia'),
    ...runs('nitro', 'ETH'),
    explorerUrl: 'https://sepolia.arbiscan.io',
    tokens: [usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin')],
  },
  {
    ...network(11155420, 'optimism-sepolia', 'OP Sepolia'),
    ...runs('op', 'ETH'),
    explorerUrl: 'https://sepolia-optimism.etherscan.io',
    tokens: [usdc('0x5fd84259d66Cd46123540766Be93DFE6D43130D7', 'USDC')],
  },
  {
    ...network(80002, 'polygon-amoy', 'Polygon Amoy'),
    ...runs('ethereum', 'POL'),
    explorerUrl: 'https://amoy.polygonscan.com',
    tokens: [usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC')],
  },
  {
    ...network(43113, 'avalanche-fuji', 'Avalanche Fuji'),
    ...runs('ethereum', 'AVAX'),
    explorerUrl: 'https://testnet.snowtrace.io',
    tokens: [
      usdc('0x5425890298aed601595a70AB815c96711a31Bc65', 'USD Coin'),
      eurc('0x5E44db7996c682E92a960b65AC713a54AD815c6B', 'EURC'),
    ],
  },
]

/** All known networks: live networks first, in the order in which users see them. */
export const knownChains: readonly Chain[] = [
  ...liveChains.map((chain) => ({ ...chain, testnet: false })),
  ...testChains.map((chain) => ({ ...chain, testnet: true })),
]

/** Finds a network as a person or an agent writes it: by id, name or title, in any letter case. */
export function chainNamed(text: string): Chain | undefined {
  const plain = (form: string) =>
    form
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_]+/g, '-')
  return knownChains.find(({ id, caip2, name, title }) =>
    [`${id}`, caip2, name, title].some((form) => plain(form) === plain(text)),
  )
}

/** Finds a network by CAIP-2 id or name, as protocols write it. */
export function findChain(nameOrCaip2: string): Chain | undefined {
  return knownChains.find((chain) => chain.caip2 === nameOrCaip2 || chain.name === nameOrCaip2)
}

/** Returns the chain's token with this symbol, in any letter case. */
export function tokenBySymbol(chain: Chain, symbol: string): Token | undefined {
  return chain.tokens.find((token) => token.symbol === symbol.toUpperCase())
}

/** Returns the chain's token with this contract address, in any letter case. */
export function tokenByAddress(chain: Chain, address: string): Token | undefined {
  return chain.tokens.find((token) => token.address.toLowerCase() === address.toLowerCase())
}

/** Returns the chain's token with this symbol or contract address, in any letter case. */
export function tokenNamed(chain: Chain, name: string): Token | undefined {
  return tokenBySymbol(chain, name) ?? tokenByAddress(chain, name)
}

/** Returns the networks that have an RPC endpoint in this deployment, in the order of the registry. */
export function connectedChains(config: Pick<Config, 'chainRpcUrls'>): Chain[] {
  return knownChains.filter((chain) => config.chainRpcUrls[chain.caip2]?.[0] !== undefined)
}

/** Returns the chain (by number) and token of a stored payment. Throws if the registry lost them. */
export function assetOf(stored: { chain: number; token: string }): { chain: Chain; token: Token } {
  const chain = findChain(`eip155:${stored.chain}`)
  const token = chain && tokenByAddress(chain, stored.token)
  if (!chain || !token) throw new Error(`no asset ${stored.token} on ${stored.chain}`)
  return { chain, token }
}

/**
 * Returns a schema for a list of at most `lengthMax` elements. Zod's own array schema reports an issue for
 * each invalid element, which takes gigabytes of memory for megabytes of invalid input.
 */
export function listOf<Schema extends z.ZodType>(schema: Schema, lengthMax: number) {
  return z
    .custom<unknown[]>((value) => Array.isArray(value) && value.length <= lengthMax)
    .transform((elements, context) => {
      const list: z.output<Schema>[] = []
      for (const element of elements) {
        const read = schema.safeParse(element)
        if (!read.success) {
          context.addIssue({ code: 'custom', message: 'an element has another shape' })
          return z.NEVER
        }
        list.push(read.data)
      }
      return list
    })
}
