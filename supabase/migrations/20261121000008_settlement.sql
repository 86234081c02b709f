-- Settlement: what the chain showed about a payment. Only a fact on chain ends a payment: a log in a block,
-- or an authorization that can no longer be used.
--
-- The functions named housekeeping_* take no credential. They grant nothing: the caller that looked at the
-- chain, or received the merchant's answer, books it, even if the key that paid was revoked meanwhile.

-- Removes a finished payment's calls from the queue.
create function private.leave_queue(of_payment uuid) returns void language sql as $$
  delete from private.relay_calls c where c.payment = of_payment and c.slot is null
$$;

-- Returns the settlement time of a payment that is booked in a block now. The first booking settles now. In
-- another block than before it settles now or before its signature's end, so that a payment shown in ever
-- other blocks counts no longer than a day from that end. But once a block is final, the money left when that
-- block was first seen, however late.
create function private.settles_at(p private.payments, in_block text, is_final boolean)
  returns timestamptz language sql stable as $$
  select greatest(
    case when p.settled_at is null then private.clock()
      when p.settled_in = in_block then p.settled_at
      else least(private.clock(), greatest(p.settled_at, private.live_until(p))) end,
    case when is_final then
      case when p.settled_in = in_block then p.placed_at else private.clock() end end)
$$;

-- Books a payment as settled. A final one stays as it was booked and keeps its log. A log belongs to one
-- payment: another payment that holds this log by mistake loses it, but if that one is final, this payment
-- gets no log. Without a log a payment counts in full. Settling does not make the recipient known; only the
-- owner does that.
create function private.settle(
  payment uuid, hash text, block bigint, in_block text, log integer, label text,
  settled_atomic text default null)
  returns private.payments language plpgsql as $$
declare
  settled private.payments;
  holder private.payments;
begin
  select p.* into settled from private.payments p where p.id = payment for update;
  if settled.state not in ('signed', 'unknown', 'settled') then
    return null;
  elsif settled.state = 'settled' and settled.finality = 'finalized' then
    return case when settled.block_hash = in_block then settled end;
  end if;
  select o.* into holder from private.payments o
   where o.chain = settled.chain and o.state = 'settled' and o.tx_hash = hash and o.log_index = log
     and o.id <> payment for update;
  if holder.finality = 'finalized' then
    log := null;
    settled_atomic := case when settled_atomic::numeric = settled.amount_atomic
      then settled_atomic end;
  end if;
  update private.payments o set log_index = null,
    settled_atomic = case o.settled_atomic when o.amount_atomic then o.amount_atomic end
   where o.id = holder.id and o.finality is distinct from 'finalized';
  update private.payments p set state = 'settled', tx_hash = hash, block_number = block,
    block_hash = in_block, log_index = log, finality = label,
    settled_atomic = settle.settled_atomic::numeric,
    settled_at = private.settles_at(p, in_block, label = 'finalized'),
    placed_at = case when p.settled_in = in_block then p.placed_at else private.clock() end,
    settled_in = in_block, checked_at = private.clock()
   where p.id = payment
  returning * into settled;
  delete from private.relay_calls c where c.payment = settled.id and c.slot is null
    and settled.finality = 'finalized';
  return settled;
end $$;

-- Returns the end of the signature. A Permit2 permit is still valid at its deadline, so it ends one second
-- later.
create function private.end_of(p private.payments) returns timestamptz
  language sql stable as $$
  select to_timestamp(p.valid_before + case when private.is_permit(p) then 1 else 0 end)
$$;

-- Books a payment by one of these logs, [{tx_hash, log_index}], any of which may be its own. An authorization
-- has its own log. A permit takes the first log that no other payment holds; if none is left, it has none and
-- counts in full.
create function private.settle_by(
  payment uuid, hash text, block bigint, in_block text, logs jsonb, label text,
  settled_atomic text) returns private.payments language plpgsql as $$
declare
  picked record;
  amount numeric;
begin
  -- Of two that are booked at once, the second sees what the first has picked.
  perform pg_catalog.pg_advisory_xact_lock(7320, pg_catalog.hashtext(in_block))
    where in_block is not null;
  select p.amount_atomic into amount from private.payments p where p.id = payment;
  select c ->> 'tx_hash' as tx_hash, (c ->> 'log_index')::integer as log_index into picked
    from jsonb_array_elements(logs) with ordinality as l (c, nth)
    join private.payments p on p.id = payment
   where not private.is_permit(p) or not exists (select from private.payments o
     where o.chain = p.chain and o.state = 'settled' and o.id <> p.id
       and o.tx_hash = c ->> 'tx_hash' and o.log_index = (c ->> 'log_index')::integer)
   order by l.nth limit 1;
  return private.settle(payment, coalesce(picked.tx_hash, hash), block, in_block, picked.log_index,
    label, case when picked.log_index is not null or settled_atomic::numeric = amount
      then settled_atomic end);
end $$;

-- Takes back a settlement whose block is gone: the amount is reserved again, the same authorization can still
-- settle, and the feed reports it. A final settlement is never taken back, whoever asks.
create function private.unsettle(payment uuid, gone text) returns private.payments
  language plpgsql as $$
declare
  reopened private.payments;
begin
  update private.payments p set finality = 'reorged', block_number = null, block_hash = null,
    log_index = null, settled_atomic = null,
    state = case p.kind when 'transfer' then 'signed' else 'unknown' end
   where p.id = payment and p.state = 'settled' and p.block_hash = gone
     and p.finality is distinct from 'finalized'
  returning * into reopened;
  if found then
    perform private.record_payment(reopened, reopened.kind || '_reorged');
  end if;
  return reopened;
end $$;

-- Says how much of what was paid for a merchant's stored answer holds: 2 all, 1 its beginning, 0 nothing. An
-- answer below 400 is what was paid for.
create function private.delivered_part(delivery jsonb) returns integer language sql immutable as $$
  select case when (delivery ->> 'status')::integer between 200 and 399
    then case when delivery ->> 'kind' = 'answered' then 2
      when delivery ->> 'kind' in ('timeout', 'unreachable') then 1 else 0 end else 0 end
$$;

-- True if a purchase was settled but not delivered. The signature, which the token no longer accepts, is then
-- handed out to fetch what was paid for, until a day after its end.
create function private.is_owed(p private.payments) returns boolean
  language sql stable as $$
  select p.kind = 'x402' and p.state = 'settled' and private.delivered_part(p.delivery) < 2
    and p.valid_before + 86400 > extract(epoch from private.clock())
$$;

-- Stores what the merchant answered to an x402 request. The payment is unknown from then on and keeps its
-- reservation until the chain shows more. A delivered answer stays, whatever a second request with the same
-- signature is answered, and the beginning of one until more is delivered.
create function api.housekeeping_finish_attempt(payment uuid, delivery jsonb)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  finished private.payments;
begin
  update private.payments p set delivery = case
      when private.delivered_part(p.delivery) = 2 or private.delivered_part(p.delivery)
        > private.delivered_part(housekeeping_finish_attempt.delivery)
      then p.delivery else housekeeping_finish_attempt.delivery end,
    leased_until = private.clock(),
    state = case p.state when 'signed' then 'unknown' else p.state end
   where p.id = payment and p.kind = 'x402'
     and p.state in ('signed', 'unknown', 'settled')
  returning * into finished;
  return query select private.payment_json(finished) where finished.id is not null;
end $$;

-- What a merchant delivered beyond the first piece that stands with the payment (delivery -> 'pieces').
create table private.delivered_pieces (
  payment uuid not null references private.payments on delete cascade,
  -- Which of several answers to the same payment it belongs to.
  answer uuid not null,
  place integer not null check (place between 1 and 32),
  body_base64 text not null check (length(body_base64) <= 524288),
  created_at timestamptz not null default private.clock(),
  primary key (payment, answer, place)
);
alter table private.delivered_pieces enable row level security;
create index delivered_pieces_age on private.delivered_pieces (created_at);

-- Stores a piece of an answer, before the answer itself, to a purchase that still lacks one.
create function api.housekeeping_keep_piece(
  payment uuid, answer uuid, place integer, body_base64 text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  insert into private.delivered_pieces (payment, answer, place, body_base64)
  select p.id, housekeeping_keep_piece.answer, housekeeping_keep_piece.place,
      housekeeping_keep_piece.body_base64
    from private.payments p where p.id = housekeeping_keep_piece.payment and p.kind = 'x402'
     and p.state in ('signed', 'unknown', 'settled') and private.delivered_part(p.delivery) < 2;
  return found;
end $$;

-- Returns a piece of what was delivered for a payment, to the key or app that may learn its outcome.
create function api.delivered_piece(credential text, payment uuid, place integer)
  returns table (body_base64 text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay');
begin
  return query select d.body_base64 from private.delivered_pieces d
    join private.payments p on p.id = d.payment
   where p.id = delivered_piece.payment and p.account = caller.account
     and private.may_pay(p, caller.id) and d.place = delivered_piece.place
     and d.answer = (p.delivery #>> '{pieces,answer}')::uuid;
end $$;

-- Records what the chain shows of a payment. Without a block, it is final that the payment settled, but not
-- known where.
create function api.housekeeping_settle(
  payment uuid, logs jsonb, finality text, tx_hash text default null,
  block_number bigint default null, block_hash text default null,
  settled_atomic text default null)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  settled private.payments;
begin
  settled := private.settle_by(payment, tx_hash, block_number, block_hash, logs, finality,
    settled_atomic);
  return query select private.payment_json(settled) where settled.id is not null;
end $$;

-- Records that the block of a settlement is no longer part of the chain. The relayer of the payment has to
-- send it again.
create function api.housekeeping_reorg(payment uuid, block_hash text)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  reopened private.payments := private.unsettle(payment, block_hash);
begin
  update private.relay_slots s set state = 'open', block_number = null, block_hash = null
    from private.relay_calls c
   where c.payment = reopened.id and c.slot = s.id and s.state = 'mined'
     and s.block_hash = housekeeping_reorg.block_hash;
  return query select private.payment_json(reopened) where reopened.id is not null;
end $$;

-- Frees the reservation of a payment that can no longer settle: as of a finalized block, its authorization
-- was cancelled or expired unused. Whatever the caller says, nothing is freed before the signature's end by
-- our own clock, and if a single operator could claim it (`alone`), not within 15 minutes after that. Until
-- then it changes nothing and returns no row.
create function api.housekeeping_release(payment uuid, reason text, alone boolean)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  ended private.payments;
begin
  update private.payments p set state = 'released', failure = reason, finality = null,
    checked_at = private.clock()
   where p.id = payment and p.state in ('signed', 'unknown')
     and private.clock() >= private.end_of(p)
       + case when alone then interval '15 minutes' else interval '0' end
  returning * into ended;
  perform private.leave_queue(ended.id);
  return query select private.payment_json(ended) where ended.id is not null;
end $$;

-- Closes what was prepared and never used, and frees what was reserved and never signed. Custody stores a
-- signature before anything leaves, and only for a payment that is authorized.
create function private.close_unused(batch integer) returns void language plpgsql as $$
begin
  update private.payments p set state = 'expired'
   where p.id in (select e.id from private.payments e
     where e.state in ('prepared', 'awaiting_confirmation') and e.expires_at <= private.clock()
     limit batch for update skip locked);
  update private.payments p set state = 'released', failure = 'nothing was signed in time'
   where p.id in (select e.id from private.payments e
     where e.state = 'authorized' and e.counts_until <= private.clock()
     limit batch for update skip locked);
end $$;

-- True if the watch of slots decides next about a payment. An open slot may never be mined and the receipt of
-- a mined one never read again, so this ends with the authorization.
create function private.is_in_slot(p private.payments) returns boolean
  language sql stable as $$
  select exists (select from private.relay_calls c join private.relay_slots s on s.id = c.slot
    where c.payment = p.id
      and p.valid_before > extract(epoch from private.clock())
      and (s.state = 'open' or s.state = 'mined' and p.block_hash = s.block_hash))
$$;

-- Returns the payments that are not over on chain.
create function private.unfinished() returns setof private.payments language sql stable as $$
  select p.* from private.payments p
   where p.state in ('signed', 'unknown') or p.state = 'settled' and p.finality <> 'finalized'
$$;

-- Returns the payments of one account that the chain decides about next, longest unseen first. A payment
-- whose sending is leased is left out, because the holder of the lease looks at it.
create function private.due(of_account uuid, most integer) returns setof private.payments
  language sql stable as $$
  select p.* from private.unfinished() p
   where p.account = of_account and not private.is_in_slot(p)
     and (p.state = 'settled' or p.leased_until <= private.clock())
   order by p.checked_at nulls first limit most
$$;

-- True if something was looked at within the duration of a housekeeping run.
create function private.is_just_seen(checked_at timestamptz) returns boolean
  language sql stable as $$
  select coalesce(checked_at > private.clock() - interval '45 seconds', false)
$$;

-- Returns a batch of payments that the chain decides about next: of each account those longest unseen, with
-- the accounts taking turns, so that many unreadable payments of one account delay no other. A new payment
-- has waited since it was authorized, so an account that always has something new delays no other either.
-- Payments seen a moment ago come last, so that the batches of one run make progress. Rows come in that
-- order.
create function api.housekeeping_open(batch integer) returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.close_unused(batch);
  return query
  with recursive payers as (
    (select p.account from private.unfinished() p order by p.account limit 1)
    union all
    select (select p.account from private.unfinished() p where p.account > o.account
      order by p.account limit 1) from payers o where o.account is not null
  ), waiting as (
    select o.account from payers o cross join lateral private.due(o.account, 1) f
     order by private.is_just_seen(f.checked_at), coalesce(f.checked_at, f.authorized_at) limit batch
  ), turns as (
    select d.id, row_number() over (order by private.is_just_seen(d.checked_at), d.turn,
        coalesce(d.checked_at, d.authorized_at)) as place
      from waiting w cross join lateral (
        select f.*, row_number() over (order by f.checked_at nulls first) as turn
          from private.due(w.account, batch) f) d
  ), held as (
    select p.id from private.payments p
     where p.id in (select t.id from turns t where t.place <= batch)
    for update skip locked
  ), seen as (
    update private.payments p set checked_at = private.clock()
     where p.id in (select h.id from held h) returning p.*
  )
  select private.payment_json(s) from seen s join turns t on t.id = s.id order by t.place;
end $$;
grant execute on function api.housekeeping_keep_piece, api.delivered_piece,
  api.housekeeping_finish_attempt, api.housekeeping_settle,
  api.housekeeping_reorg, api.housekeeping_release, api.housekeeping_open to service_role;
