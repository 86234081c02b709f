/**
 * Finds the function of a request by the names of its arguments alone, as PostgREST does.
 */
import type { Catalog } from '../../../shared/db/direct/catalog.ts'
import type { SqlFunction } from '../../../shared/db/direct/plan.ts'
import { type Refusal, refusal } from './errors.ts'

/** Returns the one function that takes these arguments, or PostgREST's refusal. */
export function findFunction(
  catalog: Catalog,
  schema: string,
  name: string,
  given: readonly string[],
): SqlFunction | Refusal {
  const matching = (catalog.get(name) ?? []).filter((candidate) => accepts(candidate, given))
  const [only, ...others] = matching
  if (!only) return notFound(`${schema}.${name}`, given)
  return others.length === 0 ? only : ambiguous(matching)
}

function accepts({ args }: SqlFunction, given: readonly string[]): boolean {
  return (
    given.every((name) => args.some((arg) => arg.name === name)) &&
    args.every((arg) => !arg.required || given.includes(arg.name))
  )
}

function notFound(name: string, given: readonly string[]): Refusal {
  const list = given.toSorted().join(', ')
  const [sought, searched] = given.length
    ? [`(${list})`, `with parameter${given.length > 1 ? 's' : ''} ${list}`]
    : [' without parameters', 'without parameters']
  return refusal(
    404,
    'PGRST202',
    `Could not find the function ${name}${sought} in the schema cache`,
    `Searched for the function ${name} ${searched}, but no matches were found in the schema cache.`,
  )
}

function ambiguous(matching: readonly SqlFunction[]): Refusal {
  const signatures = matching.map(({ schema, name, args }) => {
    return `${schema}.${name}(${args.map((arg) => `${arg.name} => ${arg.type}`).join(', ')})`
  })
  return refusal(
    300,
    'PGRST203',
    `Could not choose the best candidate function between: ${signatures.join(', ')}`,
    null,
    'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  )
}
