-- Accounts, wallets, credentials, and the devices and recipients that an account knows.

-- Returns the form in which aliases that look alike are equal. shared/onboarding/alias.ts has the same rules,
-- for reserved names.
create function private.alias_look(alias text) returns text
  language sql immutable as $$
  select replace(replace(translate(alias, '01i-', 'oll'), 'rn', 'm'), 'vv', 'w')
$$;

create table private.accounts (
  id uuid primary key default gen_random_uuid(),
  alias text not null unique
    check (alias ~ '^[a-z][a-z0-9]*(-[a-z0-9]+)*$' and length(alias) between 3 and 32),
  created_at timestamptz not null default private.clock(),
  frozen_at timestamptz,
  -- Number of times the account was frozen.
  freezes integer not null default 0,
  -- Version of everything that decisions are made from, except spending. Each change increments it.
  facts_version integer not null default 1,
  automatic_daily_limit_usd_micros bigint not null default 200000000
    check (automatic_daily_limit_usd_micros >= 0),
  asserted_daily_limit_usd_micros bigint not null default 200000000
    check (asserted_daily_limit_usd_micros >= 0),
  asserted_new_recipient_limit_usd_micros bigint not null default 10000000
    check (asserted_new_recipient_limit_usd_micros >= 0),
  daily_spending_cap_usd_micros bigint not null default 1000000000
    check (daily_spending_cap_usd_micros >= 0),
  monthly_spending_cap_usd_micros bigint not null default 30000000000
    check (monthly_spending_cap_usd_micros >= 0),
  -- True if agents see the one-time codes and sign-in links of mails; otherwise they see handles.
  shows_codes boolean not null default false,
  -- Kept answers of sites to requests that were sent before are not given out (private.is_erased).
  site_answers_erased_at timestamptz,
  -- Time at which the owner closed it, and from which it is erased (84_closing.sql); then nothing is left to erase.
  closed_at timestamptz,
  erases_at timestamptz,
  check (erases_at is null or closed_at is not null)
);
alter table private.accounts enable row level security;

create index accounts_erased on private.accounts (erases_at) where erases_at is not null;

-- Of two aliases that look alike only one can be an account, so that money and mail do not go astray.
create unique index accounts_alias_look on private.accounts (private.alias_look(alias));

-- Networks from which accounts were opened in the last 30 days. Whoever opens many from one network has not so
-- many times what relayers carry. Accounts that the operator opens have none.
create table private.sign_up_networks (
  account uuid primary key references private.accounts,
  network text not null,
  opened_at timestamptz not null default private.clock()
);
alter table private.sign_up_networks enable row level security;
create index sign_up_networks_age on private.sign_up_networks (opened_at);

create table private.wallets (
  account uuid not null references private.accounts,
  chain_family text not null check (chain_family = 'evm'),
  -- EIP-55 form. Every writer canonicalises, so equal text means the same address.
  address text not null unique check (address ~ '^0x[0-9a-fA-F]{40}$'),
  primary key (account, chain_family)
);
alter table private.wallets enable row level security;

-- Sealed keys of wallets and relayers. Only functions granted to the custody role read them.
create table private.custody_keys (
  address text primary key check (address ~ '^0x[0-9a-fA-F]{40}$'),
  owner text not null,
  envelope jsonb not null
);
alter table private.custody_keys enable row level security;

-- Credentials that callers act with: an API key, the session of the owner's browser, or the grant that the
-- owner gave to an app (OAuth 2.1). Only a session has the scope `owner`, and it has no other scope, so
-- neither a key nor a grant can do what is reserved for the owner.
create table private.credentials (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  kind text not null default 'api_key' check (kind in ('api_key', 'session', 'oauth', 'owner')),
  -- HMAC-SHA-256 of the key or session id, with a pepper that the database never sees. Null for a grant,
  -- whose access tokens are stored separately because they change, and for the owner's own payer, which has none.
  digest text unique check (digest ~ '^[0-9a-f]{64}$'),
  label text not null check (length(label) between 1 and 64),
  shown text not null,
  scopes text[] not null check (case kind when 'session' then scopes = array['owner']
    else scopes <@ array['read', 'pay', 'full', 'vault'] end),
  burst integer not null default 600 check (burst > 0),
  per_second integer not null default 100 check (per_second > 0),
  -- True if the credential may read secrets of the vault; otherwise it may only have them used.
  reads_secrets boolean not null default false,
  -- Caps on what the credential may move by itself, at any consent level. Null means that only the account's
  -- caps apply.
  max_per_payment_usd_micros bigint check (max_per_payment_usd_micros >= 0),
  max_per_day_usd_micros bigint check (max_per_day_usd_micros >= 0),
  -- The key or grant that this one replaced. What either of them moves counts against the caps of both.
  shares_budget_of uuid references private.credentials,
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_on date,
  check ((kind in ('oauth', 'owner')) = (digest is null))
);
alter table private.credentials enable row level security;
create index credentials_of_account on private.credentials (account);

-- Access tokens of grants. A token may have fewer scopes than its grant, never more: its scopes are checked
-- when it is created, and the scopes of a grant never change.
create table private.access_tokens (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  granted uuid not null references private.credentials on delete cascade,
  scopes text[] not null,
  expires_at timestamptz not null
);
alter table private.access_tokens enable row level security;
create index access_tokens_of_grant on private.access_tokens (granted);
create index access_tokens_by_end on private.access_tokens (expires_at);

-- A device is a credential together with a client fingerprint. Only an act of the owner makes devices and
-- recipients known: an act in a session with a fresh proof, or an approval whose digest includes it
-- (`consent`) and that the key or app `asked_by` had requested.
create table private.known_devices (
  account uuid not null references private.accounts,
  key uuid not null references private.credentials,
  fingerprint text not null,
  known_since timestamptz not null default private.clock(),
  session uuid not null references private.credentials,
  consent uuid,
  primary key (account, key, fingerprint)
);
alter table private.known_devices enable row level security;
create index known_devices_of_consent on private.known_devices (consent) where consent is not null;

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
alter table private.known_recipients enable row level security;
create index known_recipients_of_consent on private.known_recipients (consent)
  where consent is not null;

-- Locks an account until the transaction ends. Decisions about its money, and acts that end the right to
-- decide, therefore run one after the other. This is the weakest lock that ensures it, so rows that refer to
-- the account can be inserted meanwhile: where keys never pause, such inserts overlap without end, and a
-- freeze would have to wait for all of them.
create function private.hold_account(held uuid) returns private.accounts language plpgsql as $$
declare
  a private.accounts;
begin
  select x.* into a from private.accounts x where x.id = held for no key update;
  return a;
end $$;

-- Locks the caller's account and checks that the caller is still live. While it waited for the lock, the
-- credential may have been ended, or a proof may have given its session another id; then the call is refused.
-- Thus an act that ended a credential is final once it was answered, and an id that leaked before a proof is
-- worthless after it.
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

-- Refuses a frozen account and a caller that was ended, and locks the account so that neither happens before
-- the transaction ends. So nothing is booked after the answer to a freeze or to an end.
create function private.hold_unfrozen(caller private.credentials) returns void language plpgsql as $$
declare
  held private.accounts := private.hold_live(caller);
begin
  if held.frozen_at is not null then
    perform private.refuse('account_frozen', '403');
  end if;
end $$;

-- Returns the name of the actor as the feed shows it.
create function private.holder_name(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind when 'oauth' then 'app at ' when 'api_key' then 'key ' else '' end || k.shown
$$;

-- Returns the name of the actor as the owner sees it; null for the owner. An app's name is the app's own word
-- and must not appear in our sentences; private.own_name returns it separately.
create function private.holder_title(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind
    when 'oauth' then 'The app at ' || k.shown
    when 'api_key' then 'The key “' || k.label || '” (' || k.shown || ')' end
$$;

-- Returns the label that the owner gave a key. An app is named by its host, because its name is its own word.
create function private.plain_name(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind when 'oauth' then k.shown else k.label end
$$;

-- Returns what an app calls itself; null for every other credential.
create function private.own_name(k private.credentials) returns text
  language sql immutable as $$
  select case k.kind when 'oauth' then k.label end
$$;

-- Decides whether the held scopes cover the needed one. full covers pay; pay covers read and vault; vault
-- covers only itself; owner covers read, because the owner's pages show everything that is not sealed. Every
-- scope covers any.
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

-- True if some scopes cover each of others.
create function private.covers_all(held text[], needed text[]) returns boolean
  language sql immutable as $$
  select not exists (select from unnest(needed) n where not private.scope_covers(held, n))
$$;

-- Returns the live credential of a key, session id or access token, or null. A grant gets the scopes of the
-- token that was presented.
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

-- True if this is the credential of a session in which an owner is signed in.
create function private.is_session(credential text) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.credentials k
    where k.digest = credential and k.kind = 'session');
end $$;

-- Returns the caller after checking its scope, in the transaction of its request, or ends the call; what is written
-- then is charged to it. With
-- `unfrozen` it also refuses a frozen account, as money and secrets require. It does not count against the
-- rate: later calls of a request that was let in must not be refused for that.
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
  perform private.charge_to(case when found_key.kind in ('api_key', 'oauth')
    then coalesce(found_key.shares_budget_of, found_key.id) end);
  if unfrozen then
    select a.frozen_at into frozen_at from private.accounts a where a.id = found_key.account;
    if frozen_at is not null then
      perform private.refuse('account_frozen', '403');
    end if;
  end if;
  return found_key;
end $$;

-- Holds a key or an app, so that its end, which closes what it asked for, waits or is seen. Refuses one that
-- was ended meanwhile.
create function private.hold_credential(caller private.credentials) returns void language plpgsql as $$
begin
  perform from private.credentials k where k.id = caller.id and k.revoked_at is null
    and k.digest is not distinct from caller.digest
    and (k.expires_at is null or k.expires_at > private.clock()) for share;
  if not found then
    perform private.refuse('unauthorized', '401');
  end if;
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

-- Admits the caller and does nothing else, for requests that are refused before they have an effect.
create function api.check_admission(credential text, needed text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.admit(credential, needed);
  return true;
end $$;

-- Creates an account with its wallet and sealed key. Only the operator's scripts call it; it is not exposed.
-- The caller supplies the id because the wallet's key is sealed for it before the account exists.
create function private.open_account(opened uuid, alias text, address text, envelope jsonb)
  returns void language plpgsql as $$
begin
  insert into private.accounts (id, alias) values (opened, alias);
  insert into private.wallets values (opened, 'evm', address);
  insert into private.custody_keys values (address, opened::text, envelope);
end $$;

-- Creates an API key for an account. The database receives only its digest.
create function private.open_api_key(
  account uuid, digest text, label text, shown text, scopes text[], per_second integer,
  burst integer)
  returns void language sql as $$
  insert into private.credentials (account, digest, label, shown, scopes, per_second, burst)
  values (account, digest, label, shown, scopes, per_second, burst)
$$;

-- Admits a caller with at least this scope and returns its scopes, its name and its id: the key, session or
-- grant, which stays the same while tokens of a grant change. A call that the operation counts itself is not counted here.
create function api.identify_caller(credential text, needed text, counted boolean)
  returns table (caller uuid, scopes_held text[], label text)
  language plpgsql security definer set search_path = '' as $$
declare
  found_key private.credentials;
begin
  if counted then
    found_key := private.admit(credential, needed);
  else
    found_key := private.recognize(credential, needed);
  end if;
  return query select found_key.id, found_key.scopes, private.plain_name(found_key);
end $$;

grant execute on function api.check_admission, api.identify_caller to service_role;
