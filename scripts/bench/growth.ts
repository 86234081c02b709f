/** Measures how much the database calls slow down with the payments of one account under one mandate. */
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import { type Figure, quantile } from './report.ts'
import {
  type BenchWorld,
  begin,
  type Caller,
  callerOf,
  payee,
  reserve,
  type Served,
  token,
} from './world.ts'

const samples = 400
const fewRows = 1_000
const someRows = 100_000
const batch = 500

/** Database with the payments of one account, and the latencies of each call in milliseconds. */
type Arm = {
  rows: number
  served: Served
  caller: Caller
  mandate: string
  latencies: Map<string, number[]>
}

/** Times every call of a payment, and the pages about them, at 1,000, 100,000 and `rows` payments. */
export async function benchGrowth(world: BenchWorld, rows: number): Promise<Figure[]> {
  const arms: Arm[] = []
  try {
    for (const size of [fewRows, someRows, rows]) arms.push(await openArm(world, size))
    for (let at = 0; at < samples; at += 1) {
      for (const arm of arms) await sample(arm)
    }
    return figuresOf(arms)
  } finally {
    for (const { served } of arms) await served.stop()
  }
}

function figuresOf(arms: readonly Arm[]): Figure[] {
  const [base, ...grown] = arms
  if (!base) return []
  return [...base.latencies].flatMap(([name, few]) =>
    grown.map(({ rows, latencies }) => {
      const many = latencies.get(name) ?? []
      const ratio = (part: number) => quantile(many, part) / quantile(few, part)
      return {
        name: `${name}, p95 at ${rows} payments over ${fewRows}`,
        value: ratio(0.95),
        target: 1.3,
        detail: { 'p95 ms, few payments': quantile(few, 0.95), 'p50 ratio': ratio(0.5) },
      }
    }),
  )
}

async function openArm(world: BenchWorld, rows: number): Promise<Arm> {
  const served = await world.serve(`bench_${rows}`)
  const caller = await callerOf(world, served.sql)
  const mandate = await fill(served.sql, caller, rows)
  return { rows, served, caller, mandate, latencies: new Map() }
}

async function sample({ served: { sql }, caller, mandate, latencies }: Arm): Promise<void> {
  const timed = async <Result>(name: string, run: () => PromiseLike<Result>): Promise<Result> => {
    const began = performance.now()
    const result = await run()
    latencies.set(name, [...(latencies.get(name) ?? []), performance.now() - began])
    return result
  }
  const { credential } = caller
  const payment = await timed('begin', () => begin(sql, caller))
  await timed('authorize', () => reserve(sql, caller, payment))
  const nonce = `0x${randomUUID().replaceAll('-', '').repeat(2)}`
  await timed(
    'record',
    () => sql`select r.* from private.payments p, api.custody_record(
      ${credential}, p.id, p.authorized_at, ${nonce}, '0x') r where p.id = ${payment}`,
  )
  await timed('status', () => sql`select * from api.find_payment(${credential}, ${payment})`)
  await timed('feed', () => sql`select * from api.list_activity(${credential}, 50)`)
  await timed('exposure', () => sql`select * from api.account_exposure(${credential})`)
  await timed(
    'mandate status',
    () => sql`select * from api.list_mandates(${credential}, 20, mandate => ${mandate})`,
  )
}

/** Inserts settled payments, a minute apart, under one mandate, each with its item in the feed. */
async function fill(sql: Sql, { credential }: Caller, rows: number): Promise<string> {
  const mandate = randomUUID()
  await sql.begin(async (once) => {
    // A mandate names the consent behind it; here stands only what is spent under it.
    await once`set local session_replication_role = replica`
    await once`
      insert into private.mandates (id, account, key, device, state, merchant_domain,
        include_subdomains, max_payment_usd_micros, max_total_usd_micros, expires_at, consent)
      select ${mandate}, k.account, k.id, 'bench', 'active', 'shop.example.com', false, 1, 10 ^ 15,
        private.clock() + interval '90 days', gen_random_uuid()
      from private.credentials k where k.digest = ${credential}`
  })
  // In batches, because every payment moves the same row of sums, whose versions one transaction keeps all.
  for (let at = 0; at < rows; at += batch) await fillBatch(sql, credential, mandate, at)
  await sql`analyze`
  return mandate
}

async function fillBatch(sql: Sql, credential: string, mandate: string, from: number) {
  await sql`
    with paid as (
      insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
        amount_atomic, amount_usd_micros, mandate, expires_at, consent_level, authorized_at,
        valid_after, valid_before, tx_hash, block_hash, finality, settled_at)
      select k.account, k.id, 'bench', 'x402', 'settled', 84532, ${token}, w.address, ${payee},
        1, 1, ${mandate}, at, 'mandate', at, 0, 0, hash, hash, 'finalized', at
      from private.credentials k join private.wallets w on w.account = k.account,
        generate_series(${from + 1}::integer, ${from + batch}::integer) n,
        lateral (select private.clock() - n * interval '1 minute' as at,
          '0x' || encode(sha256(n::text::bytea), 'hex') as hash) of_payment
      where k.digest = ${credential}
      returning id, account
    )
    insert into private.activities (account, category, type, payment)
    select account, 'x402', 'x402_authorized', id from paid`
}
