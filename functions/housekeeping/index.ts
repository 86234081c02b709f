import { watchHealth } from '../../shared/health/watch.ts'
import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { indexTransfers } from '../../shared/payments/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/reconcile.ts'
import type { World } from '../../shared/world.ts'
import { newId, worldFrom } from '../../shared/world.ts'

// Kept between runs: it remembers which endpoints failed lately.
let world: World | undefined
let isWatching = false
let isFirst = true

/** Runs on a schedule; it has no public route. */
export default {
  async scheduled(
    _event: unknown,
    bindings: Record<string, unknown>,
    execution: { waitUntil(work: Promise<void>): void },
  ): Promise<void> {
    world ??= worldFrom(bindings)
    // It goes on for most of a minute: nothing waits for it, and a schedule that comes oftener starts
    // no second one.
    if (!isWatching) execution.waitUntil(watch(world))
    await Promise.all([keepHouse(world), keepBooks(world)])
  },
  fetch(): Response {
    return refuse(wrongPath('/<operation>'), newId())
  },
}

/** Compares with the transfers that were read. */
async function keepBooks(over: World): Promise<void> {
  await indexTransfers(over)
  await reconcileBalances(over, isFirst)
  isFirst = false
}

async function watch(over: World): Promise<void> {
  isWatching = true
  await watchHealth(over, looksOf(over)).finally(() => {
    isWatching = false
  })
}

/** A platform's schedule comes once a minute; that of the local world every few seconds, and ends first. */
function looksOf({ config }: World): number {
  return config.ENVIRONMENT === 'local' ? 1 : 4
}
