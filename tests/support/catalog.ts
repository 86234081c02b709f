/**
 * The schemas `private` and `api` as the catalog holds them, the same on PostgreSQL 15 to 18. Two databases
 * that answer alike have the same tables, functions and rights, and the same rows that come with them.
 */
import type { Sql } from 'postgres'

const ours = `n.nspname in ('private', 'api')`
const relations = `pg_class c join pg_namespace n on n.oid = c.relnamespace and ${ours}`
const functions = `pg_proc p join pg_namespace n on n.oid = p.pronamespace and ${ours} and p.prokind <> 'a'`

const queries = [
  `select c.oid::regclass as relation, c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity,
      c.reloptions, case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end as view
     from ${relations}`,
  // The order of columns counts: rows are inserted and returned by it.
  `select a.attrelid::regclass as relation, row_number() over (partition by c.oid order by a.attnum),
      a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
      pg_get_expr(d.adbin, d.adrelid) as value
     from ${relations} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relkind <> 'i'`,
  `select t.oid::regtype as type, t.typtype, t.typnotnull, format_type(t.typbasetype, t.typtypmod),
      (select array_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
     from pg_type t join pg_namespace n on n.oid = t.typnamespace and ${ours}`,
  // PostgreSQL 18 stores NOT NULL as a constraint too, but the column already shows it.
  `select k.conrelid::regclass as relation, k.contypid::regtype as type, k.conname, k.convalidated,
      pg_get_constraintdef(k.oid)
     from pg_constraint k join pg_namespace n on n.oid = k.connamespace and ${ours}
    where k.contype not in ('n', 't')`,
  `select pg_get_indexdef(c.oid) from ${relations} where c.relkind = 'i'`,
  `select p as policy from pg_policies p join pg_namespace n on n.nspname = p.schemaname and ${ours}`,
  `select pg_get_triggerdef(t.oid), t.tgenabled
     from pg_trigger t join ${relations} on c.oid = t.tgrelid and not t.tgisinternal`,
  `select pg_get_functiondef(p.oid) from ${functions}`,
  // Only rights of others than the owner; MAINTAIN, which the owner alone has, exists since PostgreSQL 17.
  `with owned as (
     select n.nspname::text as name, n.nspacl as acl, n.nspowner as owner, 'n'::"char" as kind
       from pg_namespace n where ${ours}
     union all
     select c.oid::regclass::text, c.relacl, c.relowner, 'r' from ${relations} where c.relkind <> 'i'
     union all
     select p.oid::regprocedure::text, p.proacl, p.proowner, 'f' from ${functions}
     union all
     select 'default', d.defaclacl, d.defaclrole, d.defaclobjtype from pg_default_acl d)
   select o.name, o.kind, a.privilege_type, a.is_grantable, a.grantee::regrole
     from owned o, aclexplode(coalesce(o.acl, acldefault(o.kind, o.owner))) a
    where a.grantee <> o.owner`,
  `select c.oid::regclass as relation,
      query_to_xml(format('select to_jsonb(t) as row from %s t order by 1', c.oid::regclass), true, true, '')
     from ${relations} where c.relkind = 'r'`,
]

/** Returns one line for each thing that the catalog says of the two schemas, sorted. */
export async function catalogOf(sql: Sql): Promise<string[]> {
  return sql.begin(async (tx) => {
    // With an empty search_path, every name in a definition is printed with its schema.
    await tx.unsafe(`set local search_path = ''`)
    const lines: string[] = []
    for (const query of queries) {
      lines.push(...(await tx.unsafe(query)).map((row) => JSON.stringify(row)))
    }
    return lines.toSorted()
  })
}
