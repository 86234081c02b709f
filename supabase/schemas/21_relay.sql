-- Relaying: gas payers (addresses that send transactions and pay their gas), the queue of signed calls, slots (one
-- nonce of a gas payer) and the transactions signed for a slot. Whoever leases a relayer takes all calls that are
-- queued. A slot exists from the moment its first transaction is stored. A crash before that leaves no gap in the
-- nonces: nothing was sent, and the next holder takes the same nonce.

create table private.gas_payers (
  chain bigint not null,
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  -- A relayer of the service, or a wallet that pays its own gas.
  kind text not null check (kind in ('relayer', 'wallet')),
  next_nonce bigint not null check (next_nonce >= 0),
  -- Number of transactions that the chain had counted at the last look. Those from it up to next_nonce are in
  -- flight.
  mined_nonce bigint not null default 0,
  -- Balance of a relayer at the last look.
  reported_wei numeric(78, 0),
  -- Reason why it takes nothing new now.
  paused_for text,
  lease uuid,
  leased_until timestamptz,
  used_at timestamptz,
  primary key (chain, address)
);
alter table private.gas_payers enable row level security;

create table private.relay_slots (
  id bigint generated always as identity primary key,
  chain bigint not null,
  gas_payer text not null,
  nonce bigint not null,
  -- `lost`: a transaction that is not ours took the nonce.
  state text not null default 'open' check (state in ('open', 'mined', 'final', 'lost')),
  block_number bigint,
  block_hash text,
  -- Time when housekeeping last looked at it. A new slot starts with the current time, because it was just
  -- sent.
  checked_at timestamptz not null default private.clock(),
  unique (chain, gas_payer, nonce),
  foreign key (chain, gas_payer) references private.gas_payers (chain, address),
  check (state not in ('mined', 'final') or block_hash is not null)
);
alter table private.relay_slots enable row level security;
create index relay_slots_open on private.relay_slots (chain, gas_payer) where state = 'open';
create index relay_slots_watched on private.relay_slots (checked_at)
  where state in ('open', 'mined');

create table private.relay_transactions (
  slot bigint not null references private.relay_slots,
  -- More than the doublings that lead two fees from nothing to any ceiling.
  attempt integer not null check (attempt between 1 and 256),
  tx_hash text not null unique check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  raw text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  -- The most that it can cost, in wei.
  cost_wei numeric(78, 0) not null,
  -- The payments whose transfers it carries.
  carries uuid[] not null,
  created_at timestamptz not null default private.clock(),
  primary key (slot, attempt)
);
alter table private.relay_transactions enable row level security;

-- Signed authorizations of payments. A call without a slot is queued for a relayer. A call that the wallet itself
-- pays for always stays in the wallet's slots.
create table private.relay_calls (
  id bigint generated always as identity primary key,
  chain bigint not null,
  payment uuid not null references private.payments,
  account uuid not null references private.accounts,
  signature text not null,
  -- Position in the queue. Accounts take turns, however many calls of one account wait.
  turn bigint not null,
  -- True if custody could not put it into a transaction; it is not tried again.
  refused boolean not null default false,
  -- Number of slots that it was put into.
  tries integer not null default 0,
  claim uuid,
  claimed_until timestamptz,
  slot bigint references private.relay_slots,
  unique (payment)
);
alter table private.relay_calls enable row level security;
create index relay_calls_queued on private.relay_calls (chain, turn, id) where slot is null;
create index relay_calls_turns on private.relay_calls (account, chain, turn)
  where slot is null;
create index relay_calls_slot on private.relay_calls (slot) where slot is not null;
create index relay_calls_claim on private.relay_calls (claim) where slot is null;

-- Limits on how often relayers carry a transfer of one account on a chain in 24 hours, with a lower one for a young
-- account. The row of chain 0 applies to all chains without a row.
create table private.gas_terms (
  chain bigint primary key check (chain >= 0),
  calls_per_day integer not null check (calls_per_day >= 0),
  young_hours integer not null check (young_hours >= 0),
  young_calls_per_day integer not null check (young_calls_per_day between 0 and calls_per_day),
  -- The smallest transfer that is relayed.
  least_usd_micros bigint not null default 10000 check (least_usd_micros >= 0)
);
alter table private.gas_terms enable row level security;
insert into private.gas_terms (chain, calls_per_day, young_hours, young_calls_per_day)
values (0, 200, 72, 40), (1, 20, 72, 5), (11155111, 20, 72, 5);

-- A gas payer that may sign one transaction, with the nonce for it and the calls to put into it. `owner` is the
-- account whose wallet it is, or `relayer`.
create type private.relay_claim as (
  lease uuid, chain bigint, gas_payer text, nonce bigint, calls jsonb, envelope jsonb,
  owner text
);

-- Brings a relayer into service; only the operator's scripts call it. The nonce never goes below one that a
-- slot holds.
create function private.open_gas_payer(chain bigint, address text, envelope jsonb, nonce bigint)
  returns void language plpgsql as $$
begin
  insert into private.custody_keys values (address, 'relayer', envelope) on conflict do nothing;
  insert into private.gas_payers as g (chain, address, kind, next_nonce, mined_nonce)
  values (open_gas_payer.chain, open_gas_payer.address, 'relayer', nonce, nonce)
  on conflict on constraint gas_payers_pkey do update set mined_nonce = excluded.mined_nonce,
    next_nonce = greatest(excluded.next_nonce,
      (select coalesce(max(s.nonce) + 1, 0) from private.relay_slots s
        where s.chain = g.chain and s.gas_payer = g.address));
end $$;

-- Returns what custody needs in order to put a call into a transaction.
create function private.call_json(c private.relay_calls, p private.payments) returns jsonb
  language sql stable as $$
  select jsonb_build_object('payment', p.id, 'token', p.token, 'from', p.wallet,
    'to', p.payee, 'value', p.amount_atomic::text, 'valid_after', p.valid_after, 'valid_before', p.valid_before,
    'nonce', p.authorization_nonce, 'signature', c.signature, 'carrier', case when p.terms ? 'carrier'
      then jsonb_build_object('chain', p.chain, 'order', p.terms #>> '{carrier, order}') end)
$$;

-- Returns the time until which a signature may be valid by the chain's clock, which may be behind ours.
create function private.live_until(p private.payments) returns timestamptz
  language sql immutable as $$
  select pg_catalog.to_timestamp(p.valid_before + 900)
$$;

-- True if a payment was authorized before the last freeze of its account. It is not sent after the account is
-- unfrozen either.
create function private.is_stopped(p private.payments) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.accounts a
    where a.id = p.account and p.freezes < a.freezes);
end $$;

-- True if the transfer of a payment may still be put into a transaction: it has an effect, and no freeze has
-- stopped it.
create function private.is_live(p private.payments) returns boolean
  language sql stable as $$
  select p.valid_before > extract(epoch from private.clock()) and p.state = 'signed' and p.block_hash is null
    and not private.is_stopped(p)
$$;

-- Locks the accounts that pay, in one order. A freeze that runs at the same time waits for this transaction,
-- or this one waits for the freeze.
create function private.hold_payers(payments uuid[]) returns void language plpgsql as $$
begin
  perform from private.accounts a where a.id in (select p.account from private.payments p
    where p.id = any (payments)) order by a.id for no key update;
end $$;

-- True if a freeze has stopped one of these transfers. A transaction that carries it must not be sent.
create function private.has_stopped(carries uuid[]) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.payments p where p.id = any (carries) and private.is_stopped(p));
end $$;

-- Returns the calls that wait on a chain, in no order: those that are not claimed and still have an effect.
create function private.waiting_calls(on_chain bigint) returns setof private.relay_calls
  language sql stable as $$
  select c.* from private.relay_calls c join private.payments p on p.id = c.payment
   where c.chain = on_chain and c.slot is null and not c.refused
     -- The clock is read once, and what private.is_live says is asked without a call for each of them.
     and (c.claimed_until is null or c.claimed_until <= (select private.clock()))
     and p.valid_before > extract(epoch from (select private.clock()))
     and p.state = 'signed' and p.block_hash is null
     and not exists (select from private.accounts a where a.id = p.account and p.freezes < a.freezes)
$$;

-- Queues a signed call for a transaction that is being built (`held`) or for the next one. Its turn comes
-- after those of its own account and together with the first of the others (start-time fair queueing), so a
-- long queue of one account delays another account by one transaction.
create function private.queue_call(p private.payments, signature text, held uuid default null)
  returns void language plpgsql as $$
declare
  first_turn bigint;
  own_turn bigint;
begin
  select w.turn into first_turn from private.waiting_calls(p.chain) w order by w.turn limit 1;
  select max(c.turn) into own_turn from private.relay_calls c
   where c.account = p.account and c.chain = p.chain and c.slot is null;
  insert into private.relay_calls (chain, payment, account, signature, claim, turn)
  values (p.chain, p.id, p.account, queue_call.signature, held,
    greatest(coalesce(first_turn, 0), own_turn + 1))
  on conflict on constraint relay_calls_payment_key do nothing;
end $$;

-- True if a relayer is in service and not leased.
create function private.is_free(g private.gas_payers) returns boolean
  language sql stable as $$
  select g.kind = 'relayer' and g.paused_for is null
    and (g.leased_until is null or g.leased_until <= private.clock())
$$;

-- True if a relayer takes another transaction: nodes drop what is 16 ahead of those that the chain counts.
create function private.has_room(g private.gas_payers, mined_nonce bigint) returns boolean
  language sql stable as $$
  select private.is_free(g) and g.next_nonce - greatest(g.mined_nonce, mined_nonce) < 16
$$;

-- Leases a relayer until a time, the one that was used longest ago; returns no row if there is none. `seen` names
-- those that can pay, each with the number of its transactions that the chain counts.
create function private.lease_gas_payer(on_chain bigint, seen jsonb, until timestamptz)
  returns table (lease uuid, address text, nonce bigint) language plpgsql as $$
begin
  return query
  update private.gas_payers g set lease = gen_random_uuid(), leased_until = until,
    used_at = pg_catalog.clock_timestamp()
   where g.chain = on_chain and g.address = (
     select x.address from private.gas_payers x
       join jsonb_to_recordset(seen) as e (address text, mined_nonce bigint) on e.address = x.address
      where x.chain = on_chain and private.has_room(x, e.mined_nonce)
      order by x.used_at nulls first limit 1 for update of x skip locked)
     -- Checked again now that nobody else can lease it.
     and private.is_free(g)
  returning g.lease, g.address, g.next_nonce;
end $$;

-- Leases a relayer for five seconds and claims the waiting calls for it. With `with_own` it leaves room for a payment
-- that is about to be signed and counts as `units` calls; otherwise it serves the queue alone. A call that counts
-- as several goes alone, once it is the first in the queue. Returns null if no relayer is free, or nothing waits.
create function private.claim_gas_payer(
  on_chain bigint, seen jsonb, with_own boolean, units integer default 1)
  returns private.relay_claim language plpgsql as $$
declare
  calls_max constant integer := 25;
  leased record;
  claimed private.relay_claim;
  until timestamptz := private.clock() + interval '5 seconds';
  alone bigint;
begin
  if not private.has_caught_up(on_chain) then
    return null;
  end if;
  select * into leased from private.lease_gas_payer(on_chain, seen, until);
  if not found then
    return null;
  end if;
  claimed.lease := leased.lease;
  claimed.chain := on_chain;
  claimed.gas_payer := leased.address;
  claimed.nonce := leased.nonce;
  if not with_own then
    select f.id into alone from (
      select w.id, private.call_units(p) as units from private.waiting_calls(on_chain) w
        join private.payments p on p.id = w.payment order by w.turn, w.id limit 1) f where f.units > 1;
  end if;
  -- Chosen once, before the update. A plan that chose again for each row would not see the rows that it has
  -- already updated, and would exceed the limit.
  with chosen as materialized (
    select q.id from private.relay_calls q where not (with_own and units > 1) and q.id in (
      select w.id from private.waiting_calls(on_chain) w join private.payments p on p.id = w.payment
       where case when alone is null then private.call_units(p) = 1 else w.id = alone end
       order by w.turn, w.id limit calls_max - with_own::integer)
     for update skip locked
  ), taken as (
    update private.relay_calls c set claim = claimed.lease, claimed_until = until
     where c.id in (select h.id from chosen h)
       and c.slot is null and (c.claimed_until is null or c.claimed_until <= private.clock())
    returning c.*
  )
  select coalesce(jsonb_agg(private.call_json(t, p) order by t.id), '[]') into claimed.calls
    from taken t join private.payments p on p.id = t.payment;
  -- Another caller is taking everything that waited, and it looks at the queue again afterwards.
  if claimed.calls = '[]' and not with_own then
    update private.gas_payers g set lease = null, leased_until = null
     where g.lease = claimed.lease;
    return null;
  end if;
  select k.envelope, k.owner into claimed.envelope, claimed.owner from private.custody_keys k
   where k.address = claimed.gas_payer and k.owner = 'relayer';
  return claimed;
end $$;

-- Returns the slots of a wallet that are in flight: the open ones that the chain's count has not passed.
create function private.slots_in_flight(on_chain bigint, wallet text)
  returns setof private.relay_slots language sql stable as $$
  select s.* from private.relay_slots s
    join private.gas_payers g on g.chain = s.chain and g.address = s.gas_payer
   where s.chain = on_chain and s.gas_payer = wallet and s.state = 'open' and s.nonce >= g.mined_nonce
$$;

-- Returns what a wallet's transactions in flight and a new one can cost together, with each of them at the
-- higher of its own price and the new one's.
create function private.own_gas_needed(on_chain bigint, wallet text, cost_wei numeric)
  returns numeric language sql stable as $$
  select own_gas_needed.cost_wei + coalesce(sum(greatest(own_gas_needed.cost_wei, dearest.wei)), 0)
    from private.slots_in_flight(on_chain, wallet) s
    left join lateral (select max(t.cost_wei) as wei from private.relay_transactions t
      where t.slot = s.id) dearest on true
$$;

-- True if a wallet has as many transactions in flight as nodes keep of one sender.
create function private.is_full(on_chain bigint, wallet text) returns boolean
  language sql stable as $$
  select count(*) >= 16 from private.slots_in_flight(on_chain, wallet)
$$;

-- Leases a wallet that pays for its own transfer. Its nonce follows the count that enough
-- endpoints show. Returns null while another payment holds the lease of the wallet, or if the wallet is out of service.
create function private.claim_wallet(p private.payments, wallet_nonce bigint)
  returns private.relay_claim language plpgsql as $$
declare
  claimed private.relay_claim;
begin
  insert into private.gas_payers as g (chain, address, kind, next_nonce, mined_nonce)
  values (p.chain, p.wallet, 'wallet', wallet_nonce, wallet_nonce) on conflict do nothing;
  update private.gas_payers g set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '5 seconds',
    next_nonce = greatest(g.next_nonce, wallet_nonce)
   where g.chain = p.chain and g.address = p.wallet and g.paused_for is null
     and (g.leased_until is null or g.leased_until <= private.clock())
  returning g.lease, g.chain, g.address, g.next_nonce, '[]'::jsonb
  into claimed.lease, claimed.chain, claimed.gas_payer, claimed.nonce, claimed.calls;
  if not found then
    return null;
  end if;
  select k.envelope, k.owner into claimed.envelope, claimed.owner from private.custody_keys k
   where k.address = p.wallet and k.owner = p.account::text;
  return claimed;
end $$;

-- Stores the first transaction of a slot, which lets it out, and ends the lease of its gas payer. Answers false, with
-- everything back in the queue, if the lease was lost or a claimed call was withdrawn, as a freeze does.
create function private.fill_slot(
  held uuid, calls integer, hash text, raw text, max_fee numeric, max_priority_fee numeric,
  cost_wei numeric)
  returns boolean language plpgsql as $$
declare
  gas_payer private.gas_payers;
  filled bigint;
begin
  select g.* into gas_payer from private.gas_payers g where g.lease = held for update;
  perform from private.relay_calls c where c.claim = held and c.slot is null for update;
  if gas_payer.address is null or calls <>
    (select count(*) from private.relay_calls c where c.claim = held and c.slot is null)
  then
    update private.gas_payers g set lease = null, leased_until = null where g.lease = held;
    update private.relay_calls c set claim = null, claimed_until = null
     where c.claim = held and c.slot is null;
    return false;
  end if;
  insert into private.relay_slots (chain, gas_payer, nonce)
  values (gas_payer.chain, gas_payer.address, gas_payer.next_nonce) returning id into filled;
  insert into private.relay_transactions values (filled, 1, hash, raw, max_fee, max_priority_fee,
    cost_wei, (select coalesce(array_agg(c.payment), '{}') from private.relay_calls c
      where c.claim = held and c.slot is null));
  with sent as (
    update private.relay_calls c set slot = filled, claim = null, claimed_until = null,
      tries = c.tries + 1
     where c.claim = held and c.slot is null returning c.payment
  )
  update private.payments p set tx_hash = hash, finality = 'submitted' from sent s
   where p.id = s.payment and p.state = 'signed' and p.block_hash is null;
  update private.gas_payers g set lease = null, leased_until = null, next_nonce = g.next_nonce + 1
   where g.lease = held;
  return true;
end $$;

-- Locks the accounts of claimed calls and of a payment, so that a freeze sees what is stored or this sees the
-- freeze. As everywhere, this lock is taken before any other.
create function private.hold_claimed(held uuid, payment uuid default null) returns void
  language plpgsql as $$
begin
  perform private.hold_payers(array(select c.payment from private.relay_calls c
    where c.claim = held and c.slot is null) || hold_claimed.payment);
end $$;

-- Takes the lock that keeps wakeups from being lost. A caller that queues a call holds it shared and then
-- looks for a free relayer; a caller that frees a relayer holds it alone and then looks at the queue. So one of
-- them sees the other.
create function private.lock_queue(on_chain bigint, alone boolean) returns void
  language plpgsql as $$
begin
  if alone then
    perform pg_catalog.pg_advisory_xact_lock(7319, on_chain::integer);
  else
    perform pg_catalog.pg_advisory_xact_lock_shared(7319, on_chain::integer);
  end if;
end $$;

-- True if relaying has to go on: calls wait and a relayer is free for them.
create function private.is_relay_needed(on_chain bigint, seen jsonb) returns boolean
  language plpgsql stable as $$
begin
  -- Most often it is the relayer that is missing, and the queue is long.
  return case when exists (select from private.gas_payers g
      join jsonb_to_recordset(seen) as e (address text, mined_nonce bigint) on e.address = g.address
      where g.chain = on_chain and private.has_room(g, e.mined_nonce))
    -- In the order of the queue, so that the first that waits ends the search.
    then exists (select from private.waiting_calls(on_chain) w order by w.turn, w.id limit 1) else false end;
end $$;
