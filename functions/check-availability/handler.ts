import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import { aliasProblem, aliasSuggestions, canonicalAlias } from '../../shared/onboarding/alias.ts'
import type { checkAlias } from './contract.ts'

const takenRow = z.object({ taken: z.boolean() })

export const run: Handler<typeof checkAlias> = async (input, { db, client }) => {
  const alias = canonicalAlias(input.alias)
  const isTaken = async (name: string) =>
    (await db.one('check_alias', { alias: name, client }, takenRow))?.taken === true
  const problem = aliasProblem(alias)
  const reason = problem ?? ((await isTaken(alias)) ? ('taken' as const) : undefined)
  if (reason === undefined) return { alias, available: true, suggestions: [] }
  const near = aliasSuggestions(alias)
  const taken = await Promise.all(near.map(isTaken))
  return { alias, available: false, reason, suggestions: near.filter((_, at) => !taken[at]) }
}
