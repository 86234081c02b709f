/** Blocks that strangers fill with transfers of nothing. */
import { Interface } from 'ethers'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import type { Chain } from '../../scripts/local/chain.ts'
import { multicall3Address } from '../../shared/chains/evm/rpc/places.ts'
import { minedTogether, newKey } from './chain-world.ts'

export type Call = { target: string; callData: string }

const forms = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
  'function transferFrom(address, address, uint256)',
])

/** Combines several calls into one call of Multicall3. */
export function together(calls: readonly Call[]): Call {
  const all = calls.map((call) => ({ ...call, allowFailure: false }))
  const callData = forms.encodeFunctionData('aggregate3', [all])
  return { target: multicall3Address, callData }
}

/** Returns a transfer of zero tokens between any two addresses, which anyone may make. */
export function nothingMoved({ usdc }: Chain, from: string, to: string): Call {
  return { target: usdc, callData: forms.encodeFunctionData('transferFrom', [from, to, 0n]) }
}

/** Mines one block with a stranger's transaction for each call. */
export async function mineCalls({ rpcUrl }: Chain, calls: readonly Call[]): Promise<void> {
  const gas = `0x${(28_000_000 / calls.length).toString(16)}`
  await minedTogether(rpcUrl, async () => {
    for (const { target: to, callData: data } of calls) {
      const from = newKey().at
      await callRpc(rpcUrl, [['anvil_setBalance', from, `0x${(10n ** 18n).toString(16)}`]])
      await callRpc(rpcUrl, [['eth_sendTransaction', { from, to, data, gas }]])
    }
  })
}
