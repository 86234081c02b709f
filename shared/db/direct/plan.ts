/**
 * Writes the SQL of one call, as PostgREST does. Arguments travel as the JSON text of the request and
 * PostgreSQL casts them, so a number never passes through a JavaScript number. The answer leaves as JSON text.
 */

/** Maximum rows of an answer, as hosted projects set it (`db-max-rows`); more are left out silently. */
const rowsMax = 1_000

/** An argument of a function. */
export type Argument = { name: string; type: string; required: boolean }

/** A function as the database's catalog describes it. */
export type SqlFunction = {
  schema: string
  name: string
  args: Argument[]
  /** True if it returns rows with named columns rather than bare values. */
  composite: boolean
  set: boolean
  void: boolean
  /** True if it is STABLE or IMMUTABLE; it then runs read-only, by POST as well. */
  readsOnly: boolean
  /** Prepared calls, one for each combination of given arguments. */
  plans: Map<string, Plan>
}

/** A prepared call. */
export type Plan = { sql: string; takesBody: boolean; single: boolean }

/** The only row of a call: the number of rows, their JSON, and the settings of the HTTP answer. */
export type PlanRow = {
  rows: number
  body: string
  headers: string | null
  status: string | null
}

/** Returns the prepared call for these arguments; `single` asks for one object instead of a list. */
export function planOf(fn: SqlFunction, given: readonly string[], single: boolean): Plan {
  const used = fn.args.filter((arg) => given.includes(arg.name))
  const key = `${single} ${used.map((arg) => arg.name).join(' ')}`
  let plan = fn.plans.get(key)
  if (!plan) {
    plan = { sql: writeSql(fn, used, single), takesBody: used.length > 0, single }
    fn.plans.set(key, plan)
  }
  return plan
}

function writeSql(fn: SqlFunction, used: SqlFunction['args'], single: boolean): string {
  const args = used.map(({ name }) => `${quote(name)} := args.${quote(name)}`).join(', ')
  const call = `${quote(fn.schema)}.${quote(fn.name)}(${args})`
  const columns = used.map(({ name, type }) => `${quote(name)} ${type}`).join(', ')
  // The driver would encode a parameter of type json a second time, hence text first.
  const source = used.length ? `json_to_record($1::text::json) as args(${columns}), lateral ` : ''
  const rows = fn.composite
    ? `select called.* from ${source}${call} called`
    : `select called.value from ${source}(select ${call} as value) called`
  const limit = fn.set ? ` limit ${rowsMax}` : ''
  return `select count(*)::int as rows, (${aggregate(fn, single)})::text as body,
  nullif(current_setting('response.headers', true), '') as headers,
  nullif(current_setting('response.status', true), '') as status
from (${rows}${limit}) answer`
}

function aggregate(fn: SqlFunction, single: boolean): string {
  // The value is selected so that the planner does not leave out the call.
  if (fn.void) return `coalesce(max(answer.value::text), '')`
  const item = fn.composite ? 'answer' : 'answer.value'
  return fn.set && !single
    ? `coalesce(json_agg(${item}), '[]')`
    : `coalesce(json_agg(${item})->0, 'null')`
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
