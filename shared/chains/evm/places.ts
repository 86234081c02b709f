/**
 * Contracts that stand at the same address on every network of their kind. Plain constants, so that
 * reading an address needs none of the code that reads a chain.
 */
import type { Address } from '../chain.ts'

/** https://github.com/mds1/multicall3 */
export const multicall3Address: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
/** https://docs.uniswap.org/contracts/v4/deployments */
export const permit2Address: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
/** ArbSys, a precompile of every Nitro chain: https://docs.arbitrum.io */
export const arbSysAddress: Address = '0x0000000000000000000000000000000000000064'
/** GasPriceOracle, a predeploy of every OP Stack chain: https://specs.optimism.io */
export const gasPriceOracleAddress: Address = '0x420000000000000000000000000000000000000F'
