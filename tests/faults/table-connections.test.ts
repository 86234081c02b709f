/**
 * Row 23 of the fault table holds: connections may die while the database works. The tests have their
 * own world, because the driver of the local gateway reports an end once more to the connection's next
 * user.
 */
import type { Sql } from 'postgres'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { elapse } from '../support/faults/chain.ts'
import { onePair, outcomeOf, transfer } from '../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
/** Separate database session, which holds the locks that the product waits for. */
let holder: Sql
beforeAll(async () => {
  world = await start({ chain: true })
  holder = postgres(world.db.url, { max: 1, onnotice() {} })
  afterAll(() => holder.end({ timeout: 1 }))
})

const once = { 'idempotency-key': 'once' }

const locks: [string, string][] = [
  ['claim_idempotency', 'lock table private.idempotent_answers in exclusive mode'],
  ['begin_payment', 'lock table private.payments in exclusive mode'],
  ['custody_authorize', 'select 1 from private.accounts for no key update'],
  ['custody_record', 'select pg_advisory_xact_lock(7319, 84532)'],
]

/** Calls `run` while a lock blocks a function, and terminates the session that waits for it. */
async function killedWhileWaiting(name: string, lock: string, run: () => Promise<unknown>) {
  const waiting = () => world.db.sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database()
       and wait_event_type = 'Lock' and query like ${`%${name}%`}`
  const running = await holder.begin(async (held) => {
    await held.unsafe(lock)
    const started = run()
    let [found] = await waiting()
    while (!found) [found] = await waiting()
    await world.db.sql`select pg_terminate_backend(${found.pid})`
    return { started }
  })
  await running.started
}

test.each(locks)(
  '23. a connection that dies in %s loses nothing and doubles nothing',
  async (name, lock) => {
    const pair = await onePair(world)

    await killedWhileWaiting(name, lock, () => transfer(world.worker(), pair, once))
    await elapse(world, 61)
    await transfer(world.worker(), pair, once)
    await settleAll(world)

    expect(await outcomeOf(world, pair)).toMatch(/^(expired,)?settled 10000000$/)
    await ledgerEqualsChain(world)
  },
)
