/** Worlds that read the chain through several endpoints, of which the first may lie. */
import { expect } from 'vitest'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { textWith } from '../matching.ts'
import { owned } from '../outflows.ts'
import { type Agent, finalize, start, type TestWorld } from '../world.ts'
import { type Liar, startLiar } from './liar.ts'

/**
 * Starts a world with endpoints, the first of which may lie, and with an index that has begun. Its node keeps
 * this many old states, or hardly any.
 */
export async function besideLiar({ isBegun = true, endpoints = 2, statesMax = 0 } = {}) {
  const liars: Liar[] = []
  const world = await start({
    chain: true,
    statesMax,
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

/** Counts the balances of an agent's wallet that were read and not compared yet. */
export async function waitingReadings({ db }: TestWorld, { address }: Agent): Promise<number> {
  const kept = await db.sql`select from private.balances
    where wallet = ${address} and read_block is not null`
  return kept.length
}

/** Log line of disagreeing endpoints. */
export const disagreement: unknown = expect.objectContaining({ alarm: 'endpoints_disagree' })
/** Feed line of a deposit of 2 USDC. */
export const received = (status: unknown): unknown =>
  expect.objectContaining({ type: 'received', summary: textWith('2 USDC'), status })
