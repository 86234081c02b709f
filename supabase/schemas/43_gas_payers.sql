-- The watch over slots and gas payers: what became of a relayed transaction, what has to be sent again or
-- replaced, and whether a gas payer's counter agrees with the chain's.

-- Returns a batch of slots that are not final, with every transaction signed for them and the payments that
-- they carry. A slot that was just looked at waits until all others were. Wallets take turns, so many open
-- slots of one wallet delay no other. Within a turn, slots of relayers that are open or that the chain does not
-- count yet come first, then those longest unseen.
create function api.housekeeping_slots(batch integer) returns table (
  slot bigint, chain bigint, gas_payer text, kind text, nonce bigint, state text, block_number bigint,
  block_hash text, attempts jsonb, payments jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  with due as (
    select d.id, d.checked_at,
      g.kind = 'relayer' and (d.state = 'open' or d.nonce >= g.mined_nonce) as is_first,
      case when g.kind = 'wallet' then row_number() over (partition by d.chain, d.gas_payer
        order by d.checked_at, d.nonce) else 1 end as turn
    from private.relay_slots d
      join private.gas_payers g on g.chain = d.chain and g.address = d.gas_payer
     where d.state in ('open', 'mined')
  ), held as (
    select h.id from private.relay_slots h where h.id in (select d.id from due d
      order by private.is_just_seen(d.checked_at), d.turn, d.is_first desc,
        d.checked_at limit batch)
    -- Another run may have closed it since.
      and h.state in ('open', 'mined')
    for update skip locked
  ), seen as (
    update private.relay_slots s set checked_at = private.clock()
     where s.id in (select h.id from held h) returning s.*
  )
  select s.id, s.chain, s.gas_payer, g.kind, s.nonce, s.state, s.block_number, s.block_hash,
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('tx_hash', t.tx_hash,
        'raw', t.raw, 'max_fee_per_gas', t.max_fee_per_gas::text,
        'max_priority_fee_per_gas', t.max_priority_fee_per_gas::text,
        'held', private.has_stopped(t.carries), 'age_seconds',
        extract(epoch from private.clock() - t.created_at)::integer) order by t.attempt), '[]')
       from private.relay_transactions t where t.slot = s.id),
    (select coalesce(pg_catalog.jsonb_agg(private.payment_json(p) - array['terms', 'delivery'] order by c.id), '[]')
       from private.relay_calls c join private.payments p on p.id = c.payment where c.slot = s.id)
  from seen s join private.gas_payers g on g.chain = s.chain and g.address = s.gas_payer
  order by s.gas_payer, s.nonce;
end $$;

-- True if the transfer of a mined slot, which its logs do not show, goes back to the queue: from a relayer's
-- slot, while its signature is valid for another minute, and ten times at most, as often as a signature has
-- minutes.
create function private.may_retry(c private.relay_calls, p private.payments) returns boolean
  language sql stable as $$
  select private.is_live(p) and c.tries < 10
    and p.valid_before > extract(epoch from private.clock()) + 60
    and exists (select from private.relay_slots s
      join private.gas_payers g on g.chain = s.chain and g.address = s.gas_payer
      where s.id = c.slot and g.kind = 'relayer')
$$;

-- Notes the block of a slot's transaction and the payments that its logs show, as [{payment, log_index}]. The others
-- keep their reservation; those in `unpaid`, which no other transaction paid either, show `reverted` until another
-- has paid them or their signature has ended.
create function api.housekeeping_book_slot(
  slot bigint, tx_hash text, block_number bigint, block_hash text, finality text, settled jsonb,
  unpaid uuid[])
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  perform private.lock_accounts_in(slot);
  update private.relay_slots s set block_number = housekeeping_book_slot.block_number,
    block_hash = housekeeping_book_slot.block_hash,
    state = case finality when 'finalized' then 'final' else 'mined' end
   where s.id = slot and s.state in ('open', 'mined');
  if not found then
    return false;
  end if;
  update private.payments p set tx_hash = housekeeping_book_slot.tx_hash,
    finality = case when p.id = any (unpaid) then 'reverted' else p.finality end
    from private.relay_calls c
   where c.slot = housekeeping_book_slot.slot
     and p.id = c.payment and p.state = 'signed' and p.block_hash is null;
  perform private.note_settled((e ->> 'payment')::uuid, tx_hash, block_number, block_hash,
    (e ->> 'log_index')::integer, case finality when 'finalized' then 'safe' else finality end)
  from pg_catalog.jsonb_array_elements(settled) e;
  perform private.lock_queue(s.chain, false) from private.relay_slots s where s.id = slot;
  perform private.requeue_call(c) from private.relay_calls c
    join private.payments p on p.id = c.payment
   where c.slot = housekeeping_book_slot.slot
     and p.finality = 'reverted' and private.may_retry(c, p) order by c.id;
  return true;
end $$;

-- Opens a slot again whose block is gone, and takes back what was noted of its payments.
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
   where c.slot = housekeeping_reopen_slot.slot;
  return true;
end $$;

-- Gives the calls of a relayer's open slot back to the queue, because its transaction cannot be mined now
-- (`lost` is false) or ever (true). The token accepts an authorization only once, so another relayer may carry
-- the same call, if relayers carry one more for its account. Calls that a wallet pays for itself stay until they end.
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
    join private.gas_payers g on g.chain = given.chain and g.address = given.gas_payer
   where c.slot = housekeeping_requeue_slot.slot and g.kind = 'relayer' order by c.id;
  return true;
end $$;

-- Returns the gas payers that are watched: every relayer, and each wallet with a transaction in flight.
create function api.housekeeping_gas_payers() returns table (
  chain bigint, address text, kind text, next_nonce bigint, mined_nonce bigint, paused_for text)
  language plpgsql security definer set search_path = '' as $$
begin
  return query select g.chain, g.address, g.kind, g.next_nonce, g.mined_nonce, g.paused_for
    from private.gas_payers g
   where g.kind = 'relayer' or g.next_nonce > g.mined_nonce
   order by g.chain, g.kind, g.address;
end $$;

-- Takes a gas payer out of service or, with a null reason, back into it; one with a gap stays out. Answers true
-- if that changed it.
create function api.housekeeping_pause_gas_payer(chain bigint, address text, reason text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  update private.gas_payers g set paused_for = reason
   where g.chain = housekeeping_pause_gas_payer.chain and g.address = housekeeping_pause_gas_payer.address
     and g.paused_for is distinct from reason and g.paused_for is distinct from 'nonce_gap';
  return found;
end $$;

-- Stores what a relayer holds.
create function api.housekeeping_see_gas_payer(chain bigint, address text, wei text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  update private.gas_payers g set reported_wei = wei::numeric
   where g.chain = housekeeping_see_gas_payer.chain and g.address = housekeeping_see_gas_payer.address;
  return true;
end $$;

-- Aligns a gas payer's counter with the chain's count, as far as enough endpoints show it (`counted`), and no
-- further back than the `highest` count that any shows. A counter that is ahead by slots is right. A counter
-- that is behind follows the chain, because somebody else used its key. A counter that is ahead
-- without any slot goes back. A nonce in between without a slot gets one without calls, to be filled. That
-- costs gas, so a gas payer that misses more than 16 is taken out of service until it misses fewer.
create function api.housekeeping_repair_gas_payer(
  chain bigint, address text, counted bigint, highest bigint)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  gas_payer private.gas_payers;
  missing bigint;
  changed bigint;
begin
  select g.* into gas_payer from private.gas_payers g
   where g.chain = housekeeping_repair_gas_payer.chain and g.address = housekeeping_repair_gas_payer.address
     and (g.leased_until is null or g.leased_until <= private.clock()) for update skip locked;
  if not found then
    return false;
  end if;
  -- A caller that held the lease until a moment ago signs for a counter that may no longer be right.
  update private.gas_payers g set lease = null, leased_until = null, mined_nonce = counted,
    next_nonce = case
      when g.next_nonce < counted then counted
      when not exists (select from private.relay_slots s
        where s.chain = gas_payer.chain and s.gas_payer = gas_payer.address and s.nonce >= counted)
      then least(g.next_nonce, highest)
      else g.next_nonce end
   where g.chain = gas_payer.chain and g.address = gas_payer.address returning g.next_nonce into gas_payer.next_nonce;
  select gas_payer.next_nonce - counted - count(*) into missing from private.relay_slots s
   where s.chain = gas_payer.chain and s.gas_payer = gas_payer.address and s.state <> 'lost'
     and s.nonce >= counted and s.nonce < gas_payer.next_nonce;
  update private.gas_payers g set paused_for = case when missing > 16 then 'nonce_gap' end
   where g.chain = gas_payer.chain and g.address = gas_payer.address
     and (missing > 16 or g.paused_for = 'nonce_gap');
  if missing > 16 then
    return false;
  end if;
  insert into private.relay_slots as s (chain, gas_payer, nonce)
  select gas_payer.chain, gas_payer.address, n
    from pg_catalog.generate_series(counted, least(gas_payer.next_nonce, counted + 16) - 1) n
  on conflict on constraint relay_slots_chain_gas_payer_nonce_key do update set state = 'open'
   where s.state = 'lost';
  get diagnostics changed = row_count;
  return changed > 0;
end $$;

grant execute on function api.housekeeping_slots, api.housekeeping_book_slot, api.housekeeping_reopen_slot,
  api.housekeeping_requeue_slot, api.housekeeping_gas_payers, api.housekeeping_pause_gas_payer,
  api.housekeeping_see_gas_payer, api.housekeeping_repair_gas_payer to service_role;
