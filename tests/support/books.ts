/** Compares the ledger with the chain: what an account reserved and settled, and what the token shows. */
import { id as keccak, zeroPadValue } from 'ethers'
import { expect } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { type Agent, finalize, type TestWorld } from './world.ts'

const logs = z.array(z.object({ topics: z.array(z.string()) }))

/** Returns the nonces of a wallet's authorizations that the token has used, one for each use. */
async function usedNonces(world: TestWorld, { address }: Agent): Promise<string[]> {
  const topics = [keccak('AuthorizationUsed(address,bytes32)'), zeroPadValue(address, 32)]
  const filter = { address: world.chain.usdc, topics, fromBlock: '0x0' }
  const [found] = await callRpc(world.chain.rpcUrl, [['eth_getLogs', filter]])
  return logs.parse(found).map(({ topics: [, , nonce = ''] }) => nonce)
}

/** Returns the ids of an account's settled payments. Throws unless they are exactly those on the chain. */
export async function settledAsOnChain(world: TestWorld, agent: Agent): Promise<string[]> {
  const rows = await world.db.sql<{ id: string; nonce: string }[]>`
    select id, authorization_nonce as nonce from private.payments
     where account = ${agent.id} and (state = 'settled' or block_hash is not null)`
  const used = await usedNonces(world, agent)
  expect(used.toSorted()).toEqual(rows.map(({ nonce }) => nonce).toSorted())
  return rows.map(({ id }) => id)
}

/** Counts the payments that hold a reservation and are not settled. */
async function openPayments(world: TestWorld): Promise<number> {
  const rows = await world.db.sql`select 1 from private.payments
    where state in ('authorized', 'signed') and block_hash is null`
  return rows.length
}

/** Runs housekeeping and lets time pass between runs until nothing is reserved. */
export async function resolveAll(world: TestWorld): Promise<void> {
  for (let run = 0; run < 40; run += 1) {
    await runHousekeeping(world.world)
    if ((await openPayments(world)) === 0) return
    await finalize(world.chain)
    await world.tick(20)
  }
  throw new Error(`${await openPayments(world)} payments never ended`)
}

/** Records, from now on, every change after which an account or app exceeds its cap. */
export async function watchCaps({ db }: TestWorld): Promise<void> {
  await db.sql.unsafe(`
    create table testing.breaches (account uuid, total bigint);
    create function testing.watch_cap() returns trigger language plpgsql security definer as $$
    declare
      -- Asked once: the clock of the tests is a table.
      now_at timestamptz := private.clock();
    begin
      insert into testing.breaches
      select a.id, sum(p.amount_usd_micros)
        from private.accounts a join private.payments p on p.account = a.id
       where a.id = new.account and p.counts_until > now_at
       group by a.id having sum(p.amount_usd_micros) > a.daily_spending_cap_usd_micros
      union all
      select k.account, sum(p.amount_usd_micros)
        from private.credentials k join private.payments p on coalesce(p.budget, p.key) = k.id
       where k.account = new.account and p.counts_until > now_at
       group by k.id having sum(p.amount_usd_micros) > k.max_per_day_usd_micros;
      return null;
    end $$;
    create trigger watch_cap after insert or update of state on private.payments
      for each row execute function testing.watch_cap()`)
}

/** Returns the recorded totals above the cap of an account, in micro-USD. */
export async function breaches({ db }: TestWorld, { id }: Agent): Promise<string[]> {
  const rows = await db.sql<{ total: string }[]>`
    select distinct total::text from testing.breaches where account = ${id}`
  return rows.map(({ total }) => total)
}
