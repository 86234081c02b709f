/** The functions of a schema, as the database's catalog describes them. */
import * as z from 'zod'
import type { SqlFunction } from './plan.ts'

/** Functions by name, each with its overloads. */
export type Catalog = Map<string, SqlFunction[]>

/** Runs one statement; the driver belongs to whoever opens the connection. */
export type Query = (sql: string, parameters: readonly string[]) => Promise<readonly object[]>

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
export async function loadCatalog(query: Query, schema: string): Promise<Catalog> {
  const catalog: Catalog = new Map()
  for (const row of z.array(functionRow).parse(await query(catalogQuery, [schema]))) {
    const overloads = catalog.get(row.name) ?? []
    overloads.push({ ...row, schema, plans: new Map() })
    catalog.set(row.name, overloads)
  }
  return catalog
}

const functionRow = z.object({
  name: z.string(),
  args: z.array(z.object({ name: z.string(), type: z.string(), required: z.boolean() })),
  composite: z.boolean(),
  set: z.boolean(),
  void: z.boolean(),
  readsOnly: z.boolean(),
})
