import type { Context } from 'hono'
import type { World } from '../../shared/world.ts'

/** Bindings and variables of every request of this function. */
export type OAuthEnv = {
  Bindings: Record<string, unknown>
  Variables: { requestId: string; world: World }
}
/** One request to the function. */
export type OAuthContext = Context<OAuthEnv>
