/** Worlds with relayers whose chain is read through two endpoints, one of which may lie. */
import { keepHouse } from '../../../shared/payments/housekeeping.ts'
import { indexTransfers } from '../../../shared/payments/index-transfers.ts'
import type { TestWorld } from '../world.ts'
import { start } from '../world.ts'
import { pass } from './chain.ts'
import type { Liar } from './liar.ts'
import { startLiar } from './liar.ts'

/** The one that lies is asked first or second. */
export async function worldOfTwo({ lanes, isFirst = false }: { lanes: number; isFirst?: boolean }) {
  const endpoints: Liar[] = []
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

/** Lets so many minutes pass, each with its run of housekeeping. */
export async function minutes(world: TestWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    await pass(world, 60)
    await keepHouse(world.world)
    await indexTransfers(world.world)
  }
}
