import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { indexDeposits } from '../../shared/payments/deposits.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { newId, worldFrom } from '../../shared/world.ts'

/** Runs on a schedule; it has no public route. */
export default {
  async scheduled(_event: unknown, bindings: Record<string, unknown>): Promise<void> {
    const world = worldFrom(bindings)
    await Promise.all([keepHouse(world), indexDeposits(world)])
  },
  fetch(): Response {
    return refuse(wrongPath('/<operation>'), newId())
  },
}
