/** Worlds whose chain is read through endpoints of which the first may lie. */
import { expect } from 'vitest'
import { indexTransfers } from '../../../shared/payments/index-transfers.ts'
import { textWith } from '../matching.ts'
import { owned } from '../outflows.ts'
import type { Agent, TestWorld } from '../world.ts'
import { finalize, start } from '../world.ts'
import type { Liar } from './liar.ts'
import { startLiar } from './liar.ts'

/** Endpoints the first of which may lie, and an index that has begun. */
export async function besideLiar({ isBegun = true, endpoints = 2 } = {}) {
  const liars: Liar[] = []
  const world = await start({
    chain: true,
    endpoints: async (nodeUrl) => {
      while (liars.length < endpoints) liars.push(await startLiar(nodeUrl))
      return liars.map(({ url }) => url)
    },
  })
  const [liar, honest] = liars
  if (!liar || !honest) throw new Error('no endpoint')
  const { agent } = await owned(world, 10)
  await finalize(world.chain)
  if (isBegun) await indexTransfers(world.world)
  return { world, agent, liar, honest }
}

/** How many balances of an agent's wallet were read and not compared yet. */
export async function waitingReadings({ db }: TestWorld, { address }: Agent): Promise<number> {
  const kept = await db.sql`select from private.balances
    where wallet = ${address} and read_block is not null`
  return kept.length
}

/** A line of the log. */
export const disagreement: unknown = expect.objectContaining({ alarm: 'endpoints_disagree' })
/** A line of the feed. */
export const received = (status: unknown): unknown =>
  expect.objectContaining({ type: 'received', summary: textWith('2 USDC'), status })
