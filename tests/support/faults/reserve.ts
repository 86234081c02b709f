/** A relayer with gas for few calls, and what a freeze leaves usable of many signatures. */
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../chain-world.ts'
import { limitGas } from '../gas.ts'
import { signedPayment } from '../signed.ts'
import type { Agent, TestWorld } from '../world.ts'
import { node } from './chain.ts'
import { minutes } from './two.ts'

/** Opens a payer and another account, which both may move a thousand USDC a day on their agents' word. */
export async function openTwo(world: TestWorld): Promise<{ payer: Agent; other: Agent }> {
  await limitGas(world, {})
  const payer = await world.agent('pay', { usdc: 1000 })
  const other = await world.agent('pay', { usdc: 1000 })
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1000000000,
    asserted_new_recipient_limit_usd_micros = 1000000000,
    daily_spending_cap_usd_micros = 1000000000`
  return { payer, other }
}

/** Leaves the only relayer enough gas for `calls` calls at their worst price, which the ledger then knows. */
export async function fundFor(world: TestWorld, calls: bigint): Promise<void> {
  await runHousekeeping(world.world)
  const [{ address } = { address: '' }] = await world.db.sql<{ address: string }[]>`
    select address from private.relay_lanes where kind = 'relayer'`
  const [{ call } = { call: '0' }] = await world.db.sql<{ call: string }[]>`
    select call_wei::text as call from private.gas_prices order by minute desc limit 1`
  await node(world, 'anvil_setBalance', address, `0x${(calls * BigInt(call)).toString(16)}`)
  await runHousekeeping(world.world)
}

/** Signs 20 purchases and freezes the account. Returns how many of them the chain still executes minutes later. */
export async function usableAfterFreeze(world: TestWorld, agent: Agent): Promise<number> {
  const signed = []
  for (let at = 0; at < 20; at += 1) signed.push(await signedPayment(world, agent, newKey().at))
  await agent.post('/account-freeze', {})
  await minutes(world, 4)
  let usable = 0
  for (const { calldata: data } of signed) {
    const use = node(world, 'eth_call', { to: world.chain.usdc, data }, 'latest')
    const failure = await use.then(() => '', String)
    if (!failure.includes('authorization is used or canceled')) usable += 1
  }
  return usable
}
