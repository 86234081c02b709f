/**
 * PostgreSQL sessions whose steps run in a given order. A step that must wait for a lock waits while the
 * others continue, as in production.
 */

import type { Sql } from 'postgres'
import postgres from 'postgres'
import type { TestDatabase } from './database.ts'
import { atEnd } from './ending.ts'

export type Session = {
  /** Sends statements, which queue behind those before them. */
  step(statements: Step): void
  /** Returns the answers of the steps since the last call, once all of them are over. */
  answers(): Promise<Row[]>
  isBusy(): boolean
  pid: number
}
/** Statements that are sent together. */
export type Step = readonly string[]
type Row = Record<string, unknown>

/** Opens a session that lasts as long as the file. */
export async function openSession({ url }: TestDatabase): Promise<Session> {
  const sql = postgres(url, { max: 1, onnotice() {} })
  atEnd(() => sql.end({ timeout: 1 }))
  const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  let busy = 0
  let given: Promise<Row[]>[] = []
  return {
    step(statements) {
      for (const statement of statements) {
        busy += 1
        given.push(sql.unsafe<Row[]>(statement).finally(() => (busy -= 1)))
      }
    },
    async answers() {
      const rows = await Promise.all(given)
      given = []
      return rows.flat()
    },
    isBusy: () => busy > 0,
    pid,
  }
}

/** Runs the steps of the sessions in order, each once the ones before it are over or wait for a lock. */
export async function stepThrough(
  sql: Sql,
  order: readonly Session[],
  stepsOf: ReadonlyMap<Session, readonly Step[]>,
): Promise<void> {
  const left = new Map([...stepsOf].map(([session, steps]) => [session, steps.values()]))
  for (const session of order) {
    const { value } = left.get(session)?.next() ?? {}
    if (value !== undefined) session.step(value)
    while (await isMoving(sql, order)) continue
  }
}

async function isMoving(sql: Sql, sessions: readonly Session[]): Promise<boolean> {
  const busy = sessions.filter((session) => session.isBusy()).map(({ pid }) => pid)
  if (busy.length === 0) return false
  const waiting = await sql<{ pid: number }[]>`
    select distinct pid from pg_locks where not granted and pid = any (${busy})`
  return waiting.length < new Set(busy).size
}

/** Returns every order in which each item occurs as often as given. */
export function orders<Item>(counts: ReadonlyMap<Item, number>): Item[][] {
  if ([...counts.values()].every((count) => count === 0)) return [[]]
  return [...counts].flatMap(([item, count]) =>
    count === 0 ? [] : orders(new Map(counts).set(item, count - 1)).map((rest) => [item, ...rest]),
  )
}
