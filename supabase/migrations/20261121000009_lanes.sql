-- The watch over slots and lanes: what became of a relayed transaction, what has to be sent again or
-- replaced, and whether a lane's counter agrees with the chain's.

-- A batch of slots that are not final, with every transaction that was signed for them and the payments
-- that they carry: those of relayers first that are open or that the chain does not count yet, then those
-- longest unseen. Wallets take turns, so that however many one of them has open, all others are looked at
-- as often.
create function api.housekeeping_slots(batch integer) returns table (
  slot bigint, chain bigint, lane text, kind text, nonce bigint, state text, block_number bigint,
  block_hash text, attempts jsonb, calls jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  with due as (
    select d.id, d.checked_at,
      l.kind = 'relayer' and (d.state = 'open' or d.nonce >= l.mined_nonce) as is_first,
      case when l.kind = 'wallet' then row_number() over (partition by d.chain, d.lane
        order by d.checked_at nulls first, d.nonce) else 1 end as turn
    from private.relay_slots d
      join private.relay_lanes l on l.chain = d.chain and l.address = d.lane
     where d.state in ('open', 'mined')
  ), held as (
    select h.id from private.relay_slots h where h.id in (select d.id from due d
      order by d.turn, d.is_first desc, d.checked_at nulls first limit batch)
    -- Another run may have closed it since.
      and h.state in ('open', 'mined')
    for update skip locked
  ), seen as (
    update private.relay_slots s set checked_at = private.clock()
     where s.id in (select h.id from held h) returning s.*
  )
  select s.id, s.chain, s.lane, l.kind, s.nonce, s.state, s.block_number, s.block_hash,
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('tx_hash', t.tx_hash,
        'raw', t.raw, 'max_fee_per_gas', t.max_fee_per_gas::text,
        'max_priority_fee_per_gas', t.max_priority_fee_per_gas::text,
        'held', private.is_held(t), 'age_seconds',
        extract(epoch from private.clock() - t.created_at)::integer) order by t.attempt), '[]')
       from private.relay_transactions t where t.slot = s.id),
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('kind', c.kind,
        'payment', private.payment_json(p) - array['terms', 'delivery']) order by c.id), '[]')
       from private.relay_calls c join private.payments p on p.id = c.payment where c.slot = s.id)
  from seen s join private.relay_lanes l on l.chain = s.chain and l.address = s.lane
  order by s.lane, s.nonce;
end $$;

-- Whether the transfer of a mined slot that its logs do not show goes back to the queue: once, from a
-- relayer's slot, and while its signature is good for a minute more.
create function private.may_retry(c private.relay_calls, p private.payments) returns boolean
  language sql stable as $$
  select private.is_live(c, p) and c.tries < 2
    and p.valid_before > extract(epoch from private.clock()) + 60
    and exists (select from private.relay_slots s
      join private.relay_lanes l on l.chain = s.chain and l.address = s.lane
      where s.id = c.slot and l.kind = 'relayer')
$$;

-- Books the block that a slot's transaction stands in, and of its payments those that its logs show
-- to be settled there, as [{payment, log_index}]. The others keep their reservation and are told as
-- reverted until another transaction has paid them or their signature has ended. Of those in `unclear`,
-- [payment], nobody showed that their signature is unused: they are not told as reverted, nor sent again.
create function api.housekeeping_book_slot(
  slot bigint, tx_hash text, block_number bigint, block_hash text, finality text, settled jsonb,
  unclear jsonb default '[]')
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  before private.relay_slots;
begin
  perform private.lock_accounts_in(slot);
  select s.* into before from private.relay_slots s where s.id = slot for update;
  update private.relay_slots s set block_number = housekeeping_book_slot.block_number,
    block_hash = housekeeping_book_slot.block_hash,
    state = case finality when 'finalized' then 'final' else 'mined' end
   where s.id = slot and s.state in ('open', 'mined');
  if not found then
    return false;
  end if;
  -- Gas is spent once, however often the block is told to be another one.
  update private.gas_uses u set at = private.clock()
   where u.slot = housekeeping_book_slot.slot and (before.state = 'open'
     or finality = 'finalized' and before.block_hash <> housekeeping_book_slot.block_hash);
  update private.payments p set tx_hash = housekeeping_book_slot.tx_hash,
    finality = case when settled @> pg_catalog.jsonb_build_array(
      pg_catalog.jsonb_build_object('payment', p.id)) then p.finality
      when unclear @> pg_catalog.to_jsonb(p.id) then 'submitted' else 'reverted' end
    from private.relay_calls c
   where c.slot = housekeeping_book_slot.slot and c.kind = 'transfer'
     and p.id = c.payment and p.state = 'signed';
  perform private.settle((e ->> 'payment')::uuid, tx_hash, block_number, block_hash,
    (e ->> 'log_index')::integer, finality)
  from pg_catalog.jsonb_array_elements(settled) e;
  perform private.lock_queue(s.chain, false) from private.relay_slots s where s.id = slot;
  perform private.requeue_call(c) from private.relay_calls c
    join private.payments p on p.id = c.payment
   where c.slot = housekeeping_book_slot.slot and c.kind = 'transfer'
     and p.finality = 'reverted' and private.may_retry(c, p) order by c.id;
  return true;
end $$;

-- Opens a slot again whose block is gone or not agreed any more, and with `takes_back` also takes back the
-- settlements that it had brought.
create function api.housekeeping_reopen_slot(
  slot bigint, block_hash text, takes_back boolean default true) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  update private.relay_slots s set state = 'open', block_number = null, block_hash = null
   where s.id = slot and s.state = 'mined' and s.block_hash = housekeeping_reopen_slot.block_hash;
  if not found then
    return false;
  end if;
  perform private.unsettle(c.payment, housekeeping_reopen_slot.block_hash)
  from private.relay_calls c
   where takes_back and c.slot = housekeeping_reopen_slot.slot and c.kind = 'transfer';
  return true;
end $$;

-- Gives the calls of a relayer's open slot back to the queue, because its transaction cannot be mined
-- now (`lost` is false) or never (true). Only the token lets an authorization through, and once, so
-- another lane may carry the same call, if there is gas for it once more. What a wallet pays for itself waits for its end.
create function api.housekeeping_requeue_slot(slot bigint, lost boolean) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  given private.relay_slots;
begin
  perform private.lock_accounts_in(slot);
  update private.relay_slots s set state = case when lost then 'lost' else s.state end
   where s.id = slot and s.state = 'open' returning * into given;
  if not found then
    return false;
  end if;
  perform private.lock_queue(given.chain, false);
  perform private.requeue_call(c) from private.relay_calls c
    join private.relay_lanes l on l.chain = given.chain and l.address = given.lane
   where c.slot = housekeeping_requeue_slot.slot and l.kind = 'relayer' order by c.id;
  return true;
end $$;

-- The lanes that are watched: every relayer, and each wallet with a transaction in flight.
create function api.housekeeping_lanes() returns table (
  chain bigint, address text, kind text, next_nonce bigint, mined_nonce bigint, paused_for text,
  open_wei jsonb, left_wei text)
  language plpgsql security definer set search_path = '' as $$
begin
  return query select l.chain, l.address, l.kind, l.next_nonce, l.mined_nonce, l.paused_for,
      private.open_wei(l), private.left_wei(l)::text
    from private.relay_lanes l
   where l.kind = 'relayer' or l.next_nonce > l.mined_nonce
   order by l.chain, l.kind, l.address;
end $$;

-- Takes a lane out of service or, with a null reason, back into it; one with a gap stays out of it. True
-- when that changed it.
create function api.housekeeping_pause_lane(chain bigint, address text, reason text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  update private.relay_lanes l set paused_for = reason
   where l.chain = housekeeping_pause_lane.chain and l.address = housekeeping_pause_lane.address
     and l.paused_for is distinct from reason and l.paused_for is distinct from 'nonce_gap';
  return found;
end $$;

-- Keeps what a relayer holds. Enough endpoints tell at least `least_wei`, with so many mined (`counted`);
-- one of them may tell too little for as long as it likes, so that raises what is left and never lowers
-- it. What is more than any of them tells (`most_wei`, `highest`) was spent by somebody else. Answers what is left.
create function api.housekeeping_see_lane(
  chain bigint, address text, least_wei text, most_wei text, counted bigint, highest bigint)
  returns text language plpgsql security definer set search_path = '' as $$
declare
  lane private.relay_lanes;
  kept numeric;
begin
  select l.* into lane from private.relay_lanes l
   where l.chain = housekeeping_see_lane.chain and l.address = housekeeping_see_lane.address;
  kept := lane.told_wei - private.cost_from(lane, lane.told_nonce);
  if kept is null or kept < least_wei::numeric - private.cost_from(lane, counted) then
    lane.told_wei := least_wei::numeric;
    lane.told_nonce := counted;
  elsif kept > most_wei::numeric then
    lane.told_wei := most_wei::numeric;
    lane.told_nonce := highest;
  end if;
  update private.relay_lanes l set told_wei = lane.told_wei, told_nonce = lane.told_nonce
   where l.chain = lane.chain and l.address = lane.address
     and (l.told_wei, l.told_nonce) is distinct from (lane.told_wei, lane.told_nonce);
  return private.left_wei(lane)::text;
end $$;

-- Brings a lane's counter in line with the chain's count, as far as enough endpoints show it (`counted`)
-- and no further back than the `highest` that any shows. Ahead of it by slots, all is well. Behind it,
-- somebody else used the lane's key, and the counter follows. Ahead without any slot above, the counter
-- goes back. A nonce in between that no slot holds gets one without calls, to be filled: that costs gas,
-- so a lane that misses more than 16 is taken out of service instead, until it misses fewer.
create function api.housekeeping_repair_lane(
  chain bigint, address text, counted bigint, highest bigint)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  lane private.relay_lanes;
  missing bigint;
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
      when l.next_nonce < counted then counted
      when not exists (select from private.relay_slots s
        where s.chain = lane.chain and s.lane = lane.address and s.nonce >= counted)
      then least(l.next_nonce, highest)
      else l.next_nonce end
   where l.chain = lane.chain and l.address = lane.address returning l.next_nonce into lane.next_nonce;
  select lane.next_nonce - counted - count(*) into missing from private.relay_slots s
   where s.chain = lane.chain and s.lane = lane.address and s.state <> 'lost'
     and s.nonce >= counted and s.nonce < lane.next_nonce;
  update private.relay_lanes l set paused_for = case when missing > 16 then 'nonce_gap' end
   where l.chain = lane.chain and l.address = lane.address
     and (missing > 16 or l.paused_for = 'nonce_gap');
  if missing > 16 then
    return false;
  end if;
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
  api.housekeeping_pause_lane, api.housekeeping_see_lane, api.housekeeping_repair_lane to service_role;
