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
alter table private.balances enable row level security;
create index balances_due on private.balances (chain, due_at) where read_block is null;
create index balances_read on private.balances (chain, read_block) where read_block is not null;

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
    read_block = null, read_hash = null, read_atomic = null
   where (t.chain, t.wallet, t.token) = (b.chain, b.wallet, b.token)
$$;

-- True if every sum of an account that limits may read is that of its payments.
create function private.sums_are_right(of_account uuid) returns boolean language sql stable as $$
  with right_sums as (
    select v.subject, v.payee, v.leaves_from, sum(v.automatic) as automatic, sum(v.asserted) as asserted,
      sum(v.total) as total, count(*) as payments
    from private.payments p, private.sums_with(p) v
    where p.account = of_account and p.state = 'settled' and p.counts_until is not null
      and v.leaves_from >= private.near() group by 1, 2, 3
  ), kept as (
    select s.* from private.settled_sums s where s.payments <> 0 and s.leaves_from >= private.near()
      and s.subject in (select of_account union all select k.id from private.credentials k where k.account = of_account
        union all select m.id from private.mandates m where m.account = of_account)
  )
  select not exists (select from right_sums r full join kept k using (subject, payee, leaves_from)
    where (r.automatic, r.asserted, r.total, r.payments) is distinct from
      (k.automatic, k.asserted, k.total, k.payments))
$$;

-- Returns the accounts whose balances are compared at a block and whose limits read a sum that is wrong.
create function api.housekeeping_wrong_sums(chain bigint, block_number bigint)
  returns table (account_id uuid)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  select w.account from private.wallets w
   where w.address in (select b.wallet from private.balances b where b.chain = housekeeping_wrong_sums.chain
       and b.read_block = housekeeping_wrong_sums.block_number)
     and not private.sums_are_right(w.account);
end $$;

-- Compares what was read at a final block with the books, and returns what differs, for an alarm. The next reading
-- starts from what is there.
create function api.housekeeping_compare_balances(
  chain bigint, block_number bigint, block_hash text)
  returns table (account_id uuid, wallet text, token text, standing text, ledger_atomic text, found_atomic text)
  language plpgsql security definer set search_path = '' as $$
declare
  b private.balances;
  held numeric;
begin
  for b in select t.* from private.balances t
    join private.transfer_cursors c on c.chain = t.chain and t.read_block <= c.finalized_through
    where t.chain = housekeeping_compare_balances.chain and t.read_block = housekeeping_compare_balances.block_number
      and t.read_hash = housekeeping_compare_balances.block_hash for update of t
  loop
    held := private.ledger_of(b);
    if b.base_block is not null and b.read_atomic <> held then
      return query select w.account, b.wallet, b.token,
          case when b.read_atomic > held then 'surplus' else 'short' end, held::text, b.read_atomic::text
        from private.wallets w where w.address = b.wallet;
    end if;
    perform private.rebase(b);
  end loop;
end $$;

grant execute on function api.housekeeping_hasten_balances, api.housekeeping_due_balances,
  api.housekeeping_keep_balances, api.housekeeping_final_balances, api.housekeeping_drop_balances,
  api.housekeeping_wrong_sums, api.housekeeping_compare_balances to service_role;
