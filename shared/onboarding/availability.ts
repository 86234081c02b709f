/**
 * Whether an alias can be had, and what near it can, in one question to the database. It tells what is
 * taken, never by whom, and holds nothing: only opening an account takes an alias.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import { aliasProblem, aliasSuggestions, canonicalAlias } from './alias.ts'

/** How an alias stands, under the canonical form in which it would be registered. */
export type Availability = {
  alias: string
  available: boolean
  /** `similar`: it looks like one that is taken. */
  reason?: 'taken' | 'similar' | 'reserved' | 'malformed'
  /** Free ones near an alias that cannot be had. */
  suggestions: string[]
}

const standingRow = z.object({ alias: z.string(), standing: z.enum(['free', 'taken', 'similar']) })

/** Asks for an alias as somebody typed it; `client` is counted against the rate. */
export async function checkAvailability(
  { db, client }: { db: CallerDatabase; client: string },
  text: string,
): Promise<Availability> {
  const alias = canonicalAlias(text)
  const near = aliasSuggestions(alias)
  const problem = aliasProblem(alias)
  const asked = problem === undefined ? [alias, ...near] : near
  const rows = await db.many('check_aliases', { asked, client }, standingRow)
  const standing = new Map(rows.map((row) => [row.alias, row.standing]))
  const found = standing.get(alias)
  const reason = problem ?? (found === 'free' ? undefined : found)
  if (reason === undefined) return { alias, available: true, suggestions: [] }
  const suggestions = near.filter((one) => standing.get(one) === 'free')
  return { alias, available: false, reason, suggestions }
}
