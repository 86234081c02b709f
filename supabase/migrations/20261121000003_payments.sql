-- Payments: one row each, transfers and x402 alike, and the sums that limits are judged by.

create table private.payments (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  key uuid not null references private.credentials,
  device text not null,
  -- The credential whose caps it counts against, where that is not `key`.
  budget uuid references private.credentials,
  kind text not null check (kind in ('transfer', 'x402')),
  state text not null default 'prepared' check (state in (
    'prepared', 'awaiting_confirmation', 'authorized', 'signed', 'unknown',
    'settled', 'released', 'expired', 'declined')),
  -- The claim of an Idempotency-Key under which it was entered, so that it is entered once.
  claim uuid,
  chain bigint not null,
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  wallet text not null references private.wallets (address),
  payee text not null check (payee ~ '^0x[0-9a-fA-F]{40}$'),
  payee_alias text,
  amount_atomic numeric(78, 0) not null check (amount_atomic > 0),
  amount_usd_micros bigint not null check (amount_usd_micros > 0),
  -- Where the payee may take less than was authorized: what it took. It may be nothing.
  settled_atomic numeric(78, 0) check (settled_atomic between 0 and amount_atomic),
  -- What counts against limits: the whole amount until it is final that less was taken, since another
  -- block may take more; then what was taken, rounded up.
  counted_usd_micros bigint not null generated always as (case
    when settled_atomic is null or finality is distinct from 'finalized' then amount_usd_micros
    else div(amount_usd_micros * settled_atomic + amount_atomic - 1, amount_atomic)::bigint end) stored,
  -- Protocol terms that must reach the paid request unchanged; empty for a transfer.
  terms jsonb not null default '{}',
  memo text,
  -- SHA-256 of what is paid for (method, origin and path), so that its price and payee are remembered.
  resource text check (resource ~ '^[0-9a-f]{64}$'),
  -- Whether the service itself heard the challenge from the origin that is paid.
  heard boolean not null default false,
  -- Under which it was authorized.
  mandate uuid,
  -- What the owner ticked when approving it, each a part of the terms: any key or app of the account may
  -- pay it; its payee is known from then on; the device that asked for it is.
  for_any_key boolean not null default false,
  remembers_payee boolean not null default false,
  remembers_device boolean not null default false,
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz not null,
  consent_level text check (consent_level in
    ('none', 'mandate', 'agent_asserted', 'user_session', 'user_passkey')),
  authorized_at timestamptz,
  valid_after bigint,
  valid_before bigint,
  -- The latest block when it was authorized, where enough endpoints told it: no log of it can be older.
  authorized_block bigint,
  -- Who drives the sending now; after this time another request may go on with the same signature.
  leased_until timestamptz,
  -- The nonce that its terms fix, which they may share with another payment: one of them is signed.
  fixed_nonce text check (fixed_nonce ~ '^0x[0-9a-f]{64}$'),
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  signature text,
  -- Beside a Permit2 permit, where Permit2 may not take enough yet: the EIP-2612 permit that lets it.
  allowance_nonce text check (allowance_nonce ~ '^[0-9]{1,78}$'),
  allowance_signature text,
  tx_hash text check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- No chain reaches a height of 2^31.
  block_number bigint check (block_number between 0 and 2147483647),
  block_hash text,
  log_index integer,
  -- Was settled in a block that is gone.
  reopened boolean not null default false,
  finality text check (finality in ('submitted', 'reverted', 'included', 'safe', 'finalized',
    'reorged')),
  -- When it settled, as far as limits go, and when it was first booked in the block `settled_in`
  -- (private.settles_at). All stay when the settlement is taken back, so that the same block shown again
  -- starts no new day.
  settled_at timestamptz,
  settled_in text,
  placed_at timestamptz,
  -- Until when it counts against limits: what may still be signed for the 20 seconds after which custody
  -- keeps no signature, what the chain may still execute whatever its age, and what settled for 24
  -- hours from its authorization or its settlement, whichever was later.
  counts_until timestamptz generated always as (case
    when state = 'authorized'
      then (authorized_at at time zone 'utc' + interval '20 seconds') at time zone 'utc'
    when state in ('signed', 'unknown') then 'infinity'
    -- Until its block is final, another one may use the signature as late as it is good.
    when state = 'settled' then (greatest(authorized_at, settled_at,
        case when finality is distinct from 'finalized' then to_timestamp(valid_before + 900) end)
      at time zone 'utc' + interval '24 hours') at time zone 'utc' end) stored,
  checked_at timestamptz,
  delivery jsonb,
  failure text,
  unique (account, kind, claim),
  unique (chain, token, wallet, authorization_nonce),
  -- Nothing counts as authorized without its consent, its time and its bounds.
  check (state in ('prepared', 'awaiting_confirmation', 'expired', 'declined')
    or (consent_level is not null and authorized_at is not null and valid_before is not null)),
  -- Settled is in a block; which one may stay unknown only of what is final.
  check (state <> 'settled' or finality is not null),
  check (state <> 'settled' or block_hash is not null or finality = 'finalized'),
  check (log_index is null or (tx_hash is not null and block_hash is not null)),
  check (settled_atomic is null or state = 'settled'),
  -- Less than was authorized is booked by its own log alone.
  check (settled_atomic is null or settled_atomic = amount_atomic or log_index is not null),
  check ((mandate is not null) = (consent_level is not distinct from 'mandate'))
);
alter table private.payments enable row level security;

-- What counts against limits now is one range of these, however long the history is.
create index payments_counted on private.payments (account, counts_until)
  include (state, consent_level, counted_usd_micros, valid_before) where counts_until is not null;
create index payments_of_budget on private.payments (coalesce(budget, key), counts_until)
  include (state, counted_usd_micros, valid_before) where counts_until is not null;
create index payments_unsigned on private.payments (counts_until) where state = 'authorized';
create index payments_watched on private.payments (account, checked_at nulls first)
  where state in ('signed', 'unknown') or state = 'settled' and finality <> 'finalized';
create unique index payments_log on private.payments (chain, tx_hash, log_index)
  where state = 'settled';
-- The chains know nothing of each other's nonces.
create unique index payments_fixed_nonce on private.payments (wallet, fixed_nonce)
  where fixed_nonce is not null and authorization_nonce is not null;
create index payments_unused on private.payments (expires_at)
  where state in ('prepared', 'awaiting_confirmation');
create index payments_reserved on private.payments (wallet, chain, token)
  where state in ('authorized', 'signed', 'unknown');
create index payments_of_resource on private.payments (account, resource, settled_at desc)
  where state = 'settled' and resource is not null;
create index payments_hash on private.payments (account, tx_hash) where tx_hash is not null;

-- Whether it was signed as a permit of Permit2, which writes no log of its own.
create function private.is_permit(p private.payments) returns boolean
  language sql immutable as $$
  select p.terms ->> 'transfer_method' is not distinct from 'permit2'
$$;

create type private.spending as (
  automatic bigint, asserted bigint, total bigint,
  automatic_resets_at timestamptz, asserted_resets_at timestamptz, total_resets_at timestamptz
);

create type private.payee_spending as (usd_micros bigint, resets_at timestamptz);

-- When a payment that counts leaves the windows, at the latest: what is open may settle as late as its
-- signature ends, or be seen now to have settled.
create function private.leaves_at(state text, counts_until timestamptz, valid_before bigint)
  returns timestamptz language sql stable as $$
  select case state when 'settled' then counts_until else greatest(
    pg_catalog.to_timestamp(valid_before), private.clock()) + interval '24 hours' end
$$;

-- Sums of what counts, in micro-USD; a window resets when the first payment leaves it.
create function private.spent(spender uuid) returns private.spending
  language plpgsql stable as $$
declare
  s private.spending;
begin
  select
    coalesce(sum(p.counted_usd_micros) filter (where p.consent_level = 'none'), 0),
    coalesce(sum(p.counted_usd_micros) filter (where p.consent_level = 'agent_asserted'), 0),
    coalesce(sum(p.counted_usd_micros), 0),
    min(l.leaves_at) filter (where p.consent_level = 'none'),
    min(l.leaves_at) filter (where p.consent_level = 'agent_asserted'),
    min(l.leaves_at)
  into s.automatic, s.asserted, s.total,
    s.automatic_resets_at, s.asserted_resets_at, s.total_resets_at
  from private.payments p,
    private.leaves_at(p.state, p.counts_until, p.valid_before) l (leaves_at)
  where p.account = spender and p.counts_until > private.clock();
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

-- Whom a key or app stands for: itself, or the first of those whose place it takes.
create function private.holder_of(key uuid) returns uuid language sql stable as $$
  select coalesce(k.shares_budget_of, k.id) from private.credentials k where k.id = holder_of.key
$$;

-- The form in which a payment leaves the database: money as text, times as RFC 3339.
-- `asked_by` and `paid_by` are the budgets of who asked and of who pays: a key or app, and those that
-- take its place.
create function private.payment_json(p private.payments) returns jsonb
  language sql stable as $$
  select to_jsonb(p) - array['key', 'device', 'budget', 'claim', 'fixed_nonce', 'leased_until',
      'checked_at', 'counted_usd_micros', 'counts_until', 'reopened', 'settled_in', 'placed_at',
      'remembers_device'] ||
    jsonb_build_object('settled_at', case p.state when 'settled' then p.settled_at end,
      'amount_atomic', p.amount_atomic::text,
      'amount_usd_micros', p.amount_usd_micros::text, 'settled_atomic', p.settled_atomic::text,
      'asked_by', private.holder_of(p.key), 'paid_by', coalesce(p.budget, p.key),
      'remembered_device', case when p.remembers_device then p.device end)
$$;

create function private.recipient_known(payer uuid, payee text) returns boolean
  language sql stable as $$
  select exists (select from private.known_recipients r
    where r.account = payer and r.chain_family = 'evm' and r.address = payee)
$$;

create function private.device_known(p private.payments) returns boolean
  language sql stable as $$
  select exists (select from private.known_devices d
    where d.account = p.account and d.key = p.key and d.fingerprint = p.device)
$$;

-- What agents moved on their own word to one address and counts now, in micro-USD: to one that the
-- owner does not know it is bounded together, in however many payments.
create function private.asserted_to(payer uuid, payee text) returns private.payee_spending
  language plpgsql stable as $$
declare
  s private.payee_spending;
begin
  select coalesce(sum(p.counted_usd_micros), 0),
    min(private.leaves_at(p.state, p.counts_until, p.valid_before))
    into s.usd_micros, s.resets_at from private.payments p
   where p.account = payer and p.payee = asserted_to.payee and p.consent_level = 'agent_asserted'
     and p.counts_until > private.clock();
  return s;
end $$;

-- A known recipient that shares the first and last four hex digits with another address: the mark
-- of address poisoning. Null when there is none.
create function private.similar_recipient(payer uuid, payee text) returns text
  language sql stable as $$
  select r.address from private.known_recipients r
   where r.account = payer and r.address <> payee
     and lower(left(r.address, 6)) = lower(left(payee, 6))
     and lower(right(r.address, 4)) = lower(right(payee, 4))
   limit 1
$$;

-- What was paid for the resource of a payment before: to whom, in what, and for how much. The 20 that
-- settled last; nothing for a transfer.
create function private.resource_history(p private.payments) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'payees', coalesce(jsonb_agg(distinct h.payee), '[]'),
    'assets', coalesce(jsonb_agg(distinct jsonb_build_object('chain', h.chain, 'token', h.token)), '[]'),
    'lowest_usd_micros', min(h.amount_usd_micros)::text,
    'highest_usd_micros', max(h.amount_usd_micros)::text)
  from (select o.payee, o.chain, o.token, o.amount_usd_micros from private.payments o
     where o.account = p.account and o.resource = p.resource and o.state = 'settled'
     order by o.settled_at desc limit 20) h
$$;

-- What of a wallet's token is promised already and may still leave it.
create function private.reserved_atomic(p private.payments) returns numeric
  language sql stable as $$
  select coalesce(sum(o.amount_atomic), 0) from private.payments o
   where o.wallet = p.wallet and o.chain = p.chain and o.token = p.token
     and o.state in ('authorized', 'signed', 'unknown') and o.counts_until > private.clock()
$$;

-- Gives up payments of these that are reserved and not signed, under the lock of their account: custody keeps
-- a signature only for a payment that is still authorized, so none follows what gave them up.
create function private.release_unsigned(given_up uuid[], why text) returns void language sql as $$
  update private.payments p set state = 'released', finality = null, failure = why
   where p.id = any (given_up) and p.state = 'authorized'
$$;

-- Whether a payment is reserved and not signed by the owner's own word, which can be taken back until then.
create function private.is_approved_unsigned(p private.payments) returns boolean
  language sql immutable as $$
  select p.state = 'authorized' and p.consent_level in ('user_session', 'user_passkey')
$$;

-- Takes back a reservation that ended unsigned, when its payment is asked for again: it is decided
-- anew, with the gas for it, as if it had never been reserved.
create function private.reconsider(of_payment uuid, of_account uuid) returns void
  language plpgsql as $$
begin
  update private.payments p set authorized_at = null, consent_level = null, mandate = null,
    budget = null, authorized_block = null, valid_after = null, valid_before = null,
    allowance_nonce = null, leased_until = null, finality = null,
    state = case when exists (select from private.approvals o where o.payment = p.id)
      then 'awaiting_confirmation' else 'prepared' end
   where p.id = of_payment and p.account = of_account
     and p.state = 'authorized' and p.counts_until <= private.clock();
  if found then
    delete from private.gas_uses u where u.payment = of_payment and u.slot is null;
  end if;
end $$;
