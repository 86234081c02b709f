/** Two endpoints of a chain, one of them a liar, and payments as it makes up where they stand. */
import * as z from 'zod'
import { keepHouse } from '../../../shared/payments/housekeeping.ts'
import { indexTransfers } from '../../../shared/payments/index-transfers.ts'
import type { Agent, TestWorld } from '../world.ts'
import { start } from '../world.ts'
import { pass } from './chain.ts'
import type { finalBlock } from './forged.ts'
import { forging, receiptIn, toldPayment } from './forged.ts'
import { startLiar } from './liar.ts'

/** The product between both; the liar is asked first or last. */
export async function worldOfTwo({ lanes, isFirst = false }: { lanes: number; isFirst?: boolean }) {
  const endpoints: Awaited<ReturnType<typeof startLiar>>[] = []
  const world = await start({
    chain: true,
    lanes,
    endpoints: async (url) => {
      endpoints.push(await startLiar(url), await startLiar(url))
      return endpoints.map((one) => one.url)
    },
  })
  const [first, second] = endpoints
  if (!first || !second) throw new Error('there are no two endpoints')
  return isFirst ? { world, liar: first, honest: second } : { world, liar: second, honest: first }
}

const sentRow = toldPayment.extend({ id: z.string(), tx: z.string() })

/** Payments of an account with the transaction that they were sent in. */
export async function sentBy(world: TestWorld, { id }: Agent) {
  const rows = await world.db.sql`select id, tx_hash as tx, wallet, payee, token,
      amount_atomic::text as amount, authorization_nonce as nonce
    from private.payments where account = ${id}`
  return z.array(sentRow).parse([...rows])
}

/** The receipts of all payments of an account, as if they stood in that block. */
export async function forgeAll(
  world: TestWorld,
  agent: Agent,
  block: Awaited<ReturnType<typeof finalBlock>>,
) {
  const sent = await sentBy(world, agent)
  return forging(new Map(sent.map((one) => [one.tx, receiptIn(block, one.tx, [one])])))
}

/** So many minutes, with housekeeping in each. */
export async function minutes(world: TestWorld, count: number) {
  for (let minute = 0; minute < count; minute += 1) {
    await pass(world, 60)
    await keepHouse(world.world)
    await indexTransfers(world.world)
  }
}
