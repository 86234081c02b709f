/**
 * Contracts with the same address on every network of their kind. The file holds constants only, so that
 * reading an address does not load the code that reads a chain.
 */
import type { Address } from '../../chain.ts'

/** Multicall3: https://github.com/mds1/multicall3 */
export const multicall3Address: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
/** Permit2: https://docs.uniswap.org/contracts/v4/deployments */
export const permit2Address: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
/**
 * Contracts of x402 that move money, the two Permit2 proxies first. Tokens sent to them are lost. From
 * @x402/evm.
 */
export const x402Contracts: readonly Address[] = [
  '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
  '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003',
  '0x4020806089470a89826cB9fB1f4059150b550004',
  '0x4020425FAf3B746C082C2f942b4E5159887B0005',
]
/** Contracts of Ethereum and account abstraction that cannot send out the tokens they receive. */
export const unspendableContracts: readonly Address[] = [
  // Deterministic deployers: https://github.com/Arachnid/deterministic-deployment-proxy and
  // https://github.com/pcaversaccio/createx
  '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  '0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed',
  // Deposit contract of validators: https://eips.ethereum.org/EIPS/eip-6110
  '0x00000000219ab540356cBB839Cbe05303d7705Fa',
  // System contracts of EIP-4788, EIP-2935, EIP-7002 and EIP-7251.
  '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02',
  '0x0000F90827F1C53a10cb7A02335B175320002935',
  '0x00000961Ef480Eb55e80D19ad83579A64c007002',
  '0x0000BBdDc7CE488642fb579F8B00f3a590007251',
  // EntryPoints 0.6 to 0.9 of ERC-4337: https://github.com/eth-infinitism/account-abstraction/releases
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
]
/** Tokens of live networks that the product does not pay with. OP Stack's WETH is a predeploy. */
export const otherTokens: readonly Address[] = [
  // USDT: https://tether.to/en/supported-protocols and its bridged versions.
  '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
  '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58',
  '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
  '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
  '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2',
  // Bridged USDC (USDbC and USDC.e): https://developers.circle.com/stablecoins
  '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA',
  '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8',
  '0x7F5c764cBc14f9669B88837ca1490cCa17c31607',
  '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
  '0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664',
  // Wrapped ether and native coins, as the networks' explorers name them.
  '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
  '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619',
  '0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB',
  '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
  '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
]
/** ArbSys, a precompile of every Nitro chain: https://docs.arbitrum.io */
export const arbSysAddress: Address = '0x0000000000000000000000000000000000000064'
/** GasPriceOracle, a predeploy of every OP Stack chain: https://specs.optimism.io */
export const gasPriceOracleAddress: Address = '0x420000000000000000000000000000000000000F'
