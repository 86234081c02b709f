/** The key of an account's mail, which is drawn with its first mail. */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { type Wrap, wrapSchema } from '../sealing/wrap.ts'
import { newAccountKey } from '../vault/keys.ts'
import type { VaultRoom } from '../vault/room.ts'

const keyed = z.object({ kept: wrapSchema })

/** Draws the key. Of two that do at once, both take the one that was kept first. */
export async function firstKey(room: VaultRoom, alias: string, account: string): Promise<Wrap> {
  const { world } = room
  const drawn = newAccountKey(room.roots('mail'), (length) => world.randomBytes(length), account)
  const answer = await unbound(world.db).one('inbound_key', { alias, wrap: drawn }, keyed)
  if (!answer) throw new Error('an account was not given its key')
  return answer.kept
}
