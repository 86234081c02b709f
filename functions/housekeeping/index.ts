import { watchHealth, watchMilliseconds } from '../../shared/health/watch.ts'
import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { newId, type World, worldFrom } from '../../shared/world.ts'
import { runYield } from '../../shared/yield/rules.ts'

// One world for all runs of the isolate, because it remembers which endpoints failed lately.
let world: World | undefined
let isFirst = true
/** Time until which a watch that was started goes on, unless the platform ended it. */
let watchedUntilMilliseconds = 0

/** Runs housekeeping on a schedule; it has no public route. */
export default {
  async scheduled(
    _event: unknown,
    bindings: Record<string, unknown>,
    execution: { waitUntil(work: Promise<void>): void },
  ): Promise<void> {
    world ??= worldFrom(bindings)
    // The watch runs for most of a minute, so nothing waits for it; a run that comes while it goes on
    // starts no second one. A time is kept, because a watch that was cut off cannot say that it ended.
    const now = world.now().getTime()
    if (now >= watchedUntilMilliseconds) {
      const looks = looksOf(world)
      watchedUntilMilliseconds = now + watchMilliseconds(looks)
      execution.waitUntil(watchHealth(world, looks))
    }
    await Promise.all([keepHouse(world), runYield(world)])
  },
  fetch(): Response {
    return refuse(wrongPath('/<operation>'), newId())
  },
}

/** Runs housekeeping, then compares balances with the transfers that were read. */
async function keepHouse(over: World): Promise<void> {
  await runHousekeeping(over)
  await reconcileBalances(over, isFirst)
  isFirst = false
}

/** Returns the looks of a watch: a platform starts one a minute, and the local world does not wait for more than one. */
function looksOf({ config }: World): number {
  return config.ENVIRONMENT === 'local' ? 1 : 4
}
