-- Settlement: what the chain was seen to say about a payment. Only a fact with an anchor on chain
-- ends a payment: a log in a block, or an authorization that can no longer be used.
--
-- The functions named housekeeping_* take no credential. They grant nothing: whoever looked at the
-- chain, or heard the merchant, books it, also when the key that paid was revoked meanwhile.

-- Nothing of a payment that is over stays in the queue.
create function private.leave_queue(of_payment uuid) returns void language sql as $$
  delete from private.relay_calls c where c.payment = of_payment and c.slot is null
$$;

-- Books a payment as settled. A recipient and a device become known with their first settled
-- payment that somebody confirmed: one under a mandate was confirmed by nobody. An address that looks
-- like a known one never becomes known, so the owner is asked each time, and the one that it looks like
-- stays what it is.
create function private.settle(
  payment uuid, hash text, block bigint, in_block text, log integer, label text,
  settled_atomic text default null)
  returns private.payments language plpgsql as $$
declare
  settled private.payments;
begin
  update private.payments p set state = 'settled', tx_hash = hash, block_number = block,
    block_hash = in_block, log_index = log, finality = label,
    settled_atomic = settle.settled_atomic::numeric,
    settled_at = coalesce(p.settled_at, private.clock()), checked_at = private.clock()
   where p.id = payment and p.state in ('signed', 'unknown', 'settled')
  returning * into settled;
  if settled.consent_level not in ('none', 'mandate') then
    insert into private.known_recipients (account, chain_family, address)
    select settled.account, 'evm', settled.payee
     where private.similar_recipient(settled.account, settled.payee) is null
    on conflict do nothing;
    insert into private.known_devices (account, key, fingerprint)
    values (settled.account, settled.key, settled.device) on conflict do nothing;
  end if;
  perform private.leave_queue(settled.id);
  return settled;
end $$;

-- Takes a settlement back whose block is gone: the amount is reserved again, the same authorization
-- can still settle, and the feed tells it.
create function private.unsettle(payment uuid, gone text) returns private.payments
  language plpgsql as $$
declare
  reopened private.payments;
begin
  update private.payments p set finality = 'reorged', block_number = null, block_hash = null,
    log_index = null, settled_atomic = null,
    state = case p.kind when 'transfer' then 'signed' else 'unknown' end
   where p.id = payment and p.state = 'settled' and p.block_hash = gone
  returning * into reopened;
  if found then
    perform private.record_payment(reopened, reopened.kind || '_reorged');
  end if;
  return reopened;
end $$;

-- The outcome of an x402 delivery in one step: what the merchant answered, and the settlement when
-- the chain shows one; without it the payment is unknown and keeps its reservation.
create function api.housekeeping_finish_attempt(
  payment uuid, delivery jsonb, tx_hash text default null,
  block_number bigint default null, block_hash text default null, log_index integer default null,
  finality text default null, settled_atomic text default null)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  finished private.payments;
begin
  update private.payments p set delivery = housekeeping_finish_attempt.delivery,
    leased_until = private.clock(),
    state = case p.state when 'signed' then 'unknown' else p.state end
   where p.id = payment and p.kind = 'x402'
     and p.state in ('signed', 'unknown', 'settled')
  returning * into finished;
  if finished.id is not null and tx_hash is not null then
    finished := private.settle(finished.id, tx_hash, block_number, block_hash, log_index, finality,
      settled_atomic);
  end if;
  return query select private.payment_json(finished) where finished.id is not null;
end $$;

-- Records what the chain shows of a payment.
create function api.housekeeping_settle(
  payment uuid, tx_hash text, block_number bigint, block_hash text, log_index integer,
  finality text, settled_atomic text default null)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  settled private.payments;
begin
  settled := private.settle(payment, tx_hash, block_number, block_hash, log_index, finality,
    settled_atomic);
  return query select private.payment_json(settled) where settled.id is not null;
end $$;

-- Records that the block of a settlement is no longer part of the chain; whoever relayed the payment
-- has to send it again.
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

-- Frees the reservation of a payment that can no longer settle. `state` is failed for a wallet's own
-- transaction that reverted or lost its nonce, and released for an authorization that was cancelled
-- or expired unused; both as of a finalized block.
create function api.housekeeping_release(payment uuid, state text, reason text)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  ended private.payments;
begin
  update private.payments p set state = housekeeping_release.state, failure = reason,
    checked_at = private.clock()
   where p.id = payment and p.state in ('signed', 'unknown')
     and housekeeping_release.state in ('failed', 'released')
  returning * into ended;
  perform private.leave_queue(ended.id);
  return query select private.payment_json(ended) where ended.id is not null;
end $$;

-- Closes what was prepared and never used, and frees what was reserved and never signed: custody
-- keeps a signature before anything leaves, and keeps none for a payment that is not authorized.
create function private.close_unused(batch integer) returns void language plpgsql as $$
begin
  update private.payments p set state = 'expired'
   where p.id in (select e.id from private.payments e
     where e.state in ('prepared', 'awaiting_confirmation') and e.expires_at <= private.clock()
     limit batch for update skip locked);
  update private.payments p set state = 'released', failure = 'nothing was signed in time'
   where p.id in (select e.id from private.payments e
     where e.state = 'authorized' and e.leased_until <= private.clock() - interval '1 minute'
     limit batch for update skip locked);
end $$;

-- Whether the slots' own watch has the next word on a payment. An open slot may never be mined, so it
-- has not once the authorization is over.
create function private.is_in_slot(p private.payments) returns boolean
  language sql stable as $$
  select exists (select from private.relay_calls c join private.relay_slots s on s.id = c.slot
    where c.payment = p.id and c.kind = 'transfer'
      and (s.state = 'open' and p.valid_before > extract(epoch from private.clock())
        or s.state = 'mined' and p.block_hash = s.block_hash))
$$;

-- A batch of payments that the chain has the next word on, those longest unseen first.
create function api.housekeeping_open(batch integer) returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.close_unused(batch);
  return query
  with due as (
    select p.id from private.payments p
     where p.state in ('signed', 'unknown')
       and p.leased_until <= private.clock() and not private.is_in_slot(p)
     order by p.checked_at nulls first limit batch for update skip locked
  ), unfinal as (
    select p.id from private.payments p
     where p.state = 'settled' and p.finality <> 'finalized' and not private.is_in_slot(p)
     order by p.checked_at nulls first limit batch for update skip locked
  ), seen as (
    update private.payments p set checked_at = private.clock()
     where p.id in (select d.id from due d union all select u.id from unfinal u) returning p.*
  )
  select private.payment_json(s) from seen s;
end $$;
grant execute on function api.housekeeping_finish_attempt, api.housekeeping_settle,
  api.housekeeping_reorg, api.housekeeping_release, api.housekeeping_open to service_role;
