-- The books: every transfer of a token out of a wallet of the service, in final blocks, and the payment that it
-- belongs to. A payment that is found here is settled for good; one whose signature ended before a final block
-- without being found is released. Nothing else frees or ends what was signed.
--
-- A transfer by EIP-3009 carries its payment's nonce. One by Permit2 names no payment, and is taken for a permit of
-- the same wallet, token and payee that it fits.

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
create index outflows_due on private.outflows (chain, block_number, log_index) where verdict is null;
create index outflows_of_wallet on private.outflows (wallet, chain, token, block_number);
alter table private.outflows enable row level security;

create index payments_by_permit on private.payments (wallet, chain, token, lower(payee))
  where terms ->> 'transfer_method' = 'permit2'
    and (state in ('signed', 'unknown') or state = 'settled' and finality <> 'finalized');

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

-- True if no final block has decided about a payment that was signed.
create function private.is_undecided(p private.payments) returns boolean
  language sql immutable as $$
  select p.state in ('signed', 'unknown') or p.state = 'settled' and p.finality <> 'finalized'
$$;

-- Returns the payment that a transfer by EIP-3009 is the use of.
create function private.payment_by_nonce(o private.outflows) returns uuid
  language sql stable as $$
  select p.id from private.payments p
   where (p.chain, p.token, p.wallet, p.authorization_nonce)
     = (o.chain, o.token, o.wallet, o.authorization_nonce)
     and lower(p.payee) = lower(o.payee) and p.amount_atomic = o.amount_atomic
     and private.is_undecided(p)
$$;

-- Returns the permit that a transfer without a nonce fits: the one that its merchant said was used here, else an
-- exact one, else the smallest that is large enough, so that several transfers find a permit each. A node that was
-- ahead can make the block of a use older than its authorization by some blocks.
create function private.permit_like(o private.outflows) returns uuid
  language sql stable as $$
  select p.id from private.payments p
   where p.wallet = o.wallet and p.chain = o.chain and p.token = o.token and lower(p.payee) = lower(o.payee)
     and p.terms ->> 'transfer_method' = 'permit2'
     and (p.state in ('signed', 'unknown') or p.state = 'settled' and p.finality <> 'finalized')
     and coalesce(p.authorized_block, 0) <= o.block_number + 1000
     and (p.amount_atomic = o.amount_atomic
       or p.terms ->> 'scheme' = 'upto' and p.amount_atomic >= o.amount_atomic)
   order by p.tx_hash is distinct from o.tx_hash, p.amount_atomic, p.authorized_at, p.id limit 1
$$;

-- Settles a payment for good by a transfer in a final block.
create function private.settle(o private.outflows, of_payment uuid) returns void
  language plpgsql as $$
begin
  update private.payments p set state = 'settled', failure = null, finality = 'finalized',
    tx_hash = o.tx_hash, block_number = o.block_number, block_hash = o.block_hash,
    log_index = o.log_index, settled_atomic = o.amount_atomic,
    settled_at = coalesce(p.settled_at, private.clock()), checked_at = private.clock()
   where p.id = of_payment;
  update private.outflows t set verdict = 'booked', payment = of_payment
   where (t.chain, t.tx_hash, t.log_index) = (o.chain, o.tx_hash, o.log_index);
  perform private.leave_queue(of_payment);
end $$;

-- Books what left the wallets on a chain in final blocks, in the order of the chain, and releases what ended
-- without having left. Returns the transfers that no payment explains, which housekeeping_enter_unexplained ends
-- one by one. Until they are, nothing of their wallet is released.
create function api.housekeeping_write_books(chain bigint, batch integer)
  returns table (token text, tx_hash text, log_index integer, payee text, amount_atomic text)
  language plpgsql security definer set search_path = '' as $$
declare
  o private.outflows;
  found_id uuid;
begin
  -- One run at a time: two transfers booked together must not find the same permit free.
  perform from private.transfer_cursors c where c.chain = housekeeping_write_books.chain for no key update;
  for o in select * from private.outflows due
    where due.chain = housekeeping_write_books.chain and due.verdict is null
    order by due.block_number, due.log_index limit batch
  loop
    -- The call ends in time, because a caller that gave up would keep nothing. The next run continues.
    exit when pg_catalog.clock_timestamp() > pg_catalog.statement_timestamp() + interval '3 seconds';
    found_id := case when o.authorization_nonce is null then private.permit_like(o)
      else private.payment_by_nonce(o) end;
    if found_id is not null then
      perform private.settle(o, found_id);
    else
      return query select o.token, o.tx_hash, o.log_index, o.payee, o.amount_atomic::text;
    end if;
  end loop;
  perform private.release_ended(housekeeping_write_books.chain, batch);
end $$;

-- Frees what was signed and can never settle: its signature ended, by our own clock too, before the last final
-- block, and none up to it holds its transfer.
create function private.release_ended(on_chain bigint, batch integer) returns void
  language plpgsql as $$
declare
  given_up uuid;
begin
  for given_up in
    update private.payments p set state = 'released', failure = 'the signature ended unused',
      finality = null, block_number = null, block_hash = null, log_index = null, settled_atomic = null,
      checked_at = private.clock()
     where p.id in (select e.id from private.payments e join private.transfer_cursors c on c.chain = e.chain
       where e.chain = on_chain and private.is_undecided(e)
         and e.valid_before < extract(epoch from least(c.finalized_at, private.clock()))
         and private.end_of(e) <= c.finalized_at and private.end_of(e) <= private.clock()
         and not exists (select from private.outflows o where o.wallet = e.wallet and o.chain = e.chain
           and o.token = e.token and o.verdict is null)
       order by e.valid_before limit batch for update of e skip locked)
    returning p.id
  loop
    perform private.leave_queue(given_up);
  end loop;
end $$;

-- Enters a transfer that no payment explains: it appears in the feed, and the owner is told by mail. Returns no row
-- if it was entered before. A restore brings back books that lack what was paid since, of which the owner knows.
create function api.housekeeping_enter_unexplained(
  chain bigint, tx_hash text, log_index integer, summary text, mail jsonb)
  returns table (account_id uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  o private.outflows;
  cursor_row private.transfer_cursors;
begin
  select * into cursor_row from private.transfer_cursors c
   where c.chain = housekeeping_enter_unexplained.chain for no key update;
  update private.outflows t set verdict = 'unexplained'
   where t.chain = housekeeping_enter_unexplained.chain
     and t.tx_hash = housekeeping_enter_unexplained.tx_hash
     and t.log_index = housekeeping_enter_unexplained.log_index and t.verdict is null
     and coalesce(case when t.authorization_nonce is null then private.permit_like(t)
       else private.payment_by_nonce(t) end) is null
  returning t.* into o;
  if not found then
    return;
  end if;
  insert into private.activities (account, category, type, summary)
  values (o.account, 'security', 'unexplained_transfer', housekeeping_enter_unexplained.summary);
  if not private.is_before_restore(cursor_row, o.block_number) then
    perform private.enqueue_mail(o.account, mail);
  end if;
  return query select o.account;
end $$;
grant execute on function api.housekeeping_write_books, api.housekeeping_enter_unexplained to service_role;
