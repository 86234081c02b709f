/**
 * Availability of an alias and of similar ones, with one database call. It tells what is taken, but not by
 * whom, and reserves nothing: only opening an account takes an alias.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import { aliasProblem, aliasSuggestions, canonicalAlias } from './alias.ts'

/** Availability of an alias, in the canonical form in which it would be registered. */
export type Availability = {
  alias: string
  available: boolean
  /** `similar`: it looks like a taken one. */
  reason?: 'taken' | 'similar' | 'reserved' | 'malformed'
  /** Free aliases near an unavailable one. */
  suggestions: string[]
}

const standingRow = z.object({ alias: z.string(), standing: z.enum(['free', 'taken', 'similar']) })

/** Checks an alias as a person typed it; `client` is counted against the rate. */
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
