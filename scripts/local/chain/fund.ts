/**
 * Funds addresses and administers tokens on a local chain. Tokens are minted, so deposits leave the same
 * Transfer logs as on real networks. Native coins are set, because nothing watches them.
 */
import type { Sql } from 'postgres'
import { type Address, encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import { setGasTerms } from '../../operator/provision.ts'
import { callRpc, transact } from './rpc.ts'

/** Addresses by which the tokens of a chain are reached; every Chain has them. */
export type TokenChain = { rpcUrl: string; usdc: Address; eurc?: Address }

/** Amounts for one address. */
export type Funds = { usdcAtomic?: bigint; eurcAtomic?: bigint; weiAmount?: bigint }

const abi = parseAbi([
  'function mint(address,uint256) returns (bool)',
  'function pause()',
  'function unpause()',
  'function blacklist(address)',
  'function unBlacklist(address)',
])

/** Mints on top of what the address holds. `weiAmount` replaces its native balance. */
export async function fund(chain: TokenChain, address: Address, funds: Funds): Promise<void> {
  if (funds.weiAmount !== undefined) {
    await callRpc(chain.rpcUrl, [['anvil_setBalance', address, toHex(funds.weiAmount)]])
  }
  if (funds.usdcAtomic) await mint(chain, chain.usdc, address, funds.usdcAtomic)
  if (funds.eurcAtomic) {
    if (!chain.eurc) throw new Error('this chain has no EURC')
    await mint(chain, chain.eurc, address, funds.eurcAtomic)
  }
}

/** Stops all movement of USDC, as Circle can. */
export function pause(chain: TokenChain): Promise<Hex> {
  return administer(chain, encodeFunctionData({ abi, functionName: 'pause' }))
}

/** Ends `pause`. */
export function unpause(chain: TokenChain): Promise<Hex> {
  return administer(chain, encodeFunctionData({ abi, functionName: 'unpause' }))
}

/** Bars one address from sending and receiving USDC. */
export function blacklist(chain: TokenChain, address: Address): Promise<Hex> {
  return administer(chain, encodeFunctionData({ abi, functionName: 'blacklist', args: [address] }))
}

/** Ends `blacklist`. */
export function unblacklist(chain: TokenChain, address: Address): Promise<Hex> {
  return administer(
    chain,
    encodeFunctionData({ abi, functionName: 'unBlacklist', args: [address] }),
  )
}

function administer(chain: TokenChain, data: Hex): Promise<Hex> {
  return transact(chain.rpcUrl, issuer, chain.usdc, data)
}

async function mint(chain: TokenChain, token: Address, to: Address, amountAtomic: bigint) {
  const data = encodeFunctionData({ abi, functionName: 'mint', args: [to, amountAtomic] })
  await transact(chain.rpcUrl, issuer, token, data)
}

/** Lets relayers carry as many transfers of an account as it asks for, the smallest amounts included. */
export async function giveGas(sql: Sql): Promise<void> {
  const calls = 1_000_000n
  await setGasTerms(sql, 0n, { callsPerDay: calls, youngCallsPerDay: calls, leastUsdMicros: 0n })
}

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
