/**
 * Funds addresses and administers tokens on a local chain. Tokens are minted, so deposits leave the same
 * Transfer logs as on real networks. Native coins are set, because nothing watches them.
 */
import { type Address, encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import { callRpc, transact } from './rpc.ts'
import { issuer } from './tokens.ts'

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
