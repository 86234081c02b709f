import { watchHealth } from '../../shared/health/watch.ts'
import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { newId, type World, worldFrom } from '../../shared/world.ts'
import { runYield } from '../../shared/yield/rules.ts'

// One world for all runs of the isolate, because it remembers which endpoints failed lately.
let world: World | undefined
let isWatching = false
let isFirst = true

/** Runs housekeeping on a schedule; it has no public route. */
export default {
  async scheduled(
    _event: unknown,
    bindings: Record<string, unknown>,
    execution: { waitUntil(work: Promise<void>): void },
  ): Promise<void> {
    world ??= worldFrom(bindings)
    // The watch runs for most of a minute, so nothing waits for it; a run that comes while it goes on
    // starts no second one.
    if (!isWatching) execution.waitUntil(watch(world))
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

async function watch(over: World): Promise<void> {
  isWatching = true
  await watchHealth(over, looksOf(over)).finally(() => {
    isWatching = false
  })
}

/** Returns the looks per run: a platform runs this once a minute, the local world every few seconds. */
function looksOf({ config }: World): number {
  return config.ENVIRONMENT === 'local' ? 1 : 4
}
