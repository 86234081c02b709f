/** The chain in the hands of a test: its time, its blocks and when they are mined. */
import { onTestFinished } from 'vitest'
import { callRpc } from '../../../scripts/local/rpc.ts'
import type { TestWorld } from '../world.ts'

/** One JSON-RPC call to the chain itself. */
export async function node(world: TestWorld, method: string, ...params: unknown[]) {
  const [result] = await callRpc(world.chain.rpcUrl, [[method, ...params]])
  return result
}

/** Moves all clocks; the chain's shows in its next block. */
export async function elapse(world: TestWorld, seconds: number): Promise<void> {
  await world.tick(seconds)
  await node(world, 'evm_increaseTime', seconds)
}

/** Moves all clocks, and the chain past the finality of what was included before. */
export async function pass(world: TestWorld, seconds: number): Promise<void> {
  await elapse(world, seconds)
  await node(world, 'anvil_mine', '0x10')
}

/** Until the test is over no block is mined by itself. */
export async function stopMining(world: TestWorld): Promise<void> {
  await node(world, 'evm_setAutomine', false)
  onTestFinished(async () => void (await node(world, 'evm_setAutomine', true)))
}

/** Sends from any address that the chain is told of, without its key; answers the hash. */
export async function sendAs(
  world: TestWorld,
  from: string,
  call: { to: string; data?: string; nonce?: string; maxFeePerGas?: string },
): Promise<string> {
  await node(world, 'anvil_impersonateAccount', from)
  const hash = await node(world, 'eth_sendTransaction', { from, ...call })
  await node(world, 'anvil_stopImpersonatingAccount', from)
  return String(hash)
}
