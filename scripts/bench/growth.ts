/** Measures how much the database calls slow down with the rows of several years. */
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import type { Caller } from './calls.ts'
import { begin, callerOf, payee, reserve, token } from './calls.ts'
import type { Figure } from './report.ts'
import { quantile } from './report.ts'
import type { BenchWorld } from './world.ts'

const samples = 400
const fewRows = 1_000

/** Times every call of a transfer, and of the feed, in a database of few rows and in one of many. */
export async function benchGrowth(world: BenchWorld, rows: number): Promise<Figure[]> {
  const [small, large] = [await world.serve('bench_few'), await world.serve('bench_many')]
  try {
    const few = { sql: small.sql, caller: await callerOf(world, small.sql) }
    const many = { sql: large.sql, caller: await callerOf(world, large.sql) }
    await fill(small.sql, fewRows)
    await fill(large.sql, rows)
    const found = { few: new Map<string, number[]>(), many: new Map<string, number[]>() }
    for (let at = 0; at < samples; at += 1) {
      await sample(few.sql, few.caller, found.few)
      await sample(many.sql, many.caller, found.many)
    }
    return [...found.few].map(([name, latencies]) => {
      const [base, grown] = [latencies, found.many.get(name) ?? []]
      const detail = { 'p95 ms, few rows': quantile(base, 0.95), 'p50 ratio': ratio(0.5) }
      return {
        name: `${name}, p95 at ${rows} rows over ${fewRows}`,
        value: ratio(0.95),
        target: 1.6,
        detail,
      }
      function ratio(part: number) {
        return quantile(grown, part) / quantile(base, part)
      }
    })
  } finally {
    await small.stop()
    await large.stop()
  }
}

async function sample(sql: Sql, caller: Caller, found: Map<string, number[]>): Promise<void> {
  const timed = async <Result>(name: string, run: () => Promise<Result>): Promise<Result> => {
    const began = performance.now()
    const result = await run()
    found.set(name, [...(found.get(name) ?? []), performance.now() - began])
    return result
  }
  const { credential } = caller
  const payment = await timed('begin', () => begin(sql, caller))
  await timed('submit', () => reserve(sql, caller, payment))
  const nonce = `0x${randomUUID().replaceAll('-', '').repeat(2)}`
  const recording = sql`select r.* from private.payments p, api.custody_record(
    ${credential}, p.id, p.authorized_at, ${nonce}, '0x') r where p.id = ${payment}`
  await timed('record', () => recording)
  await timed('status', () => sql`select * from api.find_payment(${credential}, ${payment})`)
  await timed('feed', () => sql`select * from api.list_activity(${credential}, 50)`)
}

/** Inserts settled payments of a hundred other accounts, a minute apart, each with its item in the feed. */
async function fill(sql: Sql, rows: number): Promise<void> {
  await sql`
    with others as (
      insert into private.accounts (alias) select 'stranger-' || n from generate_series(1, 100) n
      returning id
    ), keys as (
      insert into private.credentials (account, digest, label, shown, scopes)
      select id, encode(sha256(id::text::bytea), 'hex'), 'bench', 'x', array['pay'] from others
      returning id, account
    ), wallets as (
      insert into private.wallets select id, 'evm',
        '0x' || substr(encode(sha256(id::text::bytea), 'hex'), 1, 40) from others
      returning account, address
    ), numbered as (
      select k.account, k.id as key, w.address, row_number() over () - 1 as n
        from keys k join wallets w on w.account = k.account
    ), paid as (
      insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
        amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
        tx_hash, block_hash, finality, authorization_nonce)
      select o.account, o.key, 'd', 'x402', 'settled', 84532, ${token}, o.address, ${payee}, 1, 1,
        now(), 'none', now() - make_interval(mins => g), 1,
        '0x' || encode(sha256(('tx' || g)::bytea), 'hex'), '0x', 'finalized',
        '0x' || encode(sha256(('n' || g)::bytea), 'hex')
      from generate_series(1, ${rows}::int) g join numbered o on o.n = g % 100
      returning id, account
    )
    insert into private.activities (account, category, type, payment)
    select account, 'x402', 'x402_authorized', id from paid`
  await sql`analyze`
}
