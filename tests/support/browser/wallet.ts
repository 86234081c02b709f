/**
 * A wallet that is injected into a page as an extension does it: it announces itself by EIP-6963 and speaks
 * EIP-1193, with an account that the chain's own node signs for.
 */
import type { BrowserContext } from 'playwright-core'
import * as z from 'zod'
import { fund, type TokenChain } from '../../../scripts/local/chain/fund.ts'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'

export type WalletOptions = {
  chain: TokenChain & { chainId: number }
  address: `0x${string}`
  /** Amount in token units. */
  usdc: number
  /** True if the wallet rejects whatever it is asked to send. */
  declines?: boolean
}

/** Injects this wallet into all future pages of a context, and returns the requests that they make. */
export async function giveWallet(
  context: Pick<BrowserContext, 'exposeFunction' | 'addInitScript'>,
  options: WalletOptions,
): Promise<string[]> {
  const { chain, address, usdc } = options
  await fund(chain, address, { weiAmount: 10n ** 18n, usdcAtomic: BigInt(usdc) * 10n ** 6n })
  await callRpc(chain.rpcUrl, [['anvil_impersonateAccount', address]])
  const asked: string[] = []
  await context.exposeFunction('askWallet', async (text: string) => {
    const { method, params } = callSchema.parse(JSON.parse(text))
    asked.push(method)
    return JSON.stringify(await answer(options, method, params))
  })
  await context.addInitScript(announcing)
  return asked
}

const callSchema = z.object({ method: z.string(), params: z.array(z.unknown()).default([]) })
const switchSchema = z.tuple([z.object({ chainId: z.string() })])

type Answer = { result: unknown } | { error: { code: number; message: string } }

async function answer(options: WalletOptions, method: string, params: unknown[]): Promise<Answer> {
  const { chain, address, declines } = options
  switch (method) {
    case 'eth_requestAccounts':
      // In lower case, as wallets do it.
      return { result: [address.toLowerCase()] }
    case 'wallet_switchEthereumChain': {
      const [{ chainId }] = switchSchema.parse(params)
      const isHere = Number(chainId) === chain.chainId
      return isHere ? { result: null } : { error: { code: 4902, message: 'unknown chain' } }
    }
    case 'eth_sendTransaction': {
      if (declines) return { error: { code: 4001, message: 'User rejected the request.' } }
      const [result] = await callRpc(chain.rpcUrl, [[method, ...params]])
      return { result }
    }
    default:
      return { error: { code: 4200, message: `${method} is not supported` } }
  }
}

/**
 * Script that announces the wallet. Errors have `code` and `message` (EIP-1193), which do not survive the
 * way out of the page.
 */
const announcing = `{
  const provider = {
    async request(call) {
      const { result, error } = JSON.parse(await window.askWallet(JSON.stringify(call)))
      if (error) throw Object.assign(new Error(error.message), error)
      return result
    },
  }
  const info = {
    uuid: '6b1f3a52-9a5b-4d0e-8f65-5a1f6a0f7f11',
    name: 'Test wallet',
    icon: 'data:,',
    rdns: 'example.wallet',
  }
  const announce = () => {
    const detail = Object.freeze({ info, provider })
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  }
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}`
