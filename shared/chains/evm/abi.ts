/**
 * ABIs of the contract functions and events that the product reads: ERC-20, EIP-3009, Permit2, Multicall3
 * and the rollups' own contracts. They contain only what is called here, and nothing that could move money
 * by accident.
 */
import { parseAbi } from 'viem/utils'

/** Functions and events of a stablecoin: ERC-20, EIP-3009, EIP-712, EIP-2612 and Circle's own rules. */
export const tokenAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function paused() view returns (bool)',
  'function isBlacklisted(address account) view returns (bool)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function nonces(address owner) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])

/** Functions of Multicall3: https://github.com/mds1/multicall3 */
export const multicallAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
  'function getEthBalance(address account) view returns (uint256)',
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
])

/** Functions of Arbitrum's ArbSys and of the OP Stack's GasPriceOracle. */
export const rollupAbi = parseAbi([
  'function arbBlockNumber() view returns (uint256)',
  'function getL1FeeUpperBound(uint256 unsignedTransactionBytes) view returns (uint256)',
])

/** One word of an owner's nonce bitmap, a bit for each of 256 nonces: https://github.com/Uniswap/permit2 */
export const permit2Abi = parseAbi([
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
])
