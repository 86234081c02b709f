/** Relayers that should be sent gas, each with the request for a payment that a wallet opens (EIP-681). */
import type { Sql } from 'postgres'
import * as z from 'zod'
import { findChain } from '../../shared/chains/registry.ts'
import { formatAmount } from '../../shared/money/amount.ts'
import type { ReportRow } from './reports.ts'

const decimals = 18

const lackingRow = z.object({
  chain: z.int(),
  address: z.string(),
  wei: z.string().nullable(),
  /** Null if none was carried in the last week. */
  send: z.string().transform(BigInt).nullable(),
})

/**
 * Returns the relayers that hold less than so many transfers cost at most, each like the dearest of the last week.
 * Without one, as in a new service, it returns all, and no amount.
 */
export async function reportFunding(sql: Sql, transfers: string): Promise<ReportRow[]> {
  if (!/^[1-9][0-9]{0,6}$/.test(transfers)) {
    throw new Error(`--transfers takes a number from 1 to 9999999, not ${transfers}`)
  }
  const rows = await sql`
    select l.chain::int, l.address, l.reported_wei::text as wei,
      (${transfers}::numeric * g.wei - coalesce(l.reported_wei, 0))::text as send
      from private.gas_payers l cross join lateral (
        select max(pg_catalog.ceil(t.cost_wei / greatest(pg_catalog.cardinality(t.carries), 1))) as wei
          from private.relay_transactions t join private.relay_slots s on s.id = t.slot
         where s.chain = l.chain and t.created_at > private.clock() - interval '7 days') g
     where l.kind = 'relayer' and (g.wei is null or coalesce(l.reported_wei, 0) < ${transfers}::numeric * g.wei)
     order by l.chain, l.address`
  return z
    .array(lackingRow)
    .parse(rows)
    .map(({ chain, address, wei, send }) => ({
      chain: findChain(`eip155:${chain}`)?.name ?? String(chain),
      address,
      holds: wei === null ? null : formatAmount(BigInt(wei), decimals),
      send: send === null ? null : formatAmount(send, decimals),
      request: `ethereum:${address}@${chain}${send === null ? '' : `?value=${send}`}`,
    }))
}
