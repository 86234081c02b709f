/** Controls of the chain: its time, its blocks and their mining. */
import { expect, onTestFinished } from 'vitest'
import { issuer } from '../../../scripts/local/chain/fund.ts'
import { callRpc, transact } from '../../../scripts/local/chain/rpc.ts'
import type { TestWorld } from '../world.ts'

/** Makes one JSON-RPC call to the chain itself. */
export async function node(world: TestWorld, method: string, ...params: unknown[]) {
  const [result] = await callRpc(world.chain.rpcUrl, [[method, ...params]])
  return result
}

/** Moves all clocks; the chain's time changes with its next block. */
export async function elapse(world: TestWorld, seconds: number): Promise<void> {
  await world.tick(seconds)
  await node(world, 'evm_increaseTime', seconds)
}

/** Moves all clocks, and mines until everything included before is final. */
export async function pass(world: TestWorld, seconds: number): Promise<void> {
  await elapse(world, seconds)
  await node(world, 'anvil_mine', '0x10')
}

/** Mines a block at this base fee; the next ones are near it. */
export async function mineAt(world: TestWorld, baseFeeWei: bigint): Promise<void> {
  await node(world, 'anvil_setNextBlockBaseFeePerGas', `0x${baseFeeWei.toString(16)}`)
  await node(world, 'evm_mine')
}

/** Stops automatic mining until the test is over. */
export async function stopMining(world: TestWorld): Promise<void> {
  await node(world, 'evm_setAutomine', false)
  onTestFinished(async () => void (await node(world, 'evm_setAutomine', true)))
}

/** Sends from any address without its key and returns the hash. */
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

/** Fails unless the token refuses this authorization, which anybody may send. Turns automatic mining on. */
export async function expectUnusable(world: TestWorld, calldata: `0x${string}`): Promise<void> {
  const { rpcUrl, usdc } = world.chain
  await node(world, 'anvil_impersonateAccount', issuer)
  await node(world, 'evm_setAutomine', true)
  await expect(transact(rpcUrl, issuer, usdc, calldata)).rejects.toThrow()
}
