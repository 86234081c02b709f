import type { Context } from 'hono'
import type { World } from '../../shared/world.ts'

/** What every request of this function carries. */
export type Frame = {
  Bindings: Record<string, unknown>
  Variables: { requestId: string; world: World }
}
export type Received = Context<Frame>
