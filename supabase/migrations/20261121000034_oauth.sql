-- The authorization server (OAuth 2.1): apps, codes, grants and refresh tokens. What is secret comes here
-- as a keyed hash. A grant is a row of private.credentials, so that all that refers to who did something
-- refers to it as to a key, and its access tokens are let in by private.admit.

-- Apps as they describe themselves: those that registered (RFC 7591), and, for as long as they are good,
-- documents at the address that is their id.
create table private.oauth_clients (
  id text primary key check (length(id) <= 4096),
  metadata jsonb not null check (pg_column_size(metadata) <= 24 * 1024),
  created_at timestamptz not null default private.clock(),
  -- Of a document.
  good_until timestamptz,
  -- When it was last given access; a registration that never was is forgotten soon.
  granted_at timestamptz
);
create index oauth_clients_age on private.oauth_clients (created_at);

-- What is known of a grant beside its credential.
create table private.oauth_grants (
  credential uuid primary key references private.credentials on delete cascade,
  client_id text not null,
  -- Of the document that the client is described by; null for one that registered.
  client_host text,
  redirect_host text not null,
  -- Thumbprint (RFC 7638) of the key that its tokens are bound to.
  dpop_key text,
  ended_because text
);

create table private.oauth_codes (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  account uuid not null references private.accounts,
  -- What the client asked for and redeeming is held to.
  asked jsonb not null,
  scopes text[] not null,
  max_per_payment_usd_micros bigint,
  max_per_day_usd_micros bigint,
  days integer not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  granted uuid references private.credentials on delete cascade
);
create index oauth_codes_of_account on private.oauth_codes (account);
create index oauth_codes_age on private.oauth_codes (expires_at);
create index oauth_codes_of_grant on private.oauth_codes (granted);

-- Of each grant one is unused at most: its family has one living member.
create table private.oauth_refresh_tokens (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  granted uuid not null references private.credentials on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  successor text
);
create unique index oauth_refresh_tokens_living on private.oauth_refresh_tokens (granted)
  where used_at is null;
create index oauth_refresh_tokens_of_grant on private.oauth_refresh_tokens (granted);
create index oauth_refresh_tokens_age on private.oauth_refresh_tokens (expires_at);

alter table private.oauth_clients enable row level security;
alter table private.oauth_grants enable row level security;
alter table private.oauth_codes enable row level security;
alter table private.oauth_refresh_tokens enable row level security;

-- Takes in a registration. Each network registers few.
create function api.oauth_register_client(client_id text, metadata jsonb, client text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  perform private.take_slowly(
    'oauth-register:' || private.network_of(client), 30, interval '20 seconds');
  insert into private.oauth_clients (id, metadata) values (client_id, metadata);
  return true;
end $$;

create function api.oauth_find_client(client_id text) returns table (metadata jsonb)
  language sql stable security definer set search_path = '' as $$
  select c.metadata from private.oauth_clients c where c.id = client_id and c.good_until is null
$$;

-- The document of a client while it is good, else null; then the caller goes and reads it, which it does
-- seldom at one host, whoever makes it.
create function api.oauth_find_document(client_id text, host text) returns table (metadata jsonb)
  language plpgsql security definer set search_path = '' as $$
begin
  select c.metadata into metadata from private.oauth_clients c
   where c.id = client_id and c.good_until > private.clock();
  if not found then
    perform private.take_slowly('oauth-document:' || host, 20, interval '3 seconds');
  end if;
  return next;
end $$;

create function api.oauth_keep_document(client_id text, metadata jsonb, seconds integer)
  returns void language sql security definer set search_path = '' as $$
  insert into private.oauth_clients as c (id, metadata, good_until)
  values (client_id, metadata, private.clock() + pg_catalog.make_interval(secs => seconds))
  on conflict (id) do update
    set metadata = excluded.metadata, good_until = excluded.good_until
   where c.good_until is not null
$$;

create function private.is_grant_live(k private.credentials) returns boolean
  language sql stable as $$
  select k.kind = 'oauth' and k.revoked_at is null and k.expires_at > private.clock()
$$;

-- Ends a grant and all its tokens; whether it was in service.
create function private.end_grant(ended uuid, because text) returns boolean
  language plpgsql as $$
begin
  update private.credentials k set revoked_at = private.clock()
   where k.id = ended and k.kind = 'oauth' and k.revoked_at is null;
  if found then
    update private.oauth_grants g set ended_because = because where g.credential = ended;
    delete from private.access_tokens t where t.granted = ended;
    return true;
  end if;
  return false;
end $$;

-- Whether the account has room for a grant to this app, which may take the place of an earlier one. The
-- account is locked, so that two do not take the same place.
create function private.has_place_for_app(of_account uuid, asked jsonb) returns boolean
  language plpgsql as $$
declare
  live_max constant integer := 20;
begin
  perform from private.accounts a where a.id = of_account for update;
  return (select count(*) from private.credentials k
    join private.oauth_grants g on g.credential = k.id
   where k.account = of_account and private.is_grant_live(k)
     and (g.client_id, g.redirect_host) is distinct from
       (asked ->> 'client_id', asked ->> 'redirect_host')) < live_max;
end $$;

-- Gives an app access: a code for what it asked. More than to look on needs a fresh proof, and so does the
-- vault. Each scope was asked for, or is covered by one that was.
create function api.owner_grant_access(
  credential text, code_digest text, asked jsonb, asked_scopes text[], scopes text[],
  days integer, max_per_payment_usd_micros text default null,
  max_per_day_usd_micros text default null, mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials :=
    private.admit_owner(credential, not coalesce(scopes <@ array['read'], false));
begin
  if days not between 1 and 180 or cardinality(scopes) not between 1 and 4
    or not scopes <@ array['read', 'vault', 'pay', 'full']
    or exists (select from unnest(scopes) s where not private.scope_covers(asked_scopes, s)) then
    perform private.refuse('invalid_request', '400');
  end if;
  if not private.has_place_for_app(caller.account, asked) then
    perform private.refuse('too_many_apps', '409');
  end if;
  perform private.hold_unfrozen(caller.account);
  insert into private.oauth_codes (digest, account, asked, scopes, max_per_payment_usd_micros,
    max_per_day_usd_micros, days, expires_at)
  values (code_digest, caller.account, asked, scopes, max_per_payment_usd_micros::bigint,
    max_per_day_usd_micros::bigint, days, private.clock() + interval '1 minute');
  update private.oauth_clients c set granted_at = private.clock()
   where c.id = asked ->> 'client_id';
  insert into private.activities (account, category, type, summary, untrusted)
  values (caller.account, 'security', 'app_connected', pg_catalog.format(
    'An app at %s was given access (%s) for %s days.', asked ->> 'redirect_host',
    pg_catalog.array_to_string(scopes, ', '), days),
    jsonb_build_object('app', asked ->> 'client_name'));
  perform private.enqueue_mail(caller.account, mail);
  return true;
end $$;

grant execute on function api.oauth_register_client, api.oauth_find_client,
  api.oauth_find_document, api.oauth_keep_document, api.owner_grant_access to service_role;
