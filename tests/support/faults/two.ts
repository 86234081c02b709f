/** Two endpoints of a chain, one of which lies, and payments with forged receipts. */
import * as z from 'zod'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { type Agent, start, type TestWorld } from '../world.ts'
import { pass } from './chain.ts'
import { type finalBlock, forging, receiptIn, reportedPayment } from './forged.ts'
import { startLiar } from './liar.ts'

/** Starts the product with both endpoints; the liar is asked first or last. */
export async function worldOfTwo({
  gasPayers,
  isFirst = false,
}: {
  gasPayers: number
  isFirst?: boolean
}) {
  const endpoints: Awaited<ReturnType<typeof startLiar>>[] = []
  const world = await start({
    chain: true,
    gasPayers,
    endpoints: async (url) => {
      endpoints.push(await startLiar(url), await startLiar(url))
      return endpoints.map((one) => one.url)
    },
  })
  const [first, second] = endpoints
  if (!first || !second) throw new Error('there are no two endpoints')
  return isFirst ? { world, liar: first, honest: second } : { world, liar: second, honest: first }
}

const destinationRow = { tx: z.string(), log: z.int().nullable(), finality: z.string() }
const sentRow = reportedPayment.extend({ id: z.string(), ...destinationRow })

/** Returns the payments of an account with their transaction and their place in it. */
export async function sentBy(world: TestWorld, { id }: Agent) {
  const rows = await world.db.sql`select id, tx_hash as tx, wallet, payee, token,
      amount_atomic::text as amount, authorization_nonce as nonce, log_index as log, finality
    from private.payments where account = ${id}`
  return z.array(sentRow).parse([...rows])
}

/** Forges receipts that place all payments of an account in that block. */
export async function forgeAll(
  world: TestWorld,
  agent: Agent,
  block: Awaited<ReturnType<typeof finalBlock>>,
) {
  const sent = await sentBy(world, agent)
  return forging(new Map(sent.map((one) => [one.tx, receiptIn(block, one.tx, [one])])))
}

/** Lets minutes pass, with housekeeping in each or, if `every` is given, once in so many. */
export async function minutes(world: TestWorld, count: number, every = 1) {
  for (let minute = 0; minute < count; minute += every) {
    await pass(world, 60 * every)
    await runHousekeeping(world.world)
    await indexTransfers(world.world)
  }
}
