/**
 * Lists the ERC-4626 vaults that the operator lets accounts use (`YIELD_VAULTS`), each over USDC and through the
 * gate of its chain. There are none unless they are configured.
 */
import * as z from 'zod'
import { readAddress } from '../chains/evm/address.ts'
import {
  type Address,
  type Chain,
  connectedChains,
  type Token,
  tokenBySymbol,
} from '../chains/registry.ts'
import { wantedChains } from '../chains/wanted.ts'
import { fail, isRefusal, type Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'

const contract = z.string().transform(checksummed)
const setting = z.record(
  z.string(),
  z.object({
    gate: contract,
    vaults: z
      .array(
        z.object({
          address: contract,
          name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9 .+-]{0,63}$/),
          risk_note: z.string().max(1024),
          closed: z.boolean().default(false),
        }),
      )
      .max(32),
  }),
)

/** Vault that accounts may use. */
export type YieldVault = {
  chain: Chain
  token: Token
  gate: Address
  address: Address
  name: string
  riskNote: string
  /** True if it takes no more deposits. A vault with positions is closed, never taken off the list. */
  isClosed: boolean
}

/** Returns the vaults of connected chains in the operator's order. Throws if an address is mistyped. */
export function yieldVaults(config: Config): YieldVault[] {
  const all = readSetting(config)
  return connectedChains(config).flatMap((chain) => {
    const offered = all[chain.caip2]
    const token = tokenBySymbol(chain, 'USDC')
    if (!offered || !token) return []
    const { gate } = offered
    return offered.vaults.map(({ address, name, risk_note: riskNote, closed: isClosed }) => {
      return { chain, token, gate, address, name, riskNote, isClosed }
    })
  })
}

/** Returns the vault of a chain with this address, in any letter case. */
export function findYieldVault(
  config: Config,
  wanted: { chain: string; vault: string },
): YieldVault | Refusal<'unsupported_chain' | 'invalid_request'> {
  const chains = wantedChains(config, [wanted.chain])
  if (isRefusal(chains)) return chains
  const found = yieldVaults(config).find(
    ({ chain, address }) =>
      chains.includes(chain) && address.toLowerCase() === wanted.vault.toLowerCase(),
  )
  return found ?? fail('invalid_request', { message: 'vault: none of defi_vaults_list.' })
}

/** Returns a function that tells the gate of a chain, to which nothing is paid but orders, from other addresses. */
export function yieldGatesOf(config: Config): (chain: Chain, address: Address) => boolean {
  const all = readSetting(config)
  return ({ caip2 }, address) => all[caip2]?.gate === address
}

function readSetting({ YIELD_VAULTS }: Config) {
  return setting.parse(JSON.parse(YIELD_VAULTS))
}

function checksummed(text: string): Address {
  const read = readAddress(text)
  if ('refused' in read) throw new Error(`YIELD_VAULTS: ${text} is ${read.refused}`)
  return read.address
}
