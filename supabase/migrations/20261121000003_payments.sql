-- Payments: one row each, for transfers and x402 purchases alike, and the sums that limits are checked
-- against.

create table private.payments (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  key uuid not null references private.credentials,
  device text not null,
  -- The credential whose caps the payment counts against, if that is not `key`.
  budget uuid references private.credentials,
  kind text not null check (kind in ('transfer', 'x402')),
  state text not null default 'prepared' check (state in (
    'prepared', 'awaiting_confirmation', 'authorized', 'signed', 'settled',
    'released', 'expired', 'declined')),
  -- Claim of the Idempotency-Key, or of the challenge, that it was entered under, so that it is entered once.
  claim uuid,
  -- True if it was entered with an Idempotency-Key, which makes it a wish of its own.
  keyed boolean not null default false,
  chain bigint not null,
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  wallet text not null references private.wallets (address),
  payee text not null check (payee ~ '^0x[0-9a-fA-F]{40}$'),
  payee_alias text,
  amount_atomic numeric(78, 0) not null check (amount_atomic > 0),
  amount_usd_micros bigint not null check (amount_usd_micros > 0),
  -- Amount that the payee took, where it may take less than was authorized. It is shown and counts nowhere.
  settled_atomic numeric(78, 0) check (settled_atomic between 0 and amount_atomic),
  -- Protocol terms that must reach the paid request unchanged; empty for a transfer.
  terms jsonb not null default '{}',
  memo text,
  -- Words of the owner to the agent about a decline.
  decline_reason text check (length(decline_reason) between 1 and 280),
  -- SHA-256 of what is paid for (method, origin and path), by which its price and payee are remembered.
  resource text check (resource ~ '^[0-9a-f]{64}$'),
  -- True if the service itself received the challenge from the origin that is paid.
  heard boolean not null default false,
  -- The mandate that it was authorized under.
  mandate uuid,
  -- The owner's choices when approving it, each part of the terms: any key or app of the account may pay it,
  -- its payee becomes known, the device that asked for it becomes known.
  for_any_key boolean not null default false,
  remembers_payee boolean not null default false,
  remembers_device boolean not null default false,
  -- Whose confirmation it waits for, the last time that it was asked about.
  asked_level text check (asked_level in ('agent_asserted', 'user_session', 'user_passkey')),
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz not null,
  consent_level text check (consent_level in
    ('none', 'mandate', 'agent_asserted', 'user_session', 'user_passkey')),
  authorized_at timestamptz,
  valid_after bigint,
  valid_before bigint,
  -- The latest block at the time of authorization, if enough endpoints reported it. No log of the payment can
  -- be older.
  authorized_block bigint,
  -- End of the lease of the request that drives the sending. After it, another request may continue with the
  -- same signature.
  leased_until timestamptz,
  -- The nonce that its terms fix. Another payment may have the same one; only one of them is signed.
  fixed_nonce text check (fixed_nonce ~ '^0x[0-9a-f]{64}$'),
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  signature text,
  -- EIP-2612 permit that lets Permit2 take the amount. It accompanies a Permit2 permit if the allowance is
  -- not yet high enough.
  allowance_nonce text check (allowance_nonce ~ '^[0-9]{1,78}$'),
  allowance_signature text,
  tx_hash text check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- No chain reaches a height of 2^31.
  block_number bigint check (block_number between 0 and 2147483647),
  block_hash text,
  log_index integer,
  -- Number of calls for which relayers pay: those that it counts as, once for each slot that carries it.
  relayed_calls integer not null default 0,
  -- Network that the payer's account was opened from and shares relayed calls with; null for an account that
  -- shares none.
  sign_up_network text,
  finality text check (finality in ('submitted', 'reverted', 'included', 'safe', 'finalized',
    'reorged')),
  -- Time when its settlement was first seen.
  settled_at timestamptz,
  -- Time until which it counts against limits. An authorized payment counts for 20 seconds, after which
  -- custody keeps no signature. A signed one counts as long as the chain may still execute it, whatever its
  -- age and whatever endpoints show. A settled one counts until 24 hours after its
  -- signature's end.
  counts_until timestamptz generated always as (case
    when state = 'authorized'
      then (authorized_at at time zone 'utc' + interval '20 seconds') at time zone 'utc'
    when state = 'signed' then 'infinity'
    when state = 'settled'
      then (to_timestamp(valid_before) at time zone 'utc' + interval '24 hours') at time zone 'utc'
  end) stored,
  checked_at timestamptz,
  -- The account's number of freezes when it was authorized. A later freeze gives it up for good.
  freezes integer not null default 0,
  delivery jsonb,
  failure text,
  -- The wallet's balance of the token, as it was seen when the payment was entered.
  funds_atomic numeric(78, 0),
  funds_seen_at timestamptz,
  unique (account, kind, claim),
  unique (chain, token, wallet, authorization_nonce),
  -- Everything that counts as authorized has its consent, its time and its bounds.
  check (state in ('prepared', 'awaiting_confirmation', 'expired', 'declined')
    or (consent_level is not null and authorized_at is not null and valid_before is not null)),
  -- Only a final block settles a payment; before, a block is a note of one endpoint.
  check ((state = 'settled') = (finality is not distinct from 'finalized')),
  check (log_index is null or (tx_hash is not null and block_hash is not null)),
  check (settled_atomic is null or state in ('signed', 'settled')),
  check ((mandate is not null) = (consent_level is not distinct from 'mandate'))
);
alter table private.payments enable row level security;

-- The payments that count against limits now are one range of these indexes, however long the history is.
create index payments_counted on private.payments (account, counts_until)
  include (state, consent_level, amount_usd_micros, valid_before) where counts_until is not null;
create index payments_relayed on private.payments (account, chain, authorized_at)
  include (relayed_calls, state, counts_until, tx_hash) where relayed_calls > 0;
create index payments_relayed_of_network on private.payments (sign_up_network, chain, authorized_at)
  include (relayed_calls, state, counts_until, tx_hash) where relayed_calls > 0 and sign_up_network is not null;
create index payments_unsigned on private.payments (counts_until) where state = 'authorized';
create index payments_open on private.payments (chain, valid_before, id)
  where state = 'signed';
create index payments_open_of on private.payments (account)
  where state = 'signed';
create unique index payments_log on private.payments (chain, tx_hash, log_index)
  where state = 'settled';
-- Chains do not know each other's nonces, so the index covers all of them together.
create unique index payments_fixed_nonce on private.payments (wallet, fixed_nonce)
  where fixed_nonce is not null and authorization_nonce is not null;
create index payments_unused on private.payments (expires_at)
  where state in ('prepared', 'awaiting_confirmation');
create index payments_undecided on private.payments (account, key)
  where state in ('prepared', 'awaiting_confirmation');
create index payments_reserved on private.payments (wallet, chain, token)
  where state in ('authorized', 'signed');
create index payments_of_resource on private.payments (account, resource, settled_at desc)
  where resource is not null and (state = 'settled' or block_hash is not null);
create index payments_noted on private.payments (wallet, settled_at) where settled_at is not null;
create index payments_hash on private.payments (account, tx_hash) where tx_hash is not null;

-- True if it was signed as a Permit2 permit, which writes no log of its own.
create function private.is_permit(p private.payments) returns boolean
  language sql immutable as $$
  select p.terms ->> 'transfer_method' is not distinct from 'permit2'
$$;

-- True if a payment is in a block, as an endpoint shows it or for good.
create function private.is_in_block(p private.payments) returns boolean
  language sql immutable as $$
  select p.state = 'settled' or p.block_hash is not null
$$;

-- Returns the state as it is told: `settled` as soon as an endpoint shows it in a block, and `unknown` from a
-- merchant's answer until then. What counts follows from the state alone.
create function private.told_state(p private.payments) returns text
  language sql immutable as $$
  select case when p.state <> 'signed' then p.state when p.block_hash is not null then 'settled'
    when p.kind = 'x402' and (p.delivery is not null or p.finality = 'reorged') then 'unknown'
    else 'signed' end
$$;

-- Returns how many calls of a relayer's transaction a payment counts as. One with an order that its payee
-- carries out needs the gas of several, and goes alone: what it calls could use up the gas of others.
create function private.call_units(p private.payments) returns integer
  language sql immutable as $$
  select case when p.terms ? 'carrier' then 8 else 1 end
$$;

create type private.spending as (
  automatic bigint, asserted bigint, total bigint,
  automatic_resets_at timestamptz, asserted_resets_at timestamptz, total_resets_at timestamptz
);

create type private.payee_spending as (usd_micros bigint, resets_at timestamptz);

-- Returns the latest time when a counting payment leaves the windows: 24 hours after the end of its signature. What
-- the end has passed and the chain has not decided leaves at the earliest now.
create function private.leaves_at(state text, counts_until timestamptz, valid_before bigint, at timestamptz)
  returns timestamptz language sql stable as $$
  select case when state = 'settled' then counts_until else greatest(
    pg_catalog.to_timestamp(valid_before), at) + interval '24 hours' end
$$;

-- Sums of what is settled, in micro-USD, so that no window adds up a day of payments: of an account, of the budget
-- of a key or app, of a mandate, or of what agents sent to one payee on their own word. A row holds what leaves the
-- windows within five minutes from `leaves_from`; a mandate has one more with all that it ever paid, at infinity.
-- A trigger moves them in the transaction of the payment.
create table private.settled_sums (
  subject uuid not null,
  payee text not null default '',
  leaves_from timestamptz not null,
  automatic bigint not null,
  asserted bigint not null,
  total bigint not null,
  payments integer not null,
  primary key (subject, payee, leaves_from)
);
alter table private.settled_sums enable row level security;

create function private.five_minutes_of(at timestamptz) returns timestamptz
  language sql immutable as $$
  select pg_catalog.date_bin('5 minutes', at, '2000-01-01T00:00:00Z')
$$;

-- Returns the time before which payments leave the windows that are added up one by one. What is authorized, and
-- counts for 20 seconds, is among them.
create function private.near() returns timestamptz language sql stable as $$
  select private.five_minutes_of(private.clock() + interval '6 minutes')
$$;

-- Returns the sums that a settled payment is part of, with its part.
create function private.sums_with(p private.payments) returns table (
  subject uuid, payee text, leaves_from timestamptz, automatic bigint, asserted bigint, total bigint)
  language sql immutable as $$
  select v.subject, v.payee, v.leaves_from,
    case p.consent_level when 'none' then p.amount_usd_micros else 0 end,
    case p.consent_level when 'agent_asserted' then p.amount_usd_micros else 0 end, p.amount_usd_micros
  from private.five_minutes_of(p.counts_until) leaves_from, lateral (values
    (p.account, '', leaves_from), (coalesce(p.budget, p.key), '', leaves_from), (p.mandate, '', leaves_from),
    (p.mandate, '', 'infinity'), (case p.consent_level when 'agent_asserted' then p.account end, p.payee, leaves_from))
    v (subject, payee, leaves_from)
  where v.subject is not null
$$;

create function private.add_settled(p private.payments, times integer) returns void
  language plpgsql as $$
begin
  insert into private.settled_sums as s
  select v.subject, v.payee, v.leaves_from, times * v.automatic, times * v.asserted, times * v.total, times
  from private.sums_with(p) v order by v.subject, v.payee, v.leaves_from
  on conflict on constraint settled_sums_pkey do update set automatic = s.automatic + excluded.automatic,
    asserted = s.asserted + excluded.asserted, total = s.total + excluded.total,
    payments = s.payments + excluded.payments;
end $$;

create function private.count_settled() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.state = 'settled' then
    perform private.add_settled(old, -1);
  end if;
  if new.state = 'settled' then
    perform private.add_settled(new, 1);
  end if;
  return null;
end $$;
create trigger count_settled after insert or update of state, account, key, budget, mandate, payee, consent_level,
  amount_usd_micros, valid_before on private.payments for each row execute function private.count_settled();

-- Returns the payments of an account that count and are in no sum that is read: those that leave soon, and those
-- that are signed.
create function private.counted_singly(spender uuid) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.account = spender and p.counts_until > private.clock() and p.counts_until < private.near()
  union all
  select p.* from private.payments p where p.account = spender and p.counts_until = 'infinity'
$$;

-- Returns the first time at which a settled payment leaves the windows, in the five minutes from a time. A level, a
-- payee, budgets or a mandate selects the payments that are meant.
create function private.first_to_leave(
  spender uuid, leaves_from timestamptz, level text, payee text default null, budgets uuid[] default null,
  mandate uuid default null)
  returns timestamptz language plpgsql stable as $$
begin
  return case when leaves_from is not null then (select min(p.counts_until) from private.payments p
   where p.account = spender and p.state = 'settled' and p.counts_until >= first_to_leave.leaves_from
     and p.counts_until < first_to_leave.leaves_from + interval '5 minutes'
     and (level is null or p.consent_level = level)
     and (first_to_leave.payee is null or p.payee = first_to_leave.payee)
     and (budgets is null or coalesce(p.budget, p.key) = any (budgets))
     and (first_to_leave.mandate is null or p.mandate = first_to_leave.mandate)) end;
end $$;

create type private.settled_use as (
  automatic bigint, asserted bigint, total bigint,
  automatic_from timestamptz, asserted_from timestamptz, total_from timestamptz
);

-- Returns what the sums of these subjects hold that leaves the windows at `near` or later, and from when on each part
-- begins to leave.
create function private.settled_use_of(subjects uuid[], near timestamptz, payee text default '')
  returns private.settled_use language plpgsql stable as $$
declare
  u private.settled_use;
begin
  select coalesce(sum(t.automatic), 0), coalesce(sum(t.asserted), 0), coalesce(sum(t.total), 0),
      min(t.leaves_from) filter (where t.automatic > 0), min(t.leaves_from) filter (where t.asserted > 0),
      min(t.leaves_from) filter (where t.total > 0)
    into u from private.settled_sums t
   where t.subject = any (subjects) and t.payee = settled_use_of.payee
     and t.leaves_from >= near and t.leaves_from < 'infinity';
  return u;
end $$;

-- Returns the sums that count now, in micro-USD. A window resets when the first payment leaves it.
create function private.spent(spender uuid) returns private.spending
  language plpgsql stable as $$
declare
  at constant timestamptz := private.clock();
  near constant timestamptz := private.near();
  s private.spending;
  f private.settled_use := private.settled_use_of(array[spender], near);
begin
  select
    coalesce(sum(p.amount_usd_micros) filter (where p.consent_level = 'none'), 0),
    coalesce(sum(p.amount_usd_micros) filter (where p.consent_level = 'agent_asserted'), 0),
    coalesce(sum(p.amount_usd_micros), 0),
    min(l.leaves_at) filter (where p.consent_level = 'none'),
    min(l.leaves_at) filter (where p.consent_level = 'agent_asserted'),
    min(l.leaves_at)
  into s.automatic, s.asserted, s.total,
    s.automatic_resets_at, s.asserted_resets_at, s.total_resets_at
  from private.counted_singly(spender) p,
    private.leaves_at(p.state, p.counts_until, p.valid_before, at) l (leaves_at);
  s.automatic := s.automatic + f.automatic;
  s.asserted := s.asserted + f.asserted;
  s.total := s.total + f.total;
  s.automatic_resets_at := least(s.automatic_resets_at, private.first_to_leave(spender, f.automatic_from, 'none'));
  s.asserted_resets_at := least(s.asserted_resets_at,
    private.first_to_leave(spender, f.asserted_from, 'agent_asserted'));
  s.total_resets_at := least(s.total_resets_at, private.first_to_leave(spender, f.total_from, null));
  return s;
end $$;

create function private.limits_json(a private.accounts, s private.spending) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'automatic_daily', jsonb_build_object(
      'limit', a.automatic_daily_limit_usd_micros::text,
      'spent', s.automatic::text, 'resets_at', s.automatic_resets_at),
    'asserted_daily', jsonb_build_object(
      'limit', a.asserted_daily_limit_usd_micros::text,
      'spent', s.asserted::text, 'resets_at', s.asserted_resets_at),
    'daily_spending_cap', jsonb_build_object(
      'limit', a.daily_spending_cap_usd_micros::text,
      'spent', s.total::text, 'resets_at', s.total_resets_at))
$$;

-- Returns the credential that a key or app stands for: itself, or the first one in the chain of those it
-- replaced.
create function private.holder_of(key uuid) returns uuid language plpgsql stable as $$
begin
  return (select coalesce(k.shares_budget_of, k.id) from private.credentials k where k.id = holder_of.key);
end $$;

-- Returns a payment in the form in which it leaves the database: money as text, times as RFC 3339. `asked_by`
-- and `paid_by` name the budgets of the requester and of the payer. A budget is a key or app together with
-- those that replace it.
create function private.payment_json(p private.payments) returns jsonb
  language sql stable as $$
  select to_jsonb(p) - array['key', 'device', 'budget', 'claim', 'keyed', 'fixed_nonce', 'leased_until',
      'checked_at', 'freezes', 'counts_until', 'relayed_calls', 'sign_up_network', 'remembers_device',
      'funds_atomic', 'funds_seen_at'] ||
    jsonb_build_object('state', private.told_state(p),
      'settled_at', case when private.is_in_block(p) then p.settled_at end,
      'amount_atomic', p.amount_atomic::text,
      'amount_usd_micros', p.amount_usd_micros::text, 'settled_atomic', p.settled_atomic::text,
      'asked_by', private.holder_of(p.key), 'paid_by', coalesce(p.budget, p.key),
      'remembered_device', case when p.remembers_device then p.device end)
$$;

create function private.recipient_known(payer uuid, payee text) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.known_recipients r
    where r.account = payer and r.chain_family = 'evm' and r.address = payee);
end $$;

create function private.device_known(p private.payments) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.known_devices d
    where d.account = p.account and d.key = p.key and d.fingerprint = p.device);
end $$;

-- Returns what agents moved to one address on their own word and that counts now, in micro-USD. Towards an
-- address that the owner does not know, all such payments are bounded together.
create function private.asserted_to(payer uuid, payee text) returns private.payee_spending
  language plpgsql stable as $$
declare
  at constant timestamptz := private.clock();
  near constant timestamptz := private.near();
  s private.payee_spending;
  f private.settled_use := private.settled_use_of(array[payer], near, payee);
begin
  select coalesce(sum(p.amount_usd_micros), 0),
    min(private.leaves_at(p.state, p.counts_until, p.valid_before, at))
    into s.usd_micros, s.resets_at from private.counted_singly(payer) p
   where p.payee = asserted_to.payee and p.consent_level = 'agent_asserted';
  s.usd_micros := s.usd_micros + f.total;
  s.resets_at := least(s.resets_at, private.first_to_leave(payer, f.total_from, 'agent_asserted', payee));
  return s;
end $$;

-- Returns a known recipient that shares the first and last four hex digits with another address, the mark of
-- address poisoning. Null if there is none.
create function private.similar_recipient(payer uuid, payee text) returns text
  language plpgsql stable as $$
begin
  return (select r.address from private.known_recipients r
   where r.account = payer and r.address <> payee
     and lower(left(r.address, 6)) = lower(left(payee, 6))
     and lower(right(r.address, 4)) = lower(right(payee, 4))
   limit 1);
end $$;

-- Returns the payees, assets and highest price of earlier payments for the resource of a payment, from the 20
-- that settled last. Lists are empty and the price null for a transfer.
create function private.resource_history(p private.payments) returns jsonb
  language plpgsql stable as $$
begin
  return (select jsonb_build_object(
    'payees', coalesce(jsonb_agg(distinct h.payee), '[]'),
    'assets', coalesce(jsonb_agg(distinct jsonb_build_object('chain', h.chain, 'token', h.token)), '[]'),
    'highest_usd_micros', max(h.amount_usd_micros)::text)
  from (select o.payee, o.chain, o.token, o.amount_usd_micros from private.payments o
     where o.account = p.account and o.resource = p.resource and (o.state = 'settled' or o.block_hash is not null)
     order by o.settled_at desc limit 20) h);
end $$;

-- Returns how much of a wallet's token is reserved and may still leave it.
create function private.reserved_in(of_wallet text, on_chain bigint, of_token text) returns numeric
  language plpgsql stable as $$
begin
  return (select coalesce(sum(o.amount_atomic), 0) from private.payments o
   where o.wallet = of_wallet and o.chain = on_chain and o.token = of_token
     and o.state in ('authorized', 'signed') and o.block_hash is null
     and o.counts_until > (select private.clock()));
end $$;

-- Returns the same for the wallet and the token of a payment.
create function private.reserved_atomic(p private.payments) returns numeric
  language sql stable as $$
  select private.reserved_in(p.wallet, p.chain, p.token)
$$;

-- Returns the newest of the signatures that reserve it.
create function private.open_nonces(of_wallet text, on_chain bigint, of_token text) returns jsonb
  language plpgsql stable as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('nonce', o.authorization_nonce, 'is_permit', private.is_permit(o),
    'amount_atomic', o.amount_atomic::text)), '[]')
  from (select s.* from private.payments s
     where s.wallet = of_wallet and s.chain = on_chain and s.token = of_token and s.state = 'signed'
       and s.block_hash is null
     order by s.authorized_at desc limit 20) o);
end $$;

-- Returns the balance that was seen when a purchase was entered, less what was seen to leave the wallet since;
-- null if that is more than 30 seconds ago, or if more left than was seen.
create function private.funds_seen(p private.payments) returns numeric
  language plpgsql stable as $$
begin
  return (select f.left_atomic from (select p.funds_atomic - coalesce(sum(o.amount_atomic), 0) as left_atomic
      from private.payments o where o.wallet = p.wallet and o.chain = p.chain and o.token = p.token
        and o.settled_at >= p.funds_seen_at) f
   where f.left_atomic >= 0 and p.funds_seen_at > private.clock() - interval '30 seconds');
end $$;

-- Releases those of the given payments that are reserved and not signed. The caller holds the account's lock.
-- Custody keeps a signature only for a payment that is still authorized, so no signature follows the release.
create function private.release_unsigned(given_up uuid[], why text) returns void language sql as $$
  update private.payments p set state = 'released', finality = null, failure = why, relayed_calls = 0
   where p.id = any (given_up) and p.state = 'authorized'
$$;

-- True if a payment is reserved by the owner's own word and not yet signed. Until it is signed, that word can
-- be taken back.
create function private.is_approved_unsigned(p private.payments) returns boolean
  language sql immutable as $$
  select p.state = 'authorized' and p.consent_level in ('user_session', 'user_passkey')
$$;

-- Resets a reservation that ended unsigned when its payment is asked for again. The payment is then decided
-- anew, as if it had never been reserved.
create function private.reconsider(of_payment uuid, of_account uuid) returns void
  language plpgsql as $$
begin
  update private.payments p set authorized_at = null, consent_level = null, mandate = null,
    budget = null, authorized_block = null, valid_after = null, valid_before = null,
    allowance_nonce = null, leased_until = null, finality = null, relayed_calls = 0,
    state = case when exists (select from private.approvals o where o.payment = p.id)
      then 'awaiting_confirmation' else 'prepared' end
   where p.id = of_payment and p.account = of_account
     and p.state = 'authorized' and p.counts_until <= private.clock();
end $$;
