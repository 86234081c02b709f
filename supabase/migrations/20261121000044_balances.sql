-- Balances: whether wallets hold what their books say. The balance of a wallet at one block, with the
-- deposits and outflows since, is what it must hold at a later block.
--
-- A balance is read at the head and kept until its block is final: nodes forget the state of old blocks, and
-- before the block is final its transfers are not final either.

create table private.balances (
  chain bigint not null references private.transfer_cursors,
  wallet text not null references private.wallets (address),
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  -- The last reading that was compared, from which the next one is computed; null before any.
  base_block bigint,
  base_atomic numeric(78, 0) check (base_atomic >= 0),
  -- Final block through which the transfers after the base were booked again.
  rebooked_through bigint,
  -- A reading whose block is not final yet.
  read_block bigint,
  read_hash text check (read_hash ~ '^0x[0-9a-f]{64}$'),
  read_atomic numeric(78, 0) check (read_atomic >= 0),
  read_at timestamptz,
  -- Time of the next reading.
  due_at timestamptz not null default private.clock(),
  primary key (chain, wallet, token),
  check ((base_block is null) = (base_atomic is null)),
  check (num_nulls(read_block, read_hash, read_atomic) in (0, 3))
);
create index balances_due on private.balances (chain, due_at) where read_block is null;
create index balances_read on private.balances (chain, read_block) where read_block is not null;
create index deposits_of_wallet on private.deposits (wallet, chain, token, block_number);
alter table private.balances enable row level security;

-- Returns what a wallet must hold at the block of a reading.
create function private.ledger_of(b private.balances) returns numeric
  language sql stable as $$
  select b.base_atomic
    + coalesce((select sum(d.amount_atomic) from private.deposits d
        where d.wallet = b.wallet and d.chain = b.chain and d.token = b.token and not d.reorged
          and d.block_number > b.base_block and d.block_number <= b.read_block), 0)
    - coalesce((select sum(o.amount_atomic) from private.outflows o
        where o.wallet = b.wallet and o.chain = b.chain and o.token = b.token
          and o.block_number > b.base_block and o.block_number <= b.read_block), 0)
$$;

-- Returns how a reading differs from the books: `surplus` if more is there, else `short`.
create function private.standing_of(b private.balances) returns text
  language sql stable as $$
  select case when b.read_atomic > private.ledger_of(b) then 'surplus' else 'short' end
$$;

-- Makes every balance of a chain due that was not read in the last hour.
create function api.housekeeping_hasten_balances(chain bigint) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  update private.balances b set due_at = private.clock()
   where b.chain = housekeeping_hasten_balances.chain and b.read_block is null
     and b.due_at > private.clock() and b.read_at < private.clock() - interval '1 hour';
end $$;

-- Returns a batch of balances to read, those that wait longest first. They are due again in ten minutes if
-- they could not be read. Wallets that were opened since are added.
create function api.housekeeping_due_balances(chain bigint, tokens text[], batch integer)
  returns table (wallet text, token text)
  language plpgsql security definer set search_path = '' as $$
begin
  insert into private.balances (chain, wallet, token)
  select housekeeping_due_balances.chain, w.address, t.token
    from private.wallets w cross join unnest(tokens) t (token)
   where not exists (select from private.balances b
     where (b.chain, b.wallet, b.token)
       = (housekeeping_due_balances.chain, w.address, t.token))
   limit batch
  on conflict do nothing;
  return query
  update private.balances b set due_at = private.clock() + interval '10 minutes'
   where (b.chain, b.wallet, b.token) in (select d.chain, d.wallet, d.token from private.balances d
     where d.chain = housekeeping_due_balances.chain and d.read_block is null
       and d.due_at <= private.clock()
     order by d.due_at limit batch for update skip locked)
  returning b.wallet, b.token;
end $$;

-- Stores what was read at a block, [{wallet, token, amount_atomic}], until the block is final.
create function api.housekeeping_keep_balances(
  chain bigint, block_number bigint, block_hash text, readings jsonb) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  update private.balances b set read_block = block_number, read_hash = block_hash,
    read_atomic = r.amount_atomic, read_at = private.clock(),
    due_at = private.clock() + interval '24 hours'
    from jsonb_to_recordset(readings) as r (wallet text, token text, amount_atomic numeric)
   where (b.chain, b.wallet, b.token) = (housekeeping_keep_balances.chain, r.wallet, r.token)
     and b.read_block is null and coalesce(b.base_block, 0) < block_number
     -- Before that block the books need not be complete.
     and block_number >= (select c.finalized_through from private.transfer_cursors c
       where c.chain = housekeeping_keep_balances.chain);
end $$;

-- Returns the blocks of readings that are final now and whose transfers were all read, oldest first.
create function api.housekeeping_final_balances(chain bigint, batch integer)
  returns table (block_number bigint, block_hash text)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  select b.read_block, b.read_hash
    from private.balances b join private.transfer_cursors c on c.chain = b.chain
   where b.chain = housekeeping_final_balances.chain and b.read_block <= c.finalized_through
   group by b.read_block, b.read_hash order by b.read_block limit batch;
end $$;

-- Discards what was read at a block that was replaced; it is read anew.
create function api.housekeeping_drop_balances(chain bigint, block_number bigint, block_hash text)
  returns void language plpgsql security definer set search_path = '' as $$
begin
  update private.balances b set read_block = null, read_hash = null, read_atomic = null,
    due_at = private.clock()
   where b.chain = housekeeping_drop_balances.chain and b.read_block = block_number
     and b.read_hash = block_hash;
end $$;

-- Makes a compared reading the base of the next one.
create function private.rebase(b private.balances) returns void language sql as $$
  update private.balances t set base_block = b.read_block, base_atomic = b.read_atomic,
    rebooked_through = null, read_block = null, read_hash = null, read_atomic = null
   where (t.chain, t.wallet, t.token) = (b.chain, b.wallet, b.token)
$$;

-- Compares what was read at a final block with the books, and returns what differs. The caller then books the
-- transfers after `known_block` again; what still differs is ended by housekeeping_end_mismatch one by one.
create function api.housekeeping_compare_balances(
  chain bigint, block_number bigint, block_hash text)
  returns table (account_id uuid, wallet text, token text, known_block bigint, standing text,
    ledger_atomic text, found_atomic text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.rebase(b) from private.balances b
    join private.transfer_cursors c on c.chain = b.chain and b.read_block <= c.finalized_through
   where b.chain = housekeeping_compare_balances.chain and b.read_block = block_number
     and b.read_hash = block_hash
     and (b.base_block is null or b.read_atomic = private.ledger_of(b));
  return query
  select w.account, b.wallet, b.token, coalesce(b.rebooked_through, b.base_block),
    private.standing_of(b),
    private.ledger_of(b)::text, b.read_atomic::text
    from private.balances b join private.wallets w on w.address = b.wallet
    join private.transfer_cursors c on c.chain = b.chain and b.read_block <= c.finalized_through
   where b.chain = housekeeping_compare_balances.chain and b.read_block = block_number
     and b.read_hash = block_hash;
end $$;

-- Books again what moved to and from a wallet, from one log to another, in blocks that were read as final
-- before. A caller that was interrupted continues with the first block that was not booked completely.
create function api.housekeeping_rebook_transfers(
  chain bigint, wallet text, from_block bigint, from_log integer, to_block bigint, to_log integer,
  transfers jsonb) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  perform from private.transfer_cursors c
   where c.chain = housekeeping_rebook_transfers.chain and to_block <= c.finalized_through
   for no key update;
  if not found then
    raise exception 'blocks that are not final';
  end if;
  perform private.replace_deposits(
    chain, from_block, from_log, to_block, to_log, transfers, true, wallet);
  perform private.enter_outflows(chain, transfers);
  update private.balances b
     set rebooked_through = case to_log when 2147483647 then to_block else to_block - 1 end
   where b.chain = housekeeping_rebook_transfers.chain
     and b.wallet = housekeeping_rebook_transfers.wallet
     and coalesce(b.rebooked_through, b.base_block) between from_block - 1 and to_block - 1;
end $$;

-- Ends a mismatch, if it still exists; returns no row otherwise. The next reading starts from what is there.
-- With a `summary`, if the wallet holds less than the books explain, the account is frozen, the feed shows
-- the summary, and the owner is notified by mail.
create function api.housekeeping_end_mismatch(
  chain bigint, wallet text, token text, standing text, summary text default null,
  mail jsonb default null)
  returns table (account_id uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  b private.balances;
begin
  select w.account into account_id from private.wallets w
   where w.address = housekeeping_end_mismatch.wallet;
  perform private.hold_account(account_id);
  select t.* into b from private.balances t
   where (t.chain, t.wallet, t.token) = (housekeeping_end_mismatch.chain,
     housekeeping_end_mismatch.wallet, housekeeping_end_mismatch.token)
     and t.read_block is not null and t.read_atomic <> private.ledger_of(t)
   for update;
  if not found or private.standing_of(b) <> standing then
    return;
  end if;
  perform private.rebase(b);
  if standing = 'short' and summary is not null then
    insert into private.activities (account, category, type, summary)
    values (account_id, 'security', 'balance_short', housekeeping_end_mismatch.summary);
    perform private.freeze(account_id,
      'The account was frozen by the service: a wallet of it holds less than its books say.');
    perform private.enqueue_mail(account_id, mail);
  end if;
  return next;
end $$;
grant execute on function api.housekeeping_hasten_balances, api.housekeeping_due_balances,
  api.housekeeping_keep_balances, api.housekeeping_final_balances, api.housekeeping_drop_balances,
  api.housekeeping_compare_balances, api.housekeeping_rebook_transfers,
  api.housekeeping_end_mismatch to service_role;
