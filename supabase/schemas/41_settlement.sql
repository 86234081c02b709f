-- Settlement: what an endpoint shows of a payment before its block is final. It is a note for whoever looks, and
-- counts nowhere: the books are written from final blocks (44_books).
--
-- The functions named housekeeping_* take no credential. They grant nothing: the caller that looked at the
-- chain, or received the merchant's answer, notes it, even if the key that paid was revoked meanwhile.

-- Pieces of a merchant's delivery after the first, which stands with the payment (delivery -> 'pieces').
create table private.delivered_pieces (
  payment uuid not null references private.payments on delete cascade,
  -- Which of several answers to the same payment it belongs to.
  answer uuid not null,
  place integer not null check (place between 1 and 32),
  body_base64 text not null check (length(body_base64) <= 524288),
  created_at timestamptz not null default private.clock(),
  -- The budget of the key or app that bought it.
  budget uuid not null,
  primary key (payment, answer, place)
);
alter table private.delivered_pieces enable row level security;
create index delivered_pieces_age on private.delivered_pieces (created_at);
create index delivered_pieces_bought on private.delivered_pieces (budget);

-- Removes a finished payment's calls from the queue.
create function private.leave_queue(of_payment uuid) returns void language sql as $$
  delete from private.relay_calls c where c.payment = of_payment and c.slot is null
$$;

-- Notes that an endpoint shows a payment in a block. What is final stays as it was booked.
create function private.note_settled(
  payment uuid, hash text, block bigint, in_block text, log integer, label text, taken text default null)
  returns private.payments language sql as $$
  update private.payments p set tx_hash = hash, block_number = block,
    block_hash = in_block, log_index = log, finality = label, settled_atomic = taken::numeric,
    settled_at = coalesce(p.settled_at, private.clock()), checked_at = private.clock()
   where p.id = note_settled.payment and p.state = 'signed'
     -- The transaction of a permit is what its merchant names, which may be one that paid something else.
     and not (private.is_permit(p) and exists (select from private.payments o where o.account = p.account and o.id <> p.id
       and o.chain = p.chain and o.tx_hash = hash and o.log_index = log))
  returning p.*
$$;

-- Returns the end of the signature. A Permit2 permit is still valid at its deadline, so it ends one second
-- later.
create function private.end_of(p private.payments) returns timestamptz
  language sql stable as $$
  select to_timestamp(p.valid_before + case when private.is_permit(p) then 1 else 0 end)
$$;

-- Takes such a note back, because its block is gone; the feed reports it.
create function private.unsettle(payment uuid, gone text) returns private.payments
  language plpgsql as $$
declare
  reopened private.payments;
begin
  update private.payments p set finality = 'reorged', block_number = null, block_hash = null,
    log_index = null, settled_atomic = null, settled_at = null
   where p.id = payment and p.state = 'signed' and p.block_hash = gone
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

-- Returns the budget of the key or app that a payment is for.
create function private.budget_of_payment(payment uuid) returns uuid language plpgsql stable as $$
begin
  return (select private.holder_of(p.key) from private.payments p where p.id = payment);
end $$;

-- Stores what the merchant answered to an x402 request. The payment keeps its reservation until the
-- chain shows more. A delivered answer stays, whatever a second request with the same
-- signature is answered, and the beginning of one until more is delivered.
create function api.housekeeping_finish_attempt(payment uuid, delivery jsonb)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  finished private.payments;
begin
  perform private.charge_to(private.budget_of_payment(payment));
  update private.payments p set delivery = case
      when private.delivered_part(p.delivery) = 2 or private.delivered_part(p.delivery)
        > private.delivered_part(housekeeping_finish_attempt.delivery)
      then p.delivery else housekeeping_finish_attempt.delivery end,
    leased_until = private.clock()
   where p.id = payment and p.kind = 'x402'
     and p.state in ('signed', 'settled')
  returning * into finished;
  return query select private.payment_json(finished) where finished.id is not null;
end $$;

-- Deletes the oldest answers of a budget that has more than 64 MB of them; the newest one stays.
create function private.forget_answers(of_budget uuid) returns void language sql as $$
  delete from private.delivered_pieces d using (
    select a.payment, a.answer, sum(a.bytes) over (order by a.newest desc, a.answer) as bytes
      from (select p.payment, p.answer, max(p.created_at) as newest, sum(octet_length(p.body_base64)) as bytes
        from private.delivered_pieces p where p.budget = of_budget group by 1, 2) a) old
   where old.bytes > 64 * 1024 * 1024 and (d.payment, d.answer) = (old.payment, old.answer)
$$;

-- Stores a piece of an answer, before the answer itself, to a purchase that still lacks one.
create function api.housekeeping_keep_piece(
  payment uuid, answer uuid, place integer, body_base64 text)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  buyer uuid;
begin
  insert into private.delivered_pieces (payment, answer, place, body_base64, budget)
  select p.id, housekeeping_keep_piece.answer, housekeeping_keep_piece.place,
      housekeeping_keep_piece.body_base64, private.holder_of(p.key)
    from private.payments p where p.id = housekeeping_keep_piece.payment and p.kind = 'x402'
     and p.state in ('signed', 'settled') and private.delivered_part(p.delivery) < 2
  returning budget into buyer;
  perform private.forget_answers(buyer);
  return buyer is not null;
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

-- Notes what an endpoint shows of a payment.
create function api.housekeeping_note(
  payment uuid, tx_hash text, block_number bigint, block_hash text, log_index integer, finality text,
  settled_atomic text)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  return query select private.payment_json(n) from private.note_settled(payment, tx_hash, block_number, block_hash,
    log_index, case finality when 'safe' then 'safe' else 'included' end, settled_atomic) n where n.id is not null;
end $$;

-- Notes that the block of a settlement is no longer part of the chain. The relayer of the payment has to send it
-- again.
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

-- Closes what was prepared and never used, and frees what was reserved and never signed. Custody stores a
-- signature before anything leaves, and only for a payment that is authorized.
create function api.housekeeping_close_unused(batch integer) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  update private.payments p set state = 'expired'
   where p.id in (select e.id from private.payments e
     where e.state in ('prepared', 'awaiting_confirmation') and e.expires_at <= private.clock()
     limit batch for update skip locked);
  update private.payments p set state = 'released', failure = 'nothing was signed in time'
   where p.id in (select e.id from private.payments e
     where e.state = 'authorized' and e.counts_until <= private.clock()
     limit batch for update skip locked);
  return true;
end $$;

-- True if something was looked at within the duration of a housekeeping run.
create function private.is_just_seen(checked_at timestamptz) returns boolean
  language sql stable as $$
  select coalesce(checked_at > private.clock() - interval '45 seconds', false)
$$;

grant execute on function api.housekeeping_finish_attempt, api.housekeeping_keep_piece, api.delivered_piece,
  api.housekeeping_note, api.housekeeping_reorg, api.housekeeping_close_unused to service_role;
