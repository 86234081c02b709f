/** Lets payments be signed on any chain in a world without one. */
import type { Sql } from 'postgres'
import { knownChains } from '../../shared/chains/registry.ts'

/** Begins the index of each chain before its first block. */
export async function beginReadingAtNothing(sql: Sql): Promise<void> {
  await sql`insert into private.transfer_cursors (chain, began_after, finalized_through, seen_through,
    head_number, head_hash, safe_block)
    select id, 0, 0, 0, 0, ${`0x${'0'.repeat(64)}`}, 0 from unnest(${knownChains.map(({ id }) => id)}::bigint[]) id
    on conflict do nothing`
}
