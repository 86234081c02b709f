/**
 * The watch over health between two rounds of the schedule, which come a minute apart: with a look every
 * 20 seconds, and what readers keep for 15, no failure goes untold for a minute.
 */
import type { World } from '../world.ts'
import { lookAround } from './look.ts'

const looks = 3
const pauseMilliseconds = 20_000

/** Looks now and twice more; a look that fails is logged and leaves the others. */
export async function watchHealth(world: World): Promise<void> {
  for (let look = 1; look <= looks; look += 1) {
    await lookAround(world).catch((error: unknown) =>
      world.log({ work: 'health', log: String(error) }),
    )
    if (look < looks) await world.pause(pauseMilliseconds)
  }
}
