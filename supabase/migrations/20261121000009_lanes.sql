-- The watch over slots and lanes: what became of a relayed transaction, what has to be sent again or
-- replaced, and whether a lane's counter agrees with the chain's.

-- A batch of slots that are not final, those longest unseen first, with every transaction that was
-- signed for them and the payments that they carry.
create function api.housekeeping_slots(batch integer) returns table (
  slot bigint, chain bigint, lane text, kind text, nonce bigint, state text, block_number bigint,
  block_hash text, attempts jsonb, calls jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  with seen as (
    update private.relay_slots s set checked_at = private.clock()
     where s.id in (select d.id from private.relay_slots d where d.state in ('open', 'mined')
       order by d.checked_at nulls first limit batch for update skip locked) returning s.*
  )
  select s.id, s.chain, s.lane, l.kind, s.nonce, s.state, s.block_number, s.block_hash,
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('tx_hash', t.tx_hash,
        'raw', t.raw, 'max_fee_per_gas', t.max_fee_per_gas::text,
        'max_priority_fee_per_gas', t.max_priority_fee_per_gas::text, 'age_seconds',
        extract(epoch from private.clock() - t.created_at)::integer) order by t.attempt), '[]')
       from private.relay_transactions t where t.slot = s.id),
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('kind', c.kind,
        'payment', private.payment_json(p) - array['terms', 'delivery']) order by c.id), '[]')
       from private.relay_calls c join private.payments p on p.id = c.payment where c.slot = s.id)
  from seen s join private.relay_lanes l on l.chain = s.chain and l.address = s.lane
  order by s.lane, s.nonce;
end $$;

-- Books the block that a slot's transaction stands in, and of its payments those that its logs show
-- to be settled there, as [{payment, log_index}]. The others keep their reservation, and the hash of
-- this one of all its transactions: by it a wallet's own that reverted is seen to be over.
create function api.housekeeping_book_slot(
  slot bigint, tx_hash text, block_number bigint, block_hash text, finality text, settled jsonb)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  update private.relay_slots s set block_number = housekeeping_book_slot.block_number,
    block_hash = housekeeping_book_slot.block_hash,
    state = case finality when 'finalized' then 'final' else 'mined' end
   where s.id = slot and s.state in ('open', 'mined');
  if not found then
    return false;
  end if;
  -- A wallet's own transfer is paid in this place or nowhere: if it was booked in another block and is
  -- not in this one, that block is gone.
  perform private.unsettle(p.id, p.block_hash) from private.relay_calls c
    join private.payments p on p.id = c.payment
   where c.slot = housekeeping_book_slot.slot and p.authorization_nonce is null
     and p.block_hash <> housekeeping_book_slot.block_hash
     and not settled @> pg_catalog.jsonb_build_array(
       pg_catalog.jsonb_build_object('payment', p.id));
  update private.payments p set tx_hash = housekeeping_book_slot.tx_hash
    from private.relay_calls c
   where c.slot = housekeeping_book_slot.slot and c.kind = 'transfer'
     and p.id = c.payment and p.state = 'signed';
  perform private.settle((e ->> 'payment')::uuid, tx_hash, block_number, block_hash,
    (e ->> 'log_index')::integer, finality)
  from pg_catalog.jsonb_array_elements(settled) e;
  return true;
end $$;

-- Opens a slot again whose block is gone, and takes back the settlements that it had brought.
create function api.housekeeping_reopen_slot(slot bigint, block_hash text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  update private.relay_slots s set state = 'open', block_number = null, block_hash = null
   where s.id = slot and s.state = 'mined' and s.block_hash = housekeeping_reopen_slot.block_hash;
  if not found then
    return false;
  end if;
  perform private.unsettle(c.payment, housekeeping_reopen_slot.block_hash)
  from private.relay_calls c
   where c.slot = housekeeping_reopen_slot.slot and c.kind = 'transfer';
  return true;
end $$;

-- Gives the calls of a relayer's open slot back to the queue, because its transaction cannot be mined
-- now (`lost` is false) or never (true). Only the token lets an authorization through, and once, so
-- another lane may carry the same call. A wallet's own transfer never moves to another nonce: it ends
-- with its place, in this step, because nobody watches the place any more. What was booked for it is
-- taken back before, since a block that had it is gone.
create function api.housekeeping_requeue_slot(slot bigint, lost boolean) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  given private.relay_slots;
begin
  update private.relay_slots s set state = case when lost then 'lost' else s.state end
   where s.id = slot and s.state = 'open' returning * into given;
  if not found then
    return false;
  end if;
  perform private.lock_queue(given.chain, false);
  update private.relay_calls c set slot = null from private.relay_lanes l
   where c.slot = housekeeping_requeue_slot.slot and l.chain = given.chain
     and l.address = given.lane and l.kind = 'relayer';
  if lost then
    perform private.unsettle(p.id, p.block_hash) from private.relay_calls c
      join private.payments p on p.id = c.payment where c.slot = housekeeping_requeue_slot.slot;
    perform api.housekeeping_release(c.payment, 'failed',
      'another transaction of the wallet took its nonce')
    from private.relay_calls c where c.slot = housekeeping_requeue_slot.slot;
  end if;
  return true;
end $$;

-- The lanes that are watched: every relayer, and each wallet with a transaction in flight.
create function api.housekeeping_lanes() returns table (
  chain bigint, address text, kind text, next_nonce bigint, mined_nonce bigint, paused_for text)
  language plpgsql security definer set search_path = '' as $$
begin
  return query select l.chain, l.address, l.kind, l.next_nonce, l.mined_nonce, l.paused_for
    from private.relay_lanes l
   where l.kind = 'relayer' or l.next_nonce > l.mined_nonce
   order by l.chain, l.address;
end $$;

-- Takes a lane out of service or, with a null reason, back into it. True when that changed it.
create function api.housekeeping_pause_lane(chain bigint, address text, reason text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  update private.relay_lanes l set paused_for = reason
   where l.chain = housekeeping_pause_lane.chain and l.address = housekeeping_pause_lane.address
     and l.paused_for is distinct from reason;
  return found;
end $$;

-- Brings a lane's counter in line with the chain's count. Ahead of it by slots, all is well. Behind
-- it, somebody else used the lane's key, and the counter follows. Ahead without any slot above, the
-- counter goes back. A nonce in between that no slot holds gets one without calls, to be filled.
create function api.housekeeping_repair_lane(chain bigint, address text, counted bigint)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  lane private.relay_lanes;
  changed bigint;
begin
  select l.* into lane from private.relay_lanes l
   where l.chain = housekeeping_repair_lane.chain and l.address = housekeeping_repair_lane.address
     and (l.leased_until is null or l.leased_until <= private.clock()) for update skip locked;
  if not found then
    return false;
  end if;
  -- Whoever held it until a moment ago signs for a counter that may no longer be right.
  update private.relay_lanes l set lease = null, leased_until = null, mined_nonce = counted,
    next_nonce = case
      when l.next_nonce < counted or not exists (select from private.relay_slots s
        where s.chain = lane.chain and s.lane = lane.address and s.nonce >= counted) then counted
      else l.next_nonce end
   where l.chain = lane.chain and l.address = lane.address returning l.next_nonce into lane.next_nonce;
  insert into private.relay_slots as s (chain, lane, nonce)
  select lane.chain, lane.address, n
    from pg_catalog.generate_series(counted, least(lane.next_nonce, counted + 16) - 1) n
  on conflict on constraint relay_slots_chain_lane_nonce_key do update set state = 'open'
   where s.state = 'lost';
  get diagnostics changed = row_count;
  return changed > 0;
end $$;
grant execute on function api.housekeeping_slots, api.housekeeping_book_slot,
  api.housekeeping_reopen_slot, api.housekeeping_requeue_slot, api.housekeeping_lanes,
  api.housekeeping_pause_lane, api.housekeeping_repair_lane to service_role;
