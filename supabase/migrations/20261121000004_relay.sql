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
  -- What a relayer held when so many of its transactions were mined, as enough endpoints told it.
  told_wei numeric(78, 0),
  told_nonce bigint,
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
create index relay_slots_open on private.relay_slots (chain, lane) where state = 'open';
create index relay_slots_watched on private.relay_slots (checked_at nulls first)
  where state in ('open', 'mined');

create table private.relay_transactions (
  slot bigint not null references private.relay_slots,
  -- More than the doublings of two fees from nothing to any ceiling.
  attempt integer not null check (attempt between 1 and 256),
  tx_hash text not null unique check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  raw text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  -- The most that it can cost, in wei.
  cost_wei numeric(78, 0) not null,
  -- The payments whose transfers are in its bytes.
  carries uuid[] not null,
  created_at timestamptz not null default private.clock(),
  primary key (slot, attempt)
);

-- One signed call of a token: a payment's authorization, or the cancellation of one. Without a slot
-- it is queued for a relayer; one that the wallet itself pays for never leaves the wallet's slots.
create table private.relay_calls (
  id bigint generated always as identity primary key,
  chain bigint not null,
  payment uuid not null references private.payments,
  account uuid not null references private.accounts,
  kind text not null check (kind in ('transfer', 'cancel')),
  signature text not null,
  -- Its place in the queue: accounts take turns, however many calls of one wait.
  turn bigint not null,
  -- Custody could not put it into a transaction; nobody tries again.
  refused boolean not null default false,
  -- Slots that it was put into.
  tries integer not null default 0,
  claim uuid,
  claimed_until timestamptz,
  slot bigint references private.relay_slots,
  unique (payment, kind)
);
create index relay_calls_queued on private.relay_calls (chain, kind, turn, id) where slot is null;
create index relay_calls_turns on private.relay_calls (account, chain, kind, turn)
  where slot is null;
create index relay_calls_slot on private.relay_calls (slot) where slot is not null;
create index relay_calls_claim on private.relay_calls (claim) where slot is null;

-- What relayers may spend for one account on a chain in 24 hours, in wei of its native coin and in
-- calls, and of it while the account is young; the row of chain 0 is for all chains without one.
create table private.gas_terms (
  chain bigint primary key check (chain >= 0),
  wei_per_day numeric(78, 0) not null check (wei_per_day >= 0),
  calls_per_day integer not null check (calls_per_day >= 0),
  young_hours integer not null check (young_hours >= 0),
  young_wei_per_day numeric(78, 0) not null check (young_wei_per_day between 0 and wei_per_day),
  young_calls_per_day integer not null check (young_calls_per_day between 0 and calls_per_day),
  -- The least transfer that is relayed.
  least_usd_micros bigint not null default 10000 check (least_usd_micros >= 0),
  -- Authorizations that may be live at once and cancellations of 24 hours, together: what is signed
  -- can always be cancelled.
  cancels_per_day integer not null check (cancels_per_day >= 0)
);

-- Gas that relayers spend for an account, at its worst: a row for each time that one of its calls
-- goes into a transaction. The row comes first, without a slot: for a transfer, which it lets be put
-- into one, and for the cancellation that a signature may need. What never was put into one counts no
-- longer once the payment is over.
create table private.gas_uses (
  id bigint generated always as identity primary key,
  account uuid not null references private.accounts,
  chain bigint not null,
  payment uuid not null references private.payments,
  kind text not null check (kind in ('transfer', 'cancel')),
  wei numeric(78, 0) not null check (wei > 0),
  slot bigint references private.relay_slots,
  at timestamptz not null default private.clock()
);
create unique index gas_uses_unspent on private.gas_uses (payment, kind) where slot is null;
create index gas_uses_counted on private.gas_uses (account, chain, at) include (wei);
create index gas_uses_slot on private.gas_uses (slot) where slot is not null;
create index gas_uses_age on private.gas_uses (at);

-- What gas cost on a chain lately, the dearest look of each minute as enough endpoints told it: fees in wei, and
-- what a relayer's transaction with one call cost at worst.
create table private.gas_prices (
  chain bigint not null,
  minute timestamptz not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  data_fee_wei numeric(78, 0) not null,
  call_wei numeric(78, 0) not null,
  primary key (chain, minute)
);

alter table private.gas_prices enable row level security;
alter table private.gas_terms enable row level security;
alter table private.gas_uses enable row level security;
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

-- A lane that may sign one transaction, the nonce for it and the calls to put into it, with what is
-- reserved for them. `owner` is the account whose key signs for the lane, or relayer.
create type private.relay_claim as (
  lease uuid, chain bigint, lane text, nonce bigint, calls jsonb, charges jsonb, envelope jsonb,
  owner text
);

-- What custody needs of a call to put it into a transaction.
create function private.call_json(c private.relay_calls, p private.payments) returns jsonb
  language sql stable as $$
  select jsonb_build_object('kind', c.kind, 'payment', p.id, 'token', p.token, 'from', p.wallet,
    'to', p.payee, 'value', p.amount_atomic::text, 'valid_after', p.valid_after, 'valid_before', p.valid_before,
    'nonce', p.authorization_nonce, 'signature', c.signature)
$$;

-- Until when a signature may be good by the chain's clock, which may be behind ours.
create function private.live_until(p private.payments) returns timestamptz
  language sql immutable as $$
  select pg_catalog.to_timestamp(p.valid_before + 900)
$$;

-- Whether a call may still be put into a transaction: it has an effect, and it is no transfer of a
-- frozen account.
create function private.is_live(c private.relay_calls, p private.payments) returns boolean
  language sql stable as $$
  select case c.kind when 'cancel' then private.live_until(p) > private.clock()
    else p.valid_before > extract(epoch from private.clock()) and p.state = 'signed'
      and not exists (select from private.accounts a
        where a.id = p.account and a.frozen_at is not null) end
$$;

-- Whether a transaction carries a transfer of an account that is frozen: then it is sent by nobody.
create function private.is_held(t private.relay_transactions) returns boolean
  language sql stable as $$
  select exists (select from private.payments p join private.accounts a on a.id = p.account
    where p.id = any (t.carries) and a.frozen_at is not null)
$$;

-- The calls that wait on a chain, in no order: those that nobody holds and that have an effect still,
-- and of transfers those whose gas is reserved.
create function private.waiting_calls(on_chain bigint) returns setof private.relay_calls
  language sql stable as $$
  select c.* from private.relay_calls c join private.payments p on p.id = c.payment
   where c.chain = on_chain and c.slot is null and not c.refused
     and (c.claimed_until is null or c.claimed_until <= private.clock())
     and private.is_live(c, p)
     and (c.kind = 'cancel' or exists (
       select from private.gas_uses u
        where u.payment = c.payment and u.kind = 'transfer' and u.slot is null))
$$;

-- Queues a signed call, for a transaction that is being made (`held`) or for the next. Its turn comes
-- after those of its own account and with the first of the others (start-time fair queueing), so that
-- a long queue of one account delays another by one transaction.
create function private.queue_call(
  p private.payments, kind text, signature text, held uuid default null)
  returns void language plpgsql as $$
declare
  first_turn bigint;
  own_turn bigint;
begin
  select c.turn into first_turn from private.relay_calls c
    join private.payments o on o.id = c.payment
   where c.chain = p.chain and c.kind = queue_call.kind and c.slot is null and private.is_live(c, o)
     and (c.claimed_until is null or c.claimed_until <= private.clock())
   order by c.turn limit 1;
  select max(c.turn) into own_turn from private.relay_calls c
   where c.account = p.account and c.chain = p.chain and c.kind = queue_call.kind
     and c.slot is null;
  insert into private.relay_calls (chain, payment, account, kind, signature, claim, turn)
  values (p.chain, p.id, p.account, queue_call.kind, queue_call.signature, held,
    greatest(coalesce(first_turn, 0), own_turn + 1))
  on conflict on constraint relay_calls_payment_kind_key do nothing;
end $$;

-- Whether a relayer is in service and held by nobody.
create function private.is_free(l private.relay_lanes) returns boolean
  language sql stable as $$
  select l.kind = 'relayer' and l.paused_for is null
    and (l.leased_until is null or l.leased_until <= private.clock())
$$;

-- What the newest transactions of a lane may cost, newest first: as many as may be in flight.
create function private.open_wei(l private.relay_lanes) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(coalesce(o.wei, 0)::text order by o.nonce desc), '[]') from (
    select s.nonce, (select max(t.cost_wei) from private.relay_transactions t
      where t.slot = s.id) as wei
      from private.relay_slots s
     where s.chain = l.chain and s.lane = l.address and s.nonce >= l.next_nonce - 16
     order by s.nonce desc limit 16) o
$$;

-- The most that a lane's transactions from this number on may cost.
create function private.cost_from(l private.relay_lanes, nonce bigint) returns numeric
  language sql stable as $$
  select coalesce(sum((select max(t.cost_wei) from private.relay_transactions t
      where t.slot = s.id)), 0)
    from private.relay_slots s
   where s.chain = l.chain and s.lane = l.address and s.nonce >= cost_from.nonce
$$;

-- What a relayer surely has left: of what was told last, all that was signed for since is taken as spent.
-- Null where nothing was told yet.
create function private.left_wei(l private.relay_lanes) returns numeric
  language sql stable as $$
  select greatest(l.told_wei - private.cost_from(l, l.told_nonce), 0) where l.told_wei is not null
$$;

-- Leases a relayer's lane that can carry what waits. `seen` says how many more transfers and how many
-- more cancellations each can pay for, and how many of its transactions the chain counts. One that is
-- 16 ahead takes no more, because nodes drop what is far ahead; the last two places of these, and
-- a reserve of gas, are for cancellations alone.
create function private.lease_lane(on_chain bigint, seen jsonb, needs text, until timestamptz)
  returns table (lease uuid, address text, nonce bigint, transfers integer, cancels integer)
  language plpgsql as $$
begin
  select l.address, e.cancels,
    case when l.next_nonce - greatest(l.mined_nonce, e.mined_nonce) < 14 then e.transfers else 0 end
  into lease_lane.address, lease_lane.cancels, lease_lane.transfers
    from private.relay_lanes l
    join jsonb_to_recordset(seen) as e (
      address text, mined_nonce bigint, transfers integer, cancels integer) on e.address = l.address
   where l.chain = on_chain and private.is_free(l)
     and case needs when 'transfer' then e.transfers > 0
         and l.next_nonce - greatest(l.mined_nonce, e.mined_nonce) < 14
       else e.cancels > 0 and l.next_nonce - greatest(l.mined_nonce, e.mined_nonce) < 16 end
   order by l.used_at nulls first limit 1 for update of l skip locked;
  if not found then
    return;
  end if;
  update private.relay_lanes l set lease = gen_random_uuid(), leased_until = until,
    used_at = pg_catalog.clock_timestamp()
   where l.chain = on_chain and l.address = lease_lane.address
  returning l.lease, l.next_nonce into lease_lane.lease, lease_lane.nonce;
  return next;
end $$;

-- Leases a lane for five seconds and claims for it what waits, cancellations first: for a payment that
-- is about to be signed (`with_own`), or for what is queued alone. Null when no lane is free, or nothing
-- waits that one could carry.
create function private.claim_lane(on_chain bigint, seen jsonb, with_own boolean)
  returns private.relay_claim language plpgsql as $$
declare
  picked record;
  claimed private.relay_claim;
  until timestamptz := private.clock() + interval '5 seconds';
  own integer := with_own::integer;
  needs text := case when with_own then 'transfer' else
    (select w.kind from private.waiting_calls(on_chain) w order by w.kind limit 1) end;
begin
  if needs is null then
    return null;
  end if;
  select * into picked from private.lease_lane(on_chain, seen, needs, until);
  if not found then
    return null;
  end if;
  claimed.lease := picked.lease;
  claimed.chain := on_chain;
  claimed.lane := picked.address;
  claimed.nonce := picked.nonce;
  -- Chosen once and before the update: a plan that chose again for every row would not see those
  -- that it has updated already, and pass the limit.
  with chosen as materialized (
    select q.id from private.relay_calls q where q.id in (
      (select w.id from private.waiting_calls(on_chain) w where w.kind = 'cancel'
        order by w.turn, w.id limit least(picked.cancels, 25 - own))
      union all
      (select w.id from private.waiting_calls(on_chain) w where w.kind = 'transfer'
        order by w.turn, w.id limit greatest(least(picked.transfers, 25) - own, 0)))
     order by q.kind, q.turn, q.id limit 25 - own for update skip locked
  ), taken as (
    update private.relay_calls c set claim = claimed.lease, claimed_until = until
     where c.id in (select h.id from chosen h)
       and c.slot is null and (c.claimed_until is null or c.claimed_until <= private.clock())
    returning c.*
  )
  select coalesce(jsonb_agg(private.call_json(t, p) order by t.id), '[]') into claimed.calls
    from taken t join private.payments p on p.id = t.payment;
  claimed.charges := private.charges_of(claimed.lease);
  -- All that waited is being taken by somebody else at this moment, who looks again afterwards.
  if claimed.calls = '[]' and not with_own then
    update private.relay_lanes l set lease = null, leased_until = null
     where l.lease = claimed.lease;
    return null;
  end if;
  select k.envelope, k.owner into claimed.envelope, claimed.owner from private.custody_keys k
   where k.address = claimed.lane and k.owner = 'relayer';
  return claimed;
end $$;

-- The places of a wallet whose transactions are in flight: open ones that the chain's count has not passed.
create function private.places_in_flight(on_chain bigint, wallet text)
  returns setof private.relay_slots language sql stable as $$
  select s.* from private.relay_slots s
    join private.relay_lanes l on l.chain = s.chain and l.address = s.lane
   where s.chain = on_chain and s.lane = wallet and s.state = 'open' and s.nonce >= l.mined_nonce
$$;

-- What a wallet's transactions in flight can cost together, each at the dearer of its own price and that
-- of a new one, and a new one beside them.
create function private.own_gas_needed(on_chain bigint, wallet text, cost_wei numeric)
  returns numeric language sql stable as $$
  select own_gas_needed.cost_wei + coalesce(sum(greatest(own_gas_needed.cost_wei, dearest.wei)), 0)
    from private.places_in_flight(on_chain, wallet) s
    left join lateral (select max(t.cost_wei) as wei from private.relay_transactions t
      where t.slot = s.id) dearest on true
$$;

-- Whether a wallet has as many transactions in flight as nodes keep of one sender.
create function private.is_full(on_chain bigint, wallet text) returns boolean
  language sql stable as $$
  select count(*) >= 16 from private.places_in_flight(on_chain, wallet)
$$;

-- The same for a wallet that pays for its own transfer: its counter follows the count that enough
-- endpoints show. Null while another payment of the wallet holds the lane, or it is out of service.
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
   where l.chain = p.chain and l.address = p.wallet and l.paused_for is null
     and (l.leased_until is null or l.leased_until <= private.clock())
  returning l.lease, l.chain, l.address, l.next_nonce, '[]'::jsonb, '[]'::jsonb
  into claimed.lease, claimed.chain, claimed.lane, claimed.nonce, claimed.calls, claimed.charges;
  if not found then
    return null;
  end if;
  select k.envelope, k.owner into claimed.envelope, claimed.owner from private.custody_keys k
   where k.address = p.wallet and k.owner = p.account::text;
  return claimed;
end $$;

-- Stores the first transaction of a slot and gives the lane back. False, with everything back in the
-- queue, when the lease ran out meanwhile or a claimed call was withdrawn: then the transaction
-- must not leave, and it cannot, since nobody was given it.
create function private.fill_slot(
  held uuid, calls integer, hash text, raw text, max_fee numeric, max_priority_fee numeric,
  cost_wei numeric)
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
  insert into private.relay_transactions values (filled, 1, hash, raw, max_fee, max_priority_fee,
    cost_wei, (select coalesce(array_agg(c.payment), '{}') from private.relay_calls c
      where c.claim = held and c.slot is null and c.kind = 'transfer'));
  with sent as (
    update private.relay_calls c set slot = filled, claim = null, claimed_until = null,
      tries = c.tries + 1
     where c.claim = held and c.slot is null returning c.payment, c.kind
  )
  update private.payments p set tx_hash = hash, finality = 'submitted' from sent s
   where p.id = s.payment and s.kind = 'transfer' and p.state = 'signed';
  if lane.kind = 'relayer' then
    perform private.spend_gas(filled, cost_wei);
  end if;
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
