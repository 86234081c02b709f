-- Settlement: what the chain was seen to say about a payment. Only a fact with an anchor on chain
-- ends a payment: a log in a block, or an authorization that can no longer be used.

-- Books a payment as settled. A recipient and a device become known with their first settled
-- payment that somebody confirmed.
create function private.settle(
  payment uuid, hash text, block bigint, in_block text, log integer, label text)
  returns private.payments language plpgsql as $$
declare
  settled private.payments;
begin
  update private.payments p set state = 'settled', tx_hash = hash, block_number = block,
    block_hash = in_block, log_index = log, finality = label,
    settled_at = coalesce(p.settled_at, private.clock()), checked_at = private.clock()
   where p.id = payment and p.state in ('signed', 'unknown', 'settled')
  returning * into settled;
  if settled.consent_level <> 'none' then
    insert into private.known_recipients (account, chain_family, address)
    values (settled.account, 'evm', settled.payee) on conflict do nothing;
    insert into private.known_devices (account, key, fingerprint)
    values (settled.account, settled.key, settled.device) on conflict do nothing;
  end if;
  return settled;
end $$;

-- The functions named housekeeping_* take no credential. They grant nothing: whoever looked at the
-- chain, or heard the merchant, books it, also when the key that paid was revoked meanwhile.

-- The outcome of an x402 delivery in one step: what the merchant answered, and the settlement when
-- the chain shows one; without it the payment is unknown and keeps its reservation.
create function api.housekeeping_finish_attempt(
  payment uuid, delivery jsonb, tx_hash text default null,
  block_number bigint default null, block_hash text default null, log_index integer default null,
  finality text default null)
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
    finished := private.settle(finished.id, tx_hash, block_number, block_hash, log_index, finality);
  end if;
  return query select private.payment_json(finished) where finished.id is not null;
end $$;

-- Records what the chain shows of a payment.
create function api.housekeeping_settle(
  payment uuid, tx_hash text, block_number bigint, block_hash text, log_index integer,
  finality text)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  settled private.payments;
begin
  settled := private.settle(payment, tx_hash, block_number, block_hash, log_index, finality);
  return query select private.payment_json(settled) where settled.id is not null;
end $$;

-- Frees the reservation of a payment that can no longer settle. `state` is failed for a transaction
-- that reverted and released for an authorization that expired unused at a finalized block.
create function api.housekeeping_release(payment uuid, state text, reason text)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  ended private.payments;
begin
  update private.payments p set state = housekeeping_release.state, failure = reason,
    checked_at = private.clock()
   where p.id = payment and p.state in ('authorized', 'signed', 'unknown')
     and housekeeping_release.state in ('failed', 'released')
  returning * into ended;
  return query select private.payment_json(ended) where ended.id is not null;
end $$;

-- A batch of payments that the chain has the next word on, those longest unseen first, with the
-- transactions that carry them. Also closes what was prepared and never used.
create function api.housekeeping_open(batch integer)
  returns table (payment_row jsonb, transaction jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.payments p set state = 'expired'
   where p.id in (select e.id from private.payments e
     where e.state in ('prepared', 'awaiting_confirmation') and e.expires_at <= private.clock()
     limit batch for update skip locked);
  return query
  with due as (
    select p.id from private.payments p
     where p.state in ('authorized', 'signed', 'unknown')
       and p.leased_until <= private.clock()
     order by p.checked_at nulls first limit batch for update skip locked
  ), unfinal as (
    select p.id from private.payments p
     where p.state = 'settled' and p.finality <> 'finalized'
     order by p.checked_at nulls first limit batch for update skip locked
  ), seen as (
    update private.payments p set checked_at = private.clock()
     where p.id in (select d.id from due d union all select u.id from unfinal u) returning p.*
  )
  select private.payment_json(s), (
    select jsonb_build_object('tx_hash', t.tx_hash, 'raw', t.raw)
      from private.relay_slots r join private.relay_transactions t on t.slot = r.id
     where r.payment = s.id order by t.attempt desc limit 1)
  from seen s;
end $$;
grant execute on function api.housekeeping_finish_attempt, api.housekeeping_settle,
  api.housekeeping_release, api.housekeeping_open to service_role;
