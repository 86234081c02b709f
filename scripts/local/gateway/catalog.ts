/**
 * Knows the functions of the exposed schema and finds the one for a request, by the names of its
 * arguments alone, as PostgREST does.
 */
import type { Sql } from 'postgres'
import { type Refusal, refusal } from './errors.ts'
import type { SqlFunction } from './plan.ts'

/** Functions by name, each with its overloads. */
export type Catalog = Map<string, SqlFunction[]>

// Only `in`, `inout` and `variadic` arguments can be sent. Defaults belong to the last of them.
// Overloads stand in one order wherever their rows lie, as PostgREST sorts them.
const catalogQuery = `
select p.proname as name, p.proretset as set, t.typname = 'void' as void,
  p.provolatile <> 'v' as "readsOnly",
  t.typtype = 'c' or t.typname = 'record' or coalesce(p.proargmodes::text[] && '{t,b,o}', false)
    as composite,
  coalesce((
    select json_agg(json_build_object('name', a.name, 'type', format_type(a.type, null),
        'required', a.place <= p.pronargs - p.pronargdefaults) order by a.place)
      from (select u.name, u.type, row_number() over (order by u.ordinal) as place
              from unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]),
                     p.proargmodes) with ordinality as u (name, type, mode, ordinal)
             where u.type is not null and coalesce(u.mode, 'i') in ('i', 'b', 'v')) a
  ), '[]') as args
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_type t on t.oid = p.prorettype
where n.nspname = $1 and p.prokind = 'f'
order by p.proname, pg_get_function_identity_arguments(p.oid) collate "C"`

/** Reads the functions of one schema. */
export async function loadCatalog(sql: Sql, schema: string): Promise<Catalog> {
  const rows = await sql.unsafe<Omit<SqlFunction, 'schema' | 'plans'>[]>(catalogQuery, [schema])
  const catalog: Catalog = new Map()
  for (const row of rows) {
    const overloads = catalog.get(row.name) ?? []
    overloads.push({ ...row, schema, plans: new Map() })
    catalog.set(row.name, overloads)
  }
  return catalog
}

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
