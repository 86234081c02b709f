-- Accounts, wallets, credentials, and who is known to an account.

create table private.accounts (
  id uuid primary key default gen_random_uuid(),
  alias text not null unique
    check (alias ~ '^[a-z][a-z0-9]*(-[a-z0-9]+)*$' and length(alias) between 3 and 32),
  created_at timestamptz not null default private.clock(),
  frozen_at timestamptz,
  -- Grows with every change of what decisions are taken from, but for spending itself.
  facts_version integer not null default 1,
  automatic_daily_limit_usd_micros bigint not null default 200000000
    check (automatic_daily_limit_usd_micros >= 0),
  asserted_daily_limit_usd_micros bigint not null default 200000000
    check (asserted_daily_limit_usd_micros >= 0),
  asserted_new_recipient_limit_usd_micros bigint not null default 10000000
    check (asserted_new_recipient_limit_usd_micros >= 0),
  daily_spending_cap_usd_micros bigint not null default 1000000000
    check (daily_spending_cap_usd_micros >= 0),
  -- Whether agents are shown one-time codes and sign-in links of mails, or handles in their place.
  shows_codes boolean not null default false
);

create table private.wallets (
  account uuid not null references private.accounts,
  chain_family text not null check (chain_family = 'evm'),
  -- EIP-55 form; every writer canonicalises, so equality is identity.
  address text not null unique check (address ~ '^0x[0-9a-fA-F]{40}$'),
  primary key (account, chain_family)
);

-- Sealed keys of wallets and relayers. Only functions granted to the custody role read them.
create table private.custody_keys (
  address text primary key check (address ~ '^0x[0-9a-fA-F]{40}$'),
  owner text not null,
  envelope jsonb not null
);

-- What a caller acts by: an API key, the session of the owner's browser, or the grant that the owner gave
-- to an app (OAuth 2.1). Only a session has the scope `owner`, and it has no other: neither key nor grant
-- can do what is the owner's alone.
create table private.credentials (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  kind text not null default 'api_key' check (kind in ('api_key', 'session', 'oauth')),
  -- HMAC-SHA-256 of the key or session id with a pepper that the database never sees. A grant has none:
  -- its access tokens come and go.
  digest text unique check (digest ~ '^[0-9a-f]{64}$'),
  label text not null check (length(label) between 1 and 64),
  shown text not null,
  scopes text[] not null check (case kind when 'session' then scopes = array['owner']
    else scopes <@ array['read', 'pay', 'full', 'vault'] end),
  burst integer not null default 600 check (burst > 0),
  per_second integer not null default 100 check (per_second > 0),
  -- Whether it may read secrets of the vault; without that it may only have them used.
  reads_secrets boolean not null default false,
  -- What it may move by itself, whatever the consent; null is no cap but those of the account.
  max_per_payment_usd_micros bigint check (max_per_payment_usd_micros >= 0),
  max_per_day_usd_micros bigint check (max_per_day_usd_micros >= 0),
  -- The key or grant that it took the place of: what either moves counts against the caps of both.
  shares_budget_of uuid references private.credentials,
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- One that another took the place of freezes until then: whoever replaced it may not be the owner.
  brakes_until timestamptz,
  -- The session in which its owner ended it; null where it ended otherwise.
  revoked_by uuid references private.credentials,
  last_used_on date,
  check ((kind = 'oauth') = (digest is null))
);
create index credentials_of_account on private.credentials (account);

-- Access tokens of grants. A token may have less than its grant, never more: its scopes are checked when
-- it is made, and a grant's scopes do not change.
create table private.access_tokens (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  granted uuid not null references private.credentials on delete cascade,
  scopes text[] not null,
  expires_at timestamptz not null
);
create index access_tokens_of_grant on private.access_tokens (granted);
create index access_tokens_by_end on private.access_tokens (expires_at);

-- A device is a credential together with a client fingerprint. Devices and recipients become known by
-- an act of the owner alone: in a session with a fresh proof, or by an approval whose digest says so
-- (`consent`), which the key or app `asked_by` had asked for.
create table private.known_devices (
  account uuid not null references private.accounts,
  key uuid not null references private.credentials,
  fingerprint text not null,
  known_since timestamptz not null default private.clock(),
  session uuid not null references private.credentials,
  consent uuid,
  primary key (account, key, fingerprint)
);

create table private.known_recipients (
  account uuid not null references private.accounts,
  chain_family text not null check (chain_family = 'evm'),
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  known_since timestamptz not null default private.clock(),
  session uuid not null references private.credentials,
  consent uuid,
  asked_by uuid references private.credentials,
  primary key (account, chain_family, address),
  check ((consent is null) = (asked_by is null))
);

alter table private.accounts enable row level security;
alter table private.wallets enable row level security;
alter table private.custody_keys enable row level security;
alter table private.credentials enable row level security;
alter table private.access_tokens enable row level security;
alter table private.known_devices enable row level security;
alter table private.known_recipients enable row level security;

-- Holds an account until the transaction ends: who decides about its money, and who ends what may decide,
-- comes one after the other. It is held by the weakest lock that does that: rows that refer to the account are
-- entered meanwhile. They overlap without end where keys never pause, and a freeze would wait for all of them.
create function private.hold_account(held uuid) returns private.accounts language plpgsql as $$
declare
  a private.accounts;
begin
  select x.* into a from private.accounts x where x.id = held for no key update;
  return a;
end $$;

-- Whose act it was, as the feed tells it.
create function private.holder_name(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind when 'oauth' then 'app at ' else 'key ' end || k.shown
$$;

-- The same for its owner; null for the owner itself. The name of an app is its own word, which stands in
-- no sentence of ours: private.own_name tells it apart.
create function private.holder_title(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind
    when 'oauth' then 'The app at ' || k.shown
    when 'api_key' then 'The key “' || k.label || '” (' || k.shown || ')' end
$$;

-- The label that the owner gave a key; an app is told by where it is, for its name is its own word.
create function private.plain_name(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind when 'oauth' then k.shown else k.label end
$$;

-- What an app calls itself; null for all others.
create function private.own_name(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind when 'oauth' then k.label end
$$;

-- full covers pay, pay covers read and vault; vault covers nothing but itself; owner covers read, for its
-- pages show everything but what is sealed. Every scope covers any.
create function private.scope_covers(held text[], needed text) returns boolean
  language sql immutable as $$
  select case needed
    when 'any' then true
    when 'read' then held && array['read', 'pay', 'full', 'owner']
    when 'vault' then held && array['vault', 'pay', 'full']
    when 'pay' then held && array['pay', 'full']
    else needed = any (held)
  end
$$;

-- The credential of a key, session id or access token that is in service, or null. A grant has the scopes
-- of the token that it was reached by.
create function private.find_caller(credential text) returns private.credentials
  language plpgsql stable as $$
declare
  found_key private.credentials;
  token_scopes text[];
begin
  select k.* into found_key from private.credentials k
   where k.digest = credential and k.revoked_at is null
     and (k.expires_at is null or k.expires_at > private.clock());
  if not found then
    select t.granted, t.scopes into found_key.id, token_scopes from private.access_tokens t
     where t.digest = credential and t.expires_at > private.clock();
    select k.* into found_key from private.credentials k
     where k.id = found_key.id and k.revoked_at is null
       and (k.expires_at is null or k.expires_at > private.clock());
    if found then
      found_key.scopes := token_scopes;
    end if;
  end if;
  return found_key;
end $$;

create function private.demand_scope(caller private.credentials, needed text) returns void
  language plpgsql as $$
begin
  if not private.scope_covers(caller.scopes, needed) then
    perform private.refuse('insufficient_scope', '403',
      pg_catalog.jsonb_build_object('needed', needed, 'held', caller.scopes));
  end if;
end $$;

-- Finds the caller and checks its scope, in the transaction of what it came for, or ends the call.
-- With `unfrozen` a frozen account is turned away too: for money and for secrets. It counts against
-- no rate: the later calls of a request that was let in already must not be refused for that.
create function private.recognize(credential text, needed text, unfrozen boolean default false)
  returns private.credentials language plpgsql as $$
declare
  found_key private.credentials := private.find_caller(credential);
  frozen_at timestamptz;
begin
  if found_key.id is null then
    perform private.refuse('unauthorized', '401');
  end if;
  perform private.demand_scope(found_key, needed);
  if unfrozen then
    select a.frozen_at into frozen_at from private.accounts a where a.id = found_key.account;
    if frozen_at is not null then
      perform private.refuse('account_frozen', '403');
    end if;
  end if;
  return found_key;
end $$;

-- Holds the account of a caller that is in service still. Who waited for the account may have been ended
-- meanwhile, or its session have got another id by a proof: then it does nothing more, so that what ended it,
-- once that was answered, was the last word, and an id that leaked before a proof is worth nothing after it.
create function private.hold_live(caller private.credentials) returns private.accounts
  language plpgsql as $$
declare
  held private.accounts := private.hold_account(caller.account);
begin
  if not exists (select from private.credentials k where k.id = caller.id and k.revoked_at is null
    and k.digest is not distinct from caller.digest
    and (k.expires_at is null or k.expires_at > private.clock())) then
    perform private.refuse('unauthorized', '401');
  end if;
  return held;
end $$;

-- Recognizes the caller and counts the request against its rate.
create function private.admit(credential text, needed text, unfrozen boolean default false)
  returns private.credentials language plpgsql as $$
declare
  caller private.credentials := private.recognize(credential, needed, unfrozen);
  today date := private.clock()::date;
begin
  perform private.take('key:' || caller.id, caller.burst, caller.per_second);
  if caller.last_used_on is distinct from today then
    update private.credentials k set last_used_on = today where k.id = caller.id;
  end if;
  return caller;
end $$;

-- Lets the caller in and does nothing else: for requests that are refused before their effect.
create function api.check_admission(credential text, needed text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.admit(credential, needed);
  return true;
end $$;
grant execute on function api.check_admission to service_role;

-- What the operator's scripts open accounts with; it is not exposed. The id comes from outside
-- because the wallet's key is sealed for it before the account exists.
create function private.open_account(opened uuid, alias text, address text, envelope jsonb)
  returns void language plpgsql as $$
begin
  insert into private.accounts (id, alias) values (opened, alias);
  insert into private.wallets values (opened, 'evm', address);
  insert into private.custody_keys values (address, opened::text, envelope);
end $$;

-- Puts a key into service for an account; only its digest ever reaches the database.
create function private.open_api_key(
  account uuid, digest text, label text, shown text, scopes text[], per_second integer,
  burst integer)
  returns void language sql as $$
  insert into private.credentials (account, digest, label, shown, scopes, per_second, burst)
  values (account, digest, label, shown, scopes, per_second, burst)
$$;
