/**
 * The database without PostgREST: the same functions with the same arguments and answers, one statement a
 * call, for a process that holds its own connections.
 */
import * as z from 'zod'
import { type Database, type DatabaseAnswer, retrying } from '../database.ts'
import { type Catalog, loadCatalog, type Query } from './catalog.ts'
import { planOf, type SqlFunction } from './plan.ts'

/** Opens the functions of the schema `api` over connections whose role may execute them. */
export function openDirectDatabase(query: Query): Database {
  let catalog: Promise<Catalog> | undefined
  const functionNamed = async (name: string): Promise<SqlFunction> => {
    catalog ??= loadCatalog(query, 'api')
    const [found] = (await catalog.catch(forget)).get(name) ?? []
    // A function that a migration has just added is read at the next call.
    return found ?? forget(new Error(`the database has no function api.${name}`))
  }
  const forget = (error: unknown): never => {
    catalog = undefined
    throw error
  }
  return retrying(async (name, args) => {
    try {
      const fn = await functionNamed(name)
      const given = Object.entries(args).filter(([, value]) => value !== undefined)
      const names = given.map(([argument]) => argument)
      const plan = planOf(fn, names, false)
      const [row] = await query(plan.sql, plan.takesBody ? [JSON.stringify(args)] : [])
      const { body } = planRow.parse(row)
      return { data: fn.void ? null : JSON.parse(body), error: null, status: 200 }
    } catch (error) {
      return databaseFailure(error)
    }
  })
}

const planRow = z.object({ body: z.string() })
const raised = z.object({
  severity: z.string(),
  code: z.string(),
  message: z.string(),
  detail: z.string().optional(),
})

/** Returns an error that PostgreSQL raised with its SQLSTATE, and any of the connection as unavailable. */
function databaseFailure(error: unknown): DatabaseAnswer {
  const { data } = raised.safeParse(error)
  if (data) {
    const { code, message, detail = null } = data
    return { data: null, error: { code, message, details: detail }, status: 400 }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { data: null, error: { code: '', message }, status: 503 }
}
