-- Relaying: lanes (addresses that pay for gas), the queue of signed calls, slots (one nonce of a
-- lane) and the transactions signed for a slot. Whoever leases a lane takes all that is queued, and
-- a slot exists from the moment its first transaction is stored: so a crash in between leaves no
-- gap in a lane, nothing was sent, and the next one takes the same nonce.

create table private.relay_lanes (
  chain bigint not null,
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  -- A relayer of the service, or a wallet that pays its own gas.
  kind text not null check (kind in ('relayer', 'wallet')),
  next_nonce bigint not null check (next_nonce >= 0),
  -- Transactions that the chain had counted when somebody last looked; what is between it and
  -- next_nonce is in flight.
  mined_nonce bigint not null default 0,
  -- Why it takes nothing new now.
  paused_for text,
  lease uuid,
  leased_until timestamptz,
  used_at timestamptz,
  primary key (chain, address)
);

create table private.relay_slots (
  id bigint generated always as identity primary key,
  chain bigint not null,
  lane text not null,
  nonce bigint not null,
  -- `lost`: a transaction that is none of ours took the nonce.
  state text not null default 'open' check (state in ('open', 'mined', 'final', 'lost')),
  block_number bigint,
  block_hash text,
  checked_at timestamptz,
  unique (chain, lane, nonce),
  foreign key (chain, lane) references private.relay_lanes (chain, address),
  check (state not in ('mined', 'final') or block_hash is not null)
);
create index relay_slots_watched on private.relay_slots (checked_at nulls first)
  where state in ('open', 'mined');

create table private.relay_transactions (
  slot bigint not null references private.relay_slots,
  attempt integer not null check (attempt between 1 and 12),
  tx_hash text not null unique check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  raw text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  created_at timestamptz not null default private.clock(),
  primary key (slot, attempt)
);

-- One call of a token: a payment's authorization, or the cancellation of one. Without a slot it is
-- queued. A wallet's own transfer has a call too, which never leaves the slot that it was made for.
create table private.relay_calls (
  id bigint generated always as identity primary key,
  chain bigint not null,
  payment uuid not null references private.payments,
  kind text not null check (kind in ('transfer', 'cancel')),
  -- Of a cancellation; a transfer carries the payment's.
  signature text,
  claim uuid,
  claimed_until timestamptz,
  slot bigint references private.relay_slots,
  unique (payment, kind),
  check ((kind = 'cancel') = (signature is not null))
);
create index relay_calls_queued on private.relay_calls (chain, id) where slot is null;
create index relay_calls_slot on private.relay_calls (slot) where slot is not null;
create index relay_calls_claim on private.relay_calls (claim) where slot is null;

alter table private.relay_lanes enable row level security;
alter table private.relay_slots enable row level security;
alter table private.relay_transactions enable row level security;
alter table private.relay_calls enable row level security;

-- What the operator's scripts bring a relayer into service with. The nonce never goes back below
-- one that a slot holds.
create function private.open_lane(chain bigint, address text, envelope jsonb, nonce bigint)
  returns void language plpgsql as $$
begin
  insert into private.custody_keys values (address, 'relayer', envelope) on conflict do nothing;
  insert into private.relay_lanes as l (chain, address, kind, next_nonce, mined_nonce)
  values (open_lane.chain, open_lane.address, 'relayer', nonce, nonce)
  on conflict on constraint relay_lanes_pkey do update set mined_nonce = excluded.mined_nonce,
    next_nonce = greatest(excluded.next_nonce,
      (select coalesce(max(s.nonce) + 1, 0) from private.relay_slots s
        where s.chain = l.chain and s.lane = l.address));
end $$;

-- A lane that may sign one transaction, the nonce for it and the calls to put into it.
create type private.relay_claim as (
  lease uuid, chain bigint, lane text, nonce bigint, calls jsonb, envelope jsonb
);

-- What custody needs of a call to put it into a transaction.
create function private.call_json(c private.relay_calls, p private.payments) returns jsonb
  language sql stable as $$
  select jsonb_build_object('kind', c.kind, 'token', p.token, 'from', p.wallet, 'to', p.payee,
    'value', p.amount_atomic::text, 'valid_after', p.valid_after, 'valid_before', p.valid_before,
    'nonce', p.authorization_nonce, 'signature', coalesce(c.signature, p.signature))
$$;

-- The calls that wait on a chain, oldest first: those that nobody holds and that can still settle.
create function private.waiting_calls(on_chain bigint) returns setof private.relay_calls
  language sql stable as $$
  select c.* from private.relay_calls c join private.payments p on p.id = c.payment
   where c.chain = on_chain and c.slot is null
     and (c.claimed_until is null or c.claimed_until <= private.clock())
     and (c.kind = 'cancel' or p.state = 'signed')
     and p.valid_before > extract(epoch from private.clock())
   order by c.id
$$;

-- Whether a relayer is in service and held by nobody.
create function private.is_free(l private.relay_lanes) returns boolean
  language sql stable as $$
  select l.kind = 'relayer' and l.paused_for is null
    and (l.leased_until is null or l.leased_until <= private.clock())
$$;

-- Leases a lane for five seconds and claims for it what waits: for a payment that is about to be
-- signed (`with_own`), or for what is queued alone. `seen` says which lanes can pay for gas and how
-- many of their transactions the chain counts; one that is 16 ahead takes no more, because nodes
-- drop what is far ahead. Null when no lane is free, or nothing waits.
create function private.claim_lane(on_chain bigint, seen jsonb, with_own boolean)
  returns private.relay_claim language plpgsql as $$
declare
  picked private.relay_lanes;
  claimed private.relay_claim;
  until timestamptz := private.clock() + interval '5 seconds';
begin
  if not with_own and not exists (select from private.waiting_calls(on_chain)) then
    return null;
  end if;
  select l.* into picked from private.relay_lanes l
    join jsonb_to_recordset(seen) as e (address text, mined_nonce bigint) on e.address = l.address
   where l.chain = on_chain and private.is_free(l)
     and l.next_nonce - greatest(l.mined_nonce, e.mined_nonce) < 16
   order by l.used_at nulls first limit 1 for update of l skip locked;
  if not found then
    return null;
  end if;
  claimed.lease := gen_random_uuid();
  update private.relay_lanes l set lease = claimed.lease, leased_until = until,
    used_at = pg_catalog.clock_timestamp()
   where l.chain = on_chain and l.address = picked.address
  returning l.chain, l.address, l.next_nonce into claimed.chain, claimed.lane, claimed.nonce;
  -- Chosen once and before the update: a plan that chose again for every row would not see those
  -- that it has updated already, and pass the limit.
  with chosen as materialized (
    select q.id from private.relay_calls q
     where q.id in (select w.id from private.waiting_calls(on_chain) w limit 25)
     order by q.id limit case when with_own then 24 else 25 end for update skip locked
  ), taken as (
    update private.relay_calls c set claim = claimed.lease, claimed_until = until
     where c.id in (select h.id from chosen h)
       and c.slot is null and (c.claimed_until is null or c.claimed_until <= private.clock())
    returning c.*
  )
  select coalesce(jsonb_agg(private.call_json(t, p) order by t.id), '[]') into claimed.calls
    from taken t join private.payments p on p.id = t.payment;
  -- All that waited is being taken by somebody else at this moment, who looks again afterwards.
  if claimed.calls = '[]' and not with_own then
    update private.relay_lanes l set lease = null, leased_until = null
     where l.lease = claimed.lease;
    return null;
  end if;
  select k.envelope into claimed.envelope from private.custody_keys k
   where k.address = claimed.lane and k.owner = 'relayer';
  return claimed;
end $$;

-- The same for a wallet that sends its own transfer: its counter follows what the chain shows.
create function private.claim_wallet(p private.payments, wallet_nonce bigint)
  returns private.relay_claim language plpgsql as $$
declare
  claimed private.relay_claim;
begin
  insert into private.relay_lanes as l (chain, address, kind, next_nonce, mined_nonce)
  values (p.chain, p.wallet, 'wallet', wallet_nonce, wallet_nonce) on conflict do nothing;
  update private.relay_lanes l set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '5 seconds',
    next_nonce = greatest(l.next_nonce, wallet_nonce)
   where l.chain = p.chain and l.address = p.wallet
     and (l.leased_until is null or l.leased_until <= private.clock())
  returning l.lease, l.chain, l.address, l.next_nonce, '[]'::jsonb
  into claimed.lease, claimed.chain, claimed.lane, claimed.nonce, claimed.calls;
  return claimed;
end $$;

-- Stores the first transaction of a slot and gives the lane back. False, with everything back in the
-- queue, when the lease ran out meanwhile or a claimed call was withdrawn: then the transaction
-- must not leave, and it cannot, since nobody was given it.
create function private.fill_slot(
  held uuid, calls integer, hash text, raw text, max_fee numeric, max_priority_fee numeric)
  returns boolean language plpgsql as $$
declare
  lane private.relay_lanes;
  filled bigint;
begin
  select l.* into lane from private.relay_lanes l where l.lease = held for update;
  perform from private.relay_calls c where c.claim = held and c.slot is null for update;
  if lane.address is null or calls <>
    (select count(*) from private.relay_calls c where c.claim = held and c.slot is null)
  then
    update private.relay_lanes l set lease = null, leased_until = null where l.lease = held;
    update private.relay_calls c set claim = null, claimed_until = null
     where c.claim = held and c.slot is null;
    return false;
  end if;
  insert into private.relay_slots (chain, lane, nonce)
  values (lane.chain, lane.address, lane.next_nonce) returning id into filled;
  insert into private.relay_transactions values (filled, 1, hash, raw, max_fee, max_priority_fee);
  with sent as (
    update private.relay_calls c set slot = filled, claim = null, claimed_until = null
     where c.claim = held and c.slot is null returning c.payment, c.kind
  )
  update private.payments p set tx_hash = hash from sent s
   where p.id = s.payment and s.kind = 'transfer' and p.state = 'signed';
  update private.relay_lanes l set lease = null, leased_until = null, next_nonce = l.next_nonce + 1
   where l.lease = held;
  return true;
end $$;

-- The lock that no wakeup is lost by. Who queues a call holds it shared and looks for a free lane
-- after; who frees a lane holds it alone and looks at the queue after: one of them sees the other.
create function private.lock_queue(on_chain bigint, alone boolean) returns void
  language plpgsql as $$
begin
  if alone then
    perform pg_catalog.pg_advisory_xact_lock(7319, on_chain::integer);
  else
    perform pg_catalog.pg_advisory_xact_lock_shared(7319, on_chain::integer);
  end if;
end $$;

-- Whether somebody has to go on: calls wait and a lane is free for them.
create function private.is_relay_needed(on_chain bigint) returns boolean
  language sql stable as $$
  select exists (select from private.waiting_calls(on_chain)) and exists (
    select from private.relay_lanes l where l.chain = on_chain and private.is_free(l))
$$;
