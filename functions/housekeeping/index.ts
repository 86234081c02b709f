import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { indexDeposits } from '../../shared/payments/deposits.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import type { World } from '../../shared/world.ts'
import { newId, worldFrom } from '../../shared/world.ts'

// Kept between runs: it remembers which endpoints failed lately.
let world: World | undefined

/** Runs on a schedule; it has no public route. */
export default {
  async scheduled(_event: unknown, bindings: Record<string, unknown>): Promise<void> {
    world ??= worldFrom(bindings)
    await Promise.all([keepHouse(world), indexDeposits(world)])
  },
  fetch(): Response {
    return refuse(wrongPath('/<operation>'), newId())
  },
}
