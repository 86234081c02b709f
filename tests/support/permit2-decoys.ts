/**
 * Means of a payee to hide how much it took through Permit2. The proxies' addresses get the code of
 * Multicall3, so that one transaction makes any calls in their name, in any order.
 */
import { Interface } from 'ethers'
import type { Chain } from '../../scripts/local/chain.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { multicall3Address } from '../../shared/chains/evm/rpc/places.ts'
import { permit2Spenders } from '../../shared/custody/permit2-terms.ts'
import { minedTogether, newKey } from './chain-world.ts'
import type { PermitPayload } from './permit2.ts'
import { permitCall } from './permit2.ts'

export type Call = { target: string; callData: string }

const forms = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
  'function transferFrom(address, address, uint256)',
])

/** Lets anyone call in the name of the proxies. */
export async function openProxies({ rpcUrl }: Chain): Promise<void> {
  const [code] = await callRpc(rpcUrl, [['eth_getCode', multicall3Address, 'latest']])
  for (const proxy of Object.values(permit2Spenders)) {
    await callRpc(rpcUrl, [['anvil_setCode', proxy, code]])
  }
}

/** Combines several calls into one call of Multicall3, or of an address with its code. */
export function together(calls: readonly Call[], target: string = multicall3Address): Call {
  const all = calls.map((call) => ({ ...call, allowFailure: false }))
  return { target, callData: forms.encodeFunctionData('aggregate3', [all]) }
}

/** Returns the use of a permit for this amount, in the name of its proxy. */
export function useOf(payload: PermitPayload, amount: bigint): Call {
  const { from, to, data } = permitCall(payload, amount)
  return together([{ target: to, callData: data }], from)
}

/** Returns a transfer of zero tokens between any two addresses, which anyone may make. */
export function nothingMoved({ usdc }: Chain, from: string, to: string): Call {
  return { target: usdc, callData: forms.encodeFunctionData('transferFrom', [from, to, 0n]) }
}

/** Mines one block with a stranger's transaction for each call; `carrying` is appended to its data. */
export async function mineCalls(
  { rpcUrl }: Chain,
  calls: readonly (Call & { carrying?: string })[],
): Promise<void> {
  const gas = `0x${(28_000_000 / calls.length).toString(16)}`
  await minedTogether(rpcUrl, async () => {
    for (const { target: to, callData, carrying = '' } of calls) {
      const from = newKey().at
      await callRpc(rpcUrl, [['anvil_setBalance', from, `0x${(10n ** 18n).toString(16)}`]])
      const data = `${callData}${carrying}`
      await callRpc(rpcUrl, [['eth_sendTransaction', { from, to, data, gas }]])
    }
  })
}

/** Puts a call into a contract's code, whose transactions need no data. */
export async function store({ rpcUrl }: Chain, { target, callData }: Call): Promise<Call> {
  const data = callData.slice(2)
  const length = word(data.length / 2)
  // CODECOPY the data behind the program to memory, CALL the target with it, STOP.
  const program = (offset: string) =>
    `61${length}61${offset}6000396000600061${length}6000600073${target.slice(2)}5af100`
  const code = program(word(program('0000').length / 2))
  const contract = newKey().at
  await callRpc(rpcUrl, [['anvil_setCode', contract, `0x${code}${data}`]])
  return { target: contract, callData: '0x' }
}

function word(value: number): string {
  return value.toString(16).padStart(4, '0')
}
