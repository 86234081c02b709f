-- Transfers of tokens from and to wallets of the service, as Transfer logs show them: deposits and outflows.
--
-- Blocks are read twice: up to the head as they arrive, so that a deposit shows at once, and again when they
-- are final. A reading replaces all that is known of its blocks. So the second one is right, whatever a
-- reorganization, or a node that lagged behind, made of the first.

create table private.transfer_cursors (
  chain bigint primary key,
  -- Grows with every booking: of two runs that read at the same version, one books.
  version bigint not null default 0,
  -- The reading began after this block.
  began_after bigint not null,
  -- Blocks up to here were read as final and are not read again.
  finalized_through bigint not null,
  -- Blocks up to here were read; those above finalized_through may still be replaced.
  seen_through bigint not null check (seen_through >= finalized_through),
  -- The head when they were read. As long as it remains in the chain, so does every block below it.
  head_number bigint not null,
  head_hash text not null check (head_hash ~ '^0x[0-9a-f]{64}$'),
  safe_block bigint not null,
  -- Time since which final blocks wait and none was booked.
  behind_since timestamptz,
  -- After a restore, nothing is signed until this block was read as final; null until it is known.
  catch_up_block bigint,
  began_at timestamptz not null default private.clock()
);
alter table private.transfer_cursors enable row level security;

create table private.deposits (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  chain bigint not null references private.transfer_cursors,
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  wallet text not null references private.wallets (address),
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  sender text not null check (sender ~ '^0x[0-9a-fA-F]{40}$' and sender <> wallet),
  amount_atomic numeric(78, 0) not null check (amount_atomic >= 0),
  -- Tells apart equal transfers of one transaction, in the order of their logs.
  nth integer not null check (nth > 0),
  -- Position of the transfer on chain. A transaction that moves to another block is the same deposit.
  block_number bigint not null,
  block_hash text not null check (block_hash ~ '^0x[0-9a-f]{64}$'),
  log_index integer not null check (log_index >= 0),
  -- True if its block was replaced, and no block that was read since holds it.
  reorged boolean not null default false,
  -- Reason why it is hidden from the feed; decided once, when it is first seen.
  flag text check (flag in ('zero_value', 'look_alike', 'dust')),
  constraint deposits_terms
    unique (chain, tx_hash, wallet, token, sender, amount_atomic, nth)
);
alter table private.deposits enable row level security;
create index deposits_blocks on private.deposits (chain, block_number, log_index);
create index deposits_gone on private.deposits (account, chain, block_number) where reorged;
create index deposits_of_wallet on private.deposits (wallet, chain, token, block_number);

alter table private.activities
  add foreign key (deposit) references private.deposits on delete cascade;

create table private.outflows (
  chain bigint not null references private.transfer_cursors,
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  log_index integer not null check (log_index >= 0),
  account uuid not null references private.accounts,
  wallet text not null references private.wallets (address),
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  payee text not null check (payee ~ '^0x[0-9a-fA-F]{40}$' and payee <> wallet),
  -- Anybody can make a transfer of zero in anybody's name.
  amount_atomic numeric(78, 0) not null check (amount_atomic > 0),
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  block_number bigint not null,
  block_hash text not null check (block_hash ~ '^0x[0-9a-f]{64}$'),
  payment uuid unique references private.payments,
  -- It settled its payment, or no payment explains it; null before it was booked.
  verdict text check (verdict in ('booked', 'unexplained')),
  primary key (chain, tx_hash, log_index),
  check ((payment is not null) = (verdict is not distinct from 'booked'))
);
alter table private.outflows enable row level security;
create index outflows_due on private.outflows (chain, block_number, log_index) where verdict is null;
create index outflows_of_wallet on private.outflows (wallet, chain, token, block_number);

create table private.restores (
  at timestamptz primary key,
  -- Time of the backup.
  made_at timestamptz not null
);
alter table private.restores enable row level security;

-- Enters the transfers that left wallets of the service.
create function private.enter_outflows(chain bigint, transfers jsonb) returns void
  language sql as $$
  insert into private.outflows (chain, tx_hash, log_index, account, wallet, token, payee,
    amount_atomic, authorization_nonce, block_number, block_hash)
  select enter_outflows.chain, t.tx_hash, t.log_index, w.account, w.address, t.token, t.recipient,
    t.amount_atomic, t.authorization_nonce, t.block_number, t.block_hash
  from jsonb_to_recordset(transfers) as t (tx_hash text, log_index integer, sender text,
    recipient text, token text, amount_atomic numeric, authorization_nonce text,
    block_number bigint, block_hash text)
  join private.wallets w on w.address = t.sender
  where t.sender <> t.recipient and t.amount_atomic > 0
  on conflict do nothing
$$;

-- True if payments on a chain are written into the books: its transfers are read and, after a restore, up to a final
-- block after every signature from before had ended. Nothing is signed before.
create function private.has_caught_up(chain bigint) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.transfer_cursors c where c.chain = has_caught_up.chain
    and (c.catch_up_block <= c.finalized_through or not exists (select from private.restores)));
end $$;

-- True if a block is one of those in which payments are that the backup does not know.
create function private.is_before_restore(c private.transfer_cursors, block_number bigint) returns boolean
  language sql stable as $$
  select exists (select from private.restores)
    and (c.catch_up_block is null or block_number <= c.catch_up_block)
$$;

-- Returns the mark of address poisoning that a deposit bears, or null: an owner who pays next by copying a
-- sender from the feed would pay the wrong one. A transfer of zero can be made in anybody's name, so it is
-- marked even for a known sender.
create function private.flag_deposit(
  account uuid, sender text, amount_atomic numeric, dust boolean) returns text
  language sql stable as $$
  select case
    when amount_atomic = 0 then 'zero_value'
    when private.recipient_known(account, sender) then null
    when private.similar_recipient(account, sender) is not null then 'look_alike'
    when dust then 'dust'
  end
$$;

-- Makes the deposits in a part of the chain match what was read of it: enters new ones and adds them to the
-- feed, moves those whose position changed, marks those that are gone. Returns the number of new ones. The
-- part goes from one log to another, both included: anybody can fill a block with more than one call takes,
-- so a reading is entered in pieces. Each transfer brings its `nth`, because equal ones may be in two pieces.
-- A reading of one wallet says nothing about others. Only final blocks (`is_final`) move what is in a final
-- block, because newer blocks are read from one endpoint. For the same reason, at most 100 deposits of a
-- wallet and 5,000 of the chain are kept of the newer blocks, including those that are gone; apart from them
-- 20 and 1,000 that are hidden from the feed, which cost a stranger nothing. Further ones show once they are
-- final.
create function private.replace_deposits(
  chain bigint, from_block bigint, from_log integer, to_block bigint, to_log integer,
  transfers jsonb, is_final boolean, only_wallet text default null) returns integer
  language plpgsql as $$
declare
  entered_count integer;
  final_block bigint := greatest(case when is_final then to_block end, (
    select c.finalized_through from private.transfer_cursors c
     where c.chain = replace_deposits.chain));
begin
  with ours as materialized (
    select t.*, w.address as wallet, w.account,
      private.flag_deposit(w.account, t.sender, t.amount_atomic, t.dust) as flag
    from jsonb_to_recordset(transfers) as t (tx_hash text, recipient text, token text, sender text,
      amount_atomic numeric, dust boolean, nth integer, block_number bigint, block_hash text,
      log_index integer)
    join private.wallets w on w.address = t.recipient
    where t.sender <> t.recipient
  ), gone as (
    update private.deposits d set reorged = true
     where d.chain = replace_deposits.chain and not d.reorged
       and (d.block_number, d.log_index) >= (from_block, from_log)
       and (d.block_number, d.log_index) <= (to_block, to_log)
       and (only_wallet is null or d.wallet = only_wallet)
       and not exists (select from ours o
         where (o.tx_hash, o.wallet, o.token, o.sender, o.amount_atomic, o.nth)
           = (d.tx_hash, d.wallet, d.token, d.sender, d.amount_atomic, d.nth))
  ), waiting as (
    select d.wallet, d.flag is not null as is_hidden, count(*) as count from private.deposits d
     where d.chain = replace_deposits.chain and d.block_number > final_block group by 1, 2
  ), judged as materialized (
    select o.*, o.flag is not null as is_hidden, o.block_number > final_block and not exists (
        select from private.deposits d where d.chain = replace_deposits.chain
          and (d.tx_hash, d.wallet, d.token, d.sender, d.amount_atomic, d.nth)
            = (o.tx_hash, o.wallet, o.token, o.sender, o.amount_atomic, o.nth)) as is_fresh
    from ours o
  ), admitted as (
    select j.*, row_number() over (
        partition by j.is_fresh, j.is_hidden order by j.block_number, j.log_index)
      + (select coalesce(sum(w.count), 0) from waiting w where w.is_hidden = j.is_hidden) as of_chain
    from (select f.*, row_number() over (partition by f.wallet, f.is_fresh, f.is_hidden
        order by f.block_number, f.log_index) as of_wallet from judged f) j
      left join waiting w on w.wallet = j.wallet and w.is_hidden = j.is_hidden
     where not j.is_fresh
       or j.of_wallet + coalesce(w.count, 0) <= case when j.is_hidden then 20 else 100 end
  ), booked as (
    insert into private.deposits as d (account, chain, tx_hash, wallet, token, sender,
      amount_atomic, nth, block_number, block_hash, log_index, flag)
    select o.account, replace_deposits.chain, o.tx_hash, o.wallet, o.token, o.sender,
      o.amount_atomic, o.nth, o.block_number, o.block_hash, o.log_index, o.flag
    from admitted o
     where not o.is_fresh or o.of_chain <= case when o.is_hidden then 1000 else 5000 end
    on conflict on constraint deposits_terms do update set block_number = excluded.block_number,
      block_hash = excluded.block_hash, log_index = excluded.log_index, reorged = false
    where (d.block_hash, d.log_index, d.reorged)
        is distinct from (excluded.block_hash, excluded.log_index, false)
      and (d.reorged or d.block_number > final_block or excluded.block_number <= final_block)
    returning d.*
  ), entered as (
    insert into private.activities (account, category, type, deposit, hidden)
    -- A deposit that a payee made while carrying out an order is an item of the order's kind.
    select b.account, coalesce((select p.terms ->> 'category' from private.payments p
        where p.account = b.account and p.tx_hash = b.tx_hash and p.payee = b.sender limit 1), 'deposit'),
      'received', b.id, b.flag is not null from booked b
     -- The whole statement sees the table as it was before, so a deposit in it is not new.
     where not exists (select from private.deposits d where d.id = b.id)
     order by b.block_number, b.log_index
    returning id
  )
  select count(*) into entered_count from entered;
  return entered_count;
end $$;

-- Deletes deposits that are gone as of these blocks, with their items in the feed. The newest ten of an
-- account stay. So inventing many deposits does not fill a feed for good.
create function private.forget_gone_deposits(chain bigint, from_block bigint, to_block bigint)
  returns void language sql as $$
  delete from private.deposits d where d.id in (
    select g.id from (
      select r.id, row_number() over (
          partition by r.account order by r.block_number desc, r.log_index desc, r.id) as nth
        from private.deposits r
       where r.chain = forget_gone_deposits.chain and r.reorged and r.block_number <= to_block
         and r.account in (select n.account from private.deposits n
           where n.chain = forget_gone_deposits.chain and n.reorged
             and n.block_number between from_block and to_block)) g
     where g.nth > 10)
$$;

-- Returns a deposit in the form in which it leaves the database. Its finality follows from how far the chain
-- was read. A transfer of zero has no alias, because anybody can make it in the name of an account.
create function private.deposit_json(deposit uuid) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'id', d.id, 'chain', d.chain, 'token', d.token, 'amount_atomic', d.amount_atomic::text,
    'sender', d.sender, 'tx_hash', d.tx_hash, 'flag', d.flag,
    'sender_alias', (select a.alias from private.wallets w
      join private.accounts a on a.id = w.account
      where w.address = d.sender and d.amount_atomic > 0),
    'finality', case
      when d.reorged then 'reorged'
      when d.block_number <= c.finalized_through then 'finalized'
      when d.block_number <= least(c.safe_block, c.seen_through) then 'safe'
      else 'included' end)
  from private.deposits d join private.transfer_cursors c on c.chain = d.chain
  where d.id = deposit
$$;

-- Returns how far a chain was read. The first call begins at the final block that it passes; there is no row
-- before one is known. `behind_seconds` is how long final blocks have waited without one being booked.
-- `wallets` holds all wallets if there are at most `wallets_max`, else null.
create function api.housekeeping_transfer_cursor(
  chain bigint, head_number bigint, head_hash text, wallets_max integer,
  finalized_block bigint default null)
  returns table (version bigint, finalized_through bigint, seen_through bigint,
    seen_head_number bigint, seen_head_hash text, behind_seconds integer, wallets text[])
  language plpgsql security definer set search_path = '' as $$
begin
  insert into private.transfer_cursors
    (chain, began_after, finalized_through, seen_through, head_number, head_hash, safe_block)
  select housekeeping_transfer_cursor.chain, finalized_block, finalized_block, finalized_block,
    housekeeping_transfer_cursor.head_number, housekeeping_transfer_cursor.head_hash, finalized_block
   where finalized_block is not null
  on conflict do nothing;
  update private.transfer_cursors c set behind_since = private.clock()
   where c.chain = housekeeping_transfer_cursor.chain and c.behind_since is null
     and c.finalized_through < finalized_block;
  -- A signature from before a restore can be used for a quarter of an hour.
  update private.transfer_cursors c set catch_up_block = housekeeping_transfer_cursor.head_number
   where c.chain = housekeeping_transfer_cursor.chain and c.catch_up_block is null
     and private.clock() > (select max(r.at) from private.restores r) + interval '16 minutes';
  return query
  select c.version, c.finalized_through, c.seen_through, c.head_number, c.head_hash,
    floor(extract(epoch from private.clock() - c.behind_since))::integer, (
    select case when count(*) <= wallets_max then coalesce(array_agg(w.address), '{}') end
      from (select a.address from private.wallets a limit wallets_max + 1) w)
  from private.transfer_cursors c where c.chain = housekeeping_transfer_cursor.chain;
end $$;

-- Returns those of the addresses that are wallets of the service. For a long list the planner would read the whole
-- table: with 1,000,000 wallets, 4,000 addresses took 350 ms by that, and take 7 by the index.
create function api.housekeeping_wallets_among(addresses text[]) returns table (address text)
  language sql stable security definer set search_path = '' set enable_seqscan = off as $$
  select w.address from private.wallets w where w.address = any (addresses)
$$;

-- Enters a piece of a reading, from one log to another, before its range is booked. A run that ends in
-- between leaves nothing that the next run does not enter again. What left a wallet in final blocks is judged
-- later. Returns no row if another run has booked since that version.
create function api.housekeeping_enter_transfers(
  chain bigint, version bigint, is_final boolean, from_block bigint, from_log integer,
  to_block bigint, to_log integer, transfers jsonb)
  returns table (entered integer)
  language plpgsql security definer set search_path = '' as $$
begin
  perform from private.transfer_cursors c
   where c.chain = housekeeping_enter_transfers.chain
     and c.version = housekeeping_enter_transfers.version for no key update;
  if found then
    entered := private.replace_deposits(
      chain, from_block, from_log, to_block, to_log, transfers, is_final);
    if is_final then
      perform private.enter_outflows(chain, transfers);
    end if;
    return next;
  end if;
end $$;

-- Books blocks that may still be replaced, with the head under which they were read. `transfers` holds those
-- from `rest_block` and `rest_log` on; earlier ones were entered already. Returns no row if another run has
-- booked since that version.
create function api.housekeeping_book_seen_transfers(
  chain bigint, version bigint, from_block bigint, to_block bigint, rest_block bigint,
  rest_log integer, to_log integer, transfers jsonb, head_number bigint, head_hash text,
  safe_block bigint)
  returns table (next_version bigint, entered integer)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.transfer_cursors c
     set version = c.version + 1, seen_through = to_block,
       head_number = housekeeping_book_seen_transfers.head_number,
       head_hash = housekeeping_book_seen_transfers.head_hash,
       safe_block = housekeeping_book_seen_transfers.safe_block
   where c.chain = housekeeping_book_seen_transfers.chain
     and c.version = housekeeping_book_seen_transfers.version
  returning c.version into next_version;
  if found then
    entered := private.replace_deposits(
      chain, rest_block, rest_log, to_block, to_log, transfers, false);
    perform private.forget_gone_deposits(chain, from_block, to_block);
    return next;
  end if;
end $$;

-- Books final blocks, which must follow those that were booked as final before. It does not change the head:
-- otherwise a replaced head would be forgotten before the blocks below it were read again.
create function api.housekeeping_book_final_transfers(
  chain bigint, version bigint, from_block bigint, to_block bigint, rest_block bigint,
  rest_log integer, to_log integer, transfers jsonb)
  returns table (next_version bigint, entered integer)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.transfer_cursors c
     set version = c.version + 1, finalized_through = to_block,
       seen_through = greatest(c.seen_through, to_block), behind_since = null
   where c.chain = housekeeping_book_final_transfers.chain
     and c.version = housekeeping_book_final_transfers.version
     and c.finalized_through = from_block - 1
  returning c.version into next_version;
  if found then
    entered := private.replace_deposits(
      chain, rest_block, rest_log, to_block, to_log, transfers, true);
    perform private.forget_gone_deposits(chain, from_block, to_block);
    perform private.enter_outflows(chain, transfers);
    return next;
  end if;
end $$;

grant execute on function api.housekeeping_transfer_cursor, api.housekeeping_wallets_among,
  api.housekeeping_enter_transfers, api.housekeeping_book_seen_transfers,
  api.housekeeping_book_final_transfers to service_role;
