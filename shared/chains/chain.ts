/**
 * What a network and a token are to the product: plain types and nothing that runs, so that whoever
 * handles one need not carry the table of all of them.
 */

/** Twenty bytes in hex; checksummed (EIP-55) wherever the product made it. */
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

/** One network. */
export type Chain = {
  id: number
  /** Its id on the wire (CAIP-2, namespace eip155). */
  caip2: `eip155:${number}`
  /** Its name in x402 version 1, where that has one. */
  name: string
  title: string
  testnet: boolean
  /** Rollup families count blocks and charge for calldata in their own ways. */
  stack: 'ethereum' | 'op' | 'nitro'
  native: { symbol: string; decimals: number }
  tokens: readonly Token[]
  explorerUrl: string
}
