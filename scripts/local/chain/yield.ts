/**
 * Puts the yield gate and a vault over USDC on a local chain, at addresses that follow from their code. A
 * chain that has them stays as it is.
 */
import { type Address, concat, getCreate2Address, type Hex, pad, zeroHash } from 'viem'
import type { Chain } from '../chain.ts'
import { localVaultCode, yieldGateCode } from '../contracts/code.ts'
import { issuer, type TokenChain } from './fund.ts'
import { callRpc, transact } from './rpc.ts'

/** Deterministic deployment proxy, which anvil has: https://github.com/Arachnid/deterministic-deployment-proxy */
const deployer: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** Addresses of the gate and the vault. */
export type LocalYield = { gate: Address; vault: Address }

/** Deploys both contracts over the chain's USDC. */
export async function deployYield(chain: TokenChain): Promise<LocalYield> {
  return {
    gate: await deployOver(chain, yieldGateCode),
    vault: await deployOver(chain, localVaultCode),
  }
}

/** Deploys both and returns the setting YIELD_VAULTS that offers the vault. */
export async function offerVaults(chain: Chain): Promise<string> {
  const { gate, vault: address } = await deployYield(chain)
  const risk_note = 'A vault of a local chain: what it earns is sent to it by hand.'
  const vaults = [{ address, name: 'Local vault', risk_note }]
  return JSON.stringify({ [chain.network]: { gate, vaults } })
}

/** Deploys a contract whose constructor takes the chain's USDC. Another salt brings another address. */
export async function deployOver(
  { rpcUrl, usdc }: TokenChain,
  bytecode: Hex,
  salt: Hex = zeroHash,
): Promise<Address> {
  const code = concat([bytecode, pad(usdc)])
  const address = getCreate2Address({ from: deployer, salt, bytecode: code })
  const [deployed] = await callRpc(rpcUrl, [['eth_getCode', address, 'latest']])
  if (deployed === '0x') await transact(rpcUrl, issuer, deployer, concat([salt, code]))
  return address
}
