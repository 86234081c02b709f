-- The books: how each signature ended, and every transfer of a token out of a wallet of the service in final blocks.
--
-- Once a final block is later than the end of a signature, the nonce that the token or Permit2 keeps says for good
-- whether it was used: a used payment is settled, an unused one is released. A transfer by EIP-3009 carries its
-- payment's nonce and settles it as soon as its own block is final. One by Permit2 names no payment; it is shown with
-- a used permit that it fits, and decides nothing. Nothing else frees or ends what was signed.

-- Returns the payment that a transfer by EIP-3009 is the use of.
create function private.payment_by_nonce(o private.outflows) returns uuid
  language sql stable as $$
  select p.id from private.payments p
   where (p.chain, p.token, p.wallet, p.authorization_nonce)
     = (o.chain, o.token, o.wallet, o.authorization_nonce)
     and lower(p.payee) = lower(o.payee) and p.amount_atomic = o.amount_atomic
$$;

-- Returns the permits that a transfer without a nonce fits and that no other is shown with: those that were used, in
-- the order in which each transfer finds one, and those that may turn out to be. A node that was ahead can make the
-- block of a use older than its authorization by some blocks.
create function private.permits_like(o private.outflows) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.wallet = o.wallet and p.chain = o.chain and p.token = o.token and lower(p.payee) = lower(o.payee)
     and p.terms ->> 'transfer_method' = 'permit2'
     and (p.state = 'signed' or p.state = 'settled' and p.block_hash is null)
     and coalesce(p.authorized_block, 0) <= o.block_number + 1000
     and (p.amount_atomic = o.amount_atomic
       or p.terms ->> 'scheme' = 'upto' and p.amount_atomic >= o.amount_atomic)
   order by p.terms ->> 'scheme' = 'upto', p.amount_atomic, p.tx_hash is distinct from o.tx_hash, p.id
$$;

-- Returns the payment that a transfer belongs to.
create function private.payment_of(o private.outflows) returns uuid
  language sql stable as $$
  select case when o.authorization_nonce is not null then private.payment_by_nonce(o)
    else (select p.id from private.permits_like(o) p where p.state = 'settled' limit 1) end
$$;

-- True if it is not known yet which permits a transfer can belong to.
create function private.is_early(o private.outflows) returns boolean
  language sql stable as $$
  select o.authorization_nonce is null
    and exists (select from private.permits_like(o) p where p.state = 'signed')
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

-- Books what left the wallets on a chain in final blocks, in the order of the chain. Returns the transfers that no
-- payment explains, which housekeeping_enter_unexplained ends one by one.
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
    where due.chain = housekeeping_write_books.chain and due.verdict is null and not private.is_early(due)
    order by due.block_number, due.log_index limit batch
  loop
    -- The call ends in time, because a caller that gave up would keep nothing. The next run continues.
    exit when pg_catalog.clock_timestamp() > pg_catalog.statement_timestamp() + interval '3 seconds';
    found_id := private.payment_of(o);
    if found_id is not null then
      perform private.settle(o, found_id);
    else
      return query select o.token, o.tx_hash, o.log_index, o.payee, o.amount_atomic::text;
    end if;
  end loop;
end $$;

-- Returns signatures that ended by our own clock and that no final block has decided about, behind a place in their
-- order, the earliest first.
create function api.housekeeping_ended(chain bigint, batch integer, behind_end bigint, behind_id uuid)
  returns table (id uuid, wallet text, token text, nonce text, is_permit boolean, ended_at bigint, valid_before bigint)
  language sql stable security definer set search_path = '' as $$
  select e.id, e.wallet, e.token, e.authorization_nonce, private.is_permit(e),
    extract(epoch from private.end_of(e))::bigint, e.valid_before
  from private.payments e
   where e.chain = housekeeping_ended.chain
     and e.state = 'signed'
     and (e.valid_before, e.id) > (behind_end, behind_id)
     and e.valid_before < extract(epoch from private.clock())
   order by e.valid_before, e.id limit batch
$$;

-- Ends payments whose signatures ended, as their nonces say. Where a used one stands is written with its transfer.
create function api.housekeeping_end(used uuid[], unused uuid[]) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  ended uuid;
begin
  for ended in
    update private.payments p set checked_at = private.clock(), failure = case when p.id = any (unused)
        then 'the signature ended unused' end,
      state = case when p.id = any (used) then 'settled' else 'released' end,
      finality = case when p.id = any (used) then 'finalized' end,
      settled_at = case when p.id = any (used) then coalesce(p.settled_at, private.clock()) else p.settled_at end,
      block_number = null, block_hash = null, log_index = null, settled_atomic = null
     where p.id = any (used || unused) and p.state = 'signed' and private.end_of(p) <= private.clock()
    returning p.id
  loop
    perform private.leave_queue(ended);
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
     and private.payment_of(t) is null and not private.is_early(t)
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

grant execute on function api.housekeeping_write_books, api.housekeeping_ended, api.housekeeping_end,
  api.housekeeping_enter_unexplained to service_role;
