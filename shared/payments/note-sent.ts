/**
 * Asked right before stored bytes are sent: the ledger notes it, so that a freeze knows what was sent
 * before it, and says no where a freeze came first.
 */
import type { Hex } from '../chains/hex.ts'
import type { World } from '../world.ts'

/** Notes that a transaction is sent now; false where nobody may send it. */
export async function noteSent(world: Pick<World, 'db'>, hash: Hex): Promise<boolean> {
  return (await world.db.call('housekeeping_send', { tx_hash: hash })) === true
}
