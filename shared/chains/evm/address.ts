/**
 * Reads addresses that people and models typed, and recognizes those where the money would be lost. It
 * checks the form and a list of well-known contracts. It cannot know who owns an address.
 */
import { getAddress } from 'viem/utils'
import type { Address, Chain } from '../chain.ts'
import { knownChains } from '../registry.ts'
import {
  multicall3Address,
  otherTokens,
  permit2Address,
  unspendableContracts,
  x402Contracts,
} from './rpc/places.ts'

/** Address as read. `checksummed` is false if all letters have one case: a typo cannot be detected. */
export type ReadAddress =
  | { address: Address; checksummed: boolean }
  | { refused: 'not_an_address' | 'bad_checksum' }

/** Reads 0x and forty hex digits. In mixed letter case, the case must be the EIP-55 checksum. */
export function readAddress(text: string): ReadAddress {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return { refused: 'not_an_address' }
  const address = getAddress(`0x${text.slice(2).toLowerCase()}`)
  const checksummed = text === address
  const digits = text.slice(2)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return checksummed || oneCase ? { address, checksummed } : { refused: 'bad_checksum' }
}

/** Reasons why money sent to an address would be lost. */
export type LossReason = 'burn_address' | 'precompile' | 'token_contract' | 'system_contract'

// These addresses have no key, yet they look like destinations; some of them stand for the native coin.
// Those that end in 0000 and 0001 belong to the OP Stack: https://specs.optimism.io/protocol/deposits.html
const burnAddresses = new Set([
  '0x0000000000000000000000000000000000000000',
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000000000000000000000000',
  '0xdead000000000000000042069420694206942069',
  '0x00000000000000000000000000000000deadbeef',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
  '0x1111111111111111111111111111111111111111',
  '0xffffffffffffffffffffffffffffffffffffffff',
  '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
])

// Multicall3 (anyone can take its balance), Permit2, the x402 proxies, and contracts that pay nothing out.
const systemContracts = new Set(
  [multicall3Address, permit2Address, ...x402Contracts, ...unspendableContracts].map(lowerCase),
)

// Paying a token's address from another network is the same mistake, so all of them count on every chain.
const tokenContracts = new Set(
  [
    ...knownChains.flatMap(({ tokens }) => tokens.map(({ address }) => address)),
    ...otherTokens,
  ].map(lowerCase),
)

function lowerCase(address: Address): string {
  return address.toLowerCase()
}

/** Returns the reason why a payment to this recipient would be lost, or undefined if none is known. */
export function lossReasonOf(address: Address, { stack }: Chain): LossReason | undefined {
  const lower = address.toLowerCase()
  if (burnAddresses.has(lower)) return 'burn_address'
  // Precompiles and system contracts of the EVM, Nitro and Polygon have these addresses; none has a key.
  if (/^0x0{24}[0-9a-f]{16}$/.test(lower)) return 'precompile'
  // Precompiles of Avalanche: https://build.avax.network/docs/avalanche-l1s/evm-configuration
  if (/^0x0[1-3]0{34}[0-9a-f]{4}$/.test(lower)) return 'precompile'
  // The OP Stack reserves 2,048 predeploys: https://specs.optimism.io/protocol/predeploys.html
  if (stack === 'op' && /^0x420{35}[0-7][0-9a-f]{2}$/.test(lower)) return 'system_contract'
  if (systemContracts.has(lower)) return 'system_contract'
  return tokenContracts.has(lower) ? 'token_contract' : undefined
}
