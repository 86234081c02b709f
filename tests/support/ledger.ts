/** Facts that tests read besides the API: balances on the chain and rows of an account. */
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import type { Agent, Answer, TestWorld } from './world.ts'

/** Returns the atomic USDC of an address on the test's chain. */
export async function usdcOf(
  world: Pick<TestWorld, 'chain'>,
  { address }: { address: string },
): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const call = { to: world.chain.usdc, data }
  const [held] = await callRpc(world.chain.rpcUrl, [['eth_call', call, 'latest']])
  return BigInt(String(held))
}

/** Returns the states of an account's payments, oldest first. */
export async function statesOf(world: TestWorld, agent: Agent): Promise<string[]> {
  const rows = await world.db.sql<{ state: string }[]>`
    select private.reported_state(p) as state from private.payments p where account = ${agent.id} order by created_at, id`
  return rows.map(({ state }) => state)
}

/** Creates a payer with money and a payee that it knows, with the tests' device known too. */
export async function acquainted(world: TestWorld, usdc = 1000) {
  const payer = await world.agent('pay', { usdc })
  const payee = await world.agent('read')
  await world.acquaint(payer, payee.address)
  return { payer, payee }
}

/** Polls until the node has mined a transaction; it answers a broadcast before that. */
export function proven(agent: Agent, hash: unknown): Promise<Answer> {
  return ended(agent, { tx_hash: hash })
}

/** Polls until a transfer is no longer on its way; one that was queued is sent after its answer. */
export async function ended(agent: Agent, transfer: object): Promise<Answer> {
  let shown = await agent.post('/transfer-status', transfer)
  for (let look = 0; look < 200 && shown.body['status'] === 'submitted'; look += 1) {
    shown = await agent.post('/transfer-status', transfer)
  }
  return shown
}
