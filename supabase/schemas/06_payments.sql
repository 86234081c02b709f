-- Payments: one row each, for transfers and x402 purchases alike.

-- True if a merchant has not processed a payment yet and wants to be asked again.
create function private.is_postponed(delivery jsonb) returns boolean language sql immutable as $$
  select coalesce(delivery @> '{"reasons": [{"code": "later"}]}'
    or delivery @> '{"reasons": [{"code": "settlement_pending"}]}', false)
$$;

-- True if a merchant refused a payment, or what was asked for with it, whatever it did with the money.
create function private.is_refused(delivery jsonb) returns boolean language sql immutable as $$
  select coalesce((delivery ->> 'status')::integer between 400 and 499, false)
    and not private.is_postponed(delivery)
$$;

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
  verified_with_merchant boolean not null default false,
  -- The mandate that it was authorized under.
  mandate uuid,
  -- The owner's choices when approving it, each part of the terms: any key or app of the account may pay it,
  -- its payee becomes known, the device that asked for it becomes known.
  for_any_key boolean not null default false,
  remembers_payee boolean not null default false,
  remembers_device boolean not null default false,
  -- The owner's choice that a payment of their own may pass the daily spending cap, a part of the terms too.
  passes_daily_cap boolean not null default false,
  -- Confirmation that it waits for, as of the last time that it was asked about.
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
  -- Codes of the reasons for which the payment was refused last; null once it passes or is asked about.
  refused_for text[],
  -- The wallet's balance of the token, as it was seen when the payment was entered.
  funds_atomic numeric(78, 0),
  funds_seen_at timestamptz,
  -- Time of its latest step, at which the owner's list shows it. Null while nobody was asked about it and nothing
  -- is reserved. That a block is final confirms a step and is none itself.
  latest_step_at timestamptz,
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
create index payments_refused on private.payments (account, resource, authorized_at desc)
  where state <> 'settled' and private.is_refused(delivery);
create index payments_waiting on private.payments (account, created_at desc)
  where state = 'awaiting_confirmation';
create index payments_paid on private.payments (account, payee)
  where state = 'settled' or block_hash is not null;
create index payments_age on private.payments (expires_at) where authorized_at is null;
create index payments_of_mandate on private.payments (mandate, authorized_at, id)
  include (state, amount_usd_micros, counts_until, valid_before) where mandate is not null;
create index payments_entered on private.payments (account, created_at desc);
create index payments_by_permit on private.payments (wallet, chain, token, lower(payee), amount_atomic)
  where terms ->> 'transfer_method' = 'permit2'
    and (state = 'signed' or state = 'settled' and block_hash is null);
create index payments_listed on private.payments (account, latest_step_at desc) where latest_step_at is not null;
create index payments_listed_of_key on private.payments (key, latest_step_at desc) where latest_step_at is not null;
create index payments_orders on private.payments (account, created_at desc, id desc)
  where terms ? 'carrier';

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

-- Returns the state as it is reported: `settled` as soon as an endpoint shows it in a block, and `unknown` from a
-- merchant's answer until then. What counts follows from the state alone.
create function private.reported_state(p private.payments) returns text
  language sql immutable as $$
  select case when p.state <> 'signed' then p.state when p.block_hash is not null then 'settled'
    when p.kind = 'x402' and (p.delivery is not null or p.finality = 'reorged') then 'unknown'
    else 'signed' end
$$;

-- Notes the time of a step. A quote that nobody was asked about ends without one, and so does what was refused.
create function private.note_step() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.state <> 'prepared' then
      new.latest_step_at := coalesce(new.settled_at, new.authorized_at, new.created_at);
    end if;
  elsif not ((old.latest_step_at is null or new.refused_for is not null)
      and new.state in ('prepared', 'expired', 'declined'))
    and (private.is_in_block(new) <> private.is_in_block(old)
      or new.state <> old.state and not private.is_in_block(new)) then
    new.latest_step_at := private.clock();
  end if;
  return new;
end $$;
create trigger note_step before insert or update of state, block_hash on private.payments
  for each row execute function private.note_step();

-- Returns how many calls of a relayer's transaction a payment counts as. One with an order that its payee
-- carries out needs the gas of several, and goes alone: what it calls could use up the gas of others.
create function private.call_units(p private.payments) returns integer
  language sql immutable as $$
  select case when p.terms ? 'carrier' then 8 else 1 end
$$;

-- Returns a payment in the form in which it leaves the database: money as text, times as RFC 3339. `asked_by`
-- and `paid_by` name the budgets of the requester and of the payer. A budget is a key or app together with
-- those that replace it.
create function private.payment_json(p private.payments) returns jsonb
  language sql stable as $$
  select to_jsonb(p) - array['key', 'device', 'budget', 'claim', 'keyed', 'fixed_nonce', 'leased_until',
      'checked_at', 'freezes', 'counts_until', 'relayed_calls', 'sign_up_network', 'remembers_device',
      'funds_atomic', 'funds_seen_at', 'latest_step_at'] ||
    jsonb_build_object('state', private.reported_state(p),
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

-- Decides whether a key or app may pay: the one that asked, or any of the account if the owner allowed it.
-- Once the payment is reserved, only the one that asked and the one that pays may continue it and learn its
-- outcome.
create function private.may_pay(p private.payments, payer uuid) returns boolean
  language sql stable as $$
  select private.holder_of(payer) = private.holder_of(p.key)
    or case when p.consent_level is null or p.state = 'authorized' and p.counts_until <= private.clock()
      then p.for_any_key else private.holder_of(payer) = coalesce(p.budget, p.key) end
$$;
