/** The agent that asks the owner for something, as mails name it. */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'

const askerRow = z.object({ label: z.string() })

/** Returns the label of the caller's key, or the host of its app, whose name is its own word. */
export async function askerName(db: CallerDatabase): Promise<string> {
  const asker = await db.one('identify_caller', { needed: 'pay', counted: false }, askerRow)
  return asker?.label ?? ''
}
