/** Creates the key of an account's mail, together with its first mail. */
import * as z from 'zod'
import { unbound } from '../../db/database.ts'
import { type WrappedAccountKey, wrapSchema } from '../../sealing/wrap.ts'
import { newAccountKey } from '../../vault/envelope.ts'
import type { VaultContext } from '../../vault/room.ts'

const keyed = z.object({ kept: wrapSchema })

/** Generates the key. If two requests do so at once, both use the key that was stored first. */
export async function ensureMailKey(
  context: VaultContext,
  alias: string,
  account: string,
): Promise<WrappedAccountKey> {
  const { world } = context
  const wrap = newAccountKey(context.roots('mail'), (length) => world.randomBytes(length), account)
  const answer = await unbound(world.db).one('inbound_key', { alias, wrap }, keyed)
  if (!answer) throw new Error('an account was not given its key')
  return answer.kept
}
