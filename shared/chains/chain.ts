/**
 * Plain types for a network and a token. The file runs no code, so a module that only handles these types
 * does not load the table of all networks.
 */

/** Address of twenty bytes in hex. It carries its EIP-55 checksum wherever the product made it. */
export type Address = `0x${string}`

/** A stablecoin contract, with the EIP-712 domain under which its holders sign. */
export type Token = {
  symbol: 'USDC' | 'EURC'
  address: Address
  decimals: number
  domain: { name: string; version: string }
  /** The issuer's page that lists the address. */
  source: string
}

/** One EVM network that the product knows. */
export type Chain = {
  id: number
  /** Network id in CAIP-2 form, namespace eip155, as it travels in requests and answers. */
  caip2: `eip155:${number}`
  /** Network name in x402 version 1, if that version has one. */
  name: string
  title: string
  testnet: boolean
  /** Rollup family, which decides how blocks are counted and how calldata is charged. */
  stack: 'ethereum' | 'op' | 'nitro'
  native: { symbol: string; decimals: number }
  tokens: readonly Token[]
  explorerUrl: string
}
