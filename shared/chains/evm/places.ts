/**
 * Contracts that stand at the same address on every network of their kind. Plain constants, so that
 * reading an address needs none of the code that reads a chain.
 */
import type { Address } from '../chain.ts'

/** https://github.com/mds1/multicall3 */
export const multicall3Address: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
/** https://docs.uniswap.org/contracts/v4/deployments */
export const permit2Address: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
/**
 * What x402 has money moved through, the two proxies of Permit2 first: none of them gives out what is
 * sent to it. From @x402/evm.
 */
export const x402Contracts: readonly Address[] = [
  '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
  '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003',
  '0x4020806089470a89826cB9fB1f4059150b550004',
  '0x4020425FAf3B746C082C2f942b4E5159887B0005',
]
/** ArbSys, a precompile of every Nitro chain: https://docs.arbitrum.io */
export const arbSysAddress: Address = '0x0000000000000000000000000000000000000064'
/** GasPriceOracle, a predeploy of every OP Stack chain: https://specs.optimism.io */
export const gasPriceOracleAddress: Address = '0x420000000000000000000000000000000000000F'
