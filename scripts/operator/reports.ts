/** Reports for the operator of a service, as rows for a table or for JSON. They show no secret and no mail. */
import { type Sql } from 'postgres'
import * as z from 'zod'
import { addressSchema } from '../../shared/chains/hex.ts'
import { assetOf, findChain } from '../../shared/chains/registry.ts'
import { formatAmount } from '../../shared/money/amount.ts'
import { columns } from '../program/columns.ts'

/** A row of a report. */
export type ReportRow = Readonly<Record<string, string | number | null>>

const paymentRow = z.object({
  payment: z.string(),
  account: z.string(),
  kind: z.string(),
  chain: z.int(),
  token: addressSchema,
  amount: z.string().transform(BigInt),
  state: z.string(),
  finality: z.string().nullable(),
  created: z.string(),
})
const relayerRow = z.object({
  chain: z.int(),
  address: z.string(),
  wei: z.string().nullable(),
  in_flight: z.int(),
  paused_for: z.string().nullable(),
})

/** Returns what works and what does not, and how much waits. */
export async function reportStatus(sql: Sql): Promise<ReportRow[]> {
  return sql`
    select 'accounts' as what, count(*)::text as state from private.accounts
    union all select 'frozen accounts', count(*)::text from private.accounts where frozen_at is not null
    union all select 'open payments', count(*)::text from private.payments
      where state in ('authorized', 'signed', 'unknown')
    union all select 'payments awaiting an owner', count(*)::text from private.payments
      where state = 'awaiting_confirmation' and expires_at > private.clock()
    union all select 'mails waiting', count(*)::text from private.outbox
      where sealed is not null and sent_at is null and gave_up_at is null
    union all select 'reading of chain ' || chain, case when not private.has_caught_up(chain)
        then 'nothing is signed: the restore is not caught up'
      when behind_since is null then 'up to date' else 'behind since ' || behind_since end
      from private.transfer_cursors
    union all select 'failing: ' || (f ->> 'part'), f ->> 'reason'
      from jsonb_array_elements(private.health_json() -> 'failing') f`
}

/** Returns all accounts, oldest first. */
export async function reportAccounts(sql: Sql): Promise<ReportRow[]> {
  return sql`
    select a.alias, w.address as wallet, to_char(a.created_at, 'YYYY-MM-DD') as created,
      to_char(a.frozen_at, 'YYYY-MM-DD HH24:MI') as frozen_since,
      (select count(*)::int from private.credentials k where k.account = a.id
        and k.kind = 'api_key' and private.is_key_live(k)) as keys
      from private.accounts a left join private.wallets w on w.account = a.id
     order by a.created_at, a.id`
}

/** Returns relayers with the gas that they hold in native coins, as the chain reported last. */
export async function reportRelayers(sql: Sql): Promise<ReportRow[]> {
  const rows = await sql`
    select chain::int, address, reported_wei::text as wei, (next_nonce - mined_nonce)::int as in_flight, paused_for
      from private.gas_payers where kind = 'relayer' order by chain, address`
  return z
    .array(relayerRow)
    .parse(rows)
    .map(({ chain, wei, ...row }) => ({
      chain: findChain(`eip155:${chain}`)?.name ?? String(chain),
      ...row,
      gas: wei === null ? null : formatAmount(BigInt(wei), 18),
    }))
}

/** Returns the newest payments, `only` those of an account if it is given. */
export async function reportPayments(sql: Sql, only?: string): Promise<ReportRow[]> {
  const rows = await sql`
    select p.id as payment, a.alias as account, p.kind, p.chain::int, p.token,
      p.amount_atomic::text as amount, p.state, p.finality,
      to_char(p.created_at, 'YYYY-MM-DD HH24:MI') as created
      from private.payments p join private.accounts a on a.id = p.account
     where a.alias = coalesce(${only ?? null}, a.alias)
     order by p.created_at desc, p.id limit 50`
  return z
    .array(paymentRow)
    .parse(rows)
    .map(({ chain: id, token: address, amount, ...row }) => {
      const { chain, token } = assetOf({ chain: id, token: address })
      const shown = `${formatAmount(amount, token.decimals)} ${token.symbol}`
      return { ...row, chain: chain.name, amount: shown }
    })
}

/** Writes rows as a table. */
export function tableOf(rows: readonly ReportRow[]): string {
  const [first] = rows
  if (!first) return 'none'
  const names = Object.keys(first)
  return columns([names, ...rows.map((row) => names.map((name) => String(row[name] ?? '-')))])
}

/** Returns what each key or app may store, after setting it to `megabytes` a day if they are given. */
export async function reportGrowth(sql: Sql, megabytes: string | undefined): Promise<ReportRow[]> {
  if (megabytes !== undefined) {
    if (!/^[1-9]\d{0,2}$/.test(megabytes)) throw new Error('growth takes 1 to 999 megabytes')
    const bytes = Number(megabytes) * 1_000_000
    await sql`
      update private.growth_terms set bytes_a_day = ${bytes}, bytes_at_once = ${bytes}::bigint * 2 / 3`
  }
  return [
    ...(await sql<ReportRow[]>`
    select round(bytes_a_day / 1e6)::integer as mb_a_day, round(bytes_at_once / 1e6)::integer as mb_at_once
      from private.growth_terms`),
  ]
}
