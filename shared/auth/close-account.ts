/** Closes the owner's account and opens it again (supabase/schemas/84_closing.sql). */
import * as z from 'zod'
import { accountClosed, accountReopened } from '../mail/closing-messages.ts'
import { type OwnerSession, sealSessionNotice } from './new-session.ts'

/** Milliseconds from the closing to the erasure; api.owner_close sets its time. */
const keptMilliseconds = 30 * 86_400_000

const closedRow = z.object({ outcome: z.enum(['closed', 'other_alias', 'payments_open']) })

/** Closes the account whose alias the owner typed; returns why it did not, or `closed`. */
export async function closeAccount(session: OwnerSession, alias: string) {
  const { world, db } = session
  const until = new Date(world.now().getTime() + keptMilliseconds)
  const mail = await sealSessionNotice(session, (url, deed) =>
    accountClosed(url, { ...deed, until }),
  )
  return (await db.one('owner_close', { alias, mail }, closedRow))?.outcome ?? 'other_alias'
}

/** Opens the account again; it stays frozen. */
export async function reopenAccount(session: OwnerSession): Promise<void> {
  const mail = await sealSessionNotice(session, accountReopened)
  await session.db.run('owner_reopen', { mail })
}
