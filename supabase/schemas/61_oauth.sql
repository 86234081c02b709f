-- The authorization server (OAuth 2.1): apps, codes, grants and refresh tokens. Secrets arrive here as a
-- keyed hash. A grant is a row of private.credentials, so that everything that refers to an actor refers to
-- it as to a key, and private.admit accepts its access tokens.

create table private.oauth_codes (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  account uuid not null references private.accounts,
  -- The client's request, which redeeming the code must match, and in `replaces` the other app that the owner ends
  -- with it, if any.
  asked jsonb not null,
  scopes text[] not null,
  max_per_payment_usd_micros bigint,
  max_per_day_usd_micros bigint,
  days integer not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  granted uuid references private.credentials on delete cascade
);
alter table private.oauth_codes enable row level security;
create index oauth_codes_of_account on private.oauth_codes (account);
create index oauth_codes_age on private.oauth_codes (expires_at);
create index oauth_codes_of_grant on private.oauth_codes (granted);

-- Each grant has at most one unused token: its family has one living member.
create table private.oauth_refresh_tokens (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  granted uuid not null references private.credentials on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  successor text
);
alter table private.oauth_refresh_tokens enable row level security;
create unique index oauth_refresh_tokens_living on private.oauth_refresh_tokens (granted)
  where used_at is null;
create index oauth_refresh_tokens_of_grant on private.oauth_refresh_tokens (granted);
create index oauth_refresh_tokens_age on private.oauth_refresh_tokens (expires_at);
create index oauth_refresh_tokens_used_age on private.oauth_refresh_tokens (used_at)
  where used_at is not null;

-- Proofs (RFC 9449) and signed calls that were used, kept for longer than the two minutes that any is valid.
create table private.oauth_proofs (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  used_at timestamptz not null default private.clock()
);
alter table private.oauth_proofs enable row level security;
create index oauth_proofs_age on private.oauth_proofs (used_at);

-- Stores a registration. The number is limited for each network, and to 4,600 in an hour for all together.
create function api.oauth_register_client(client_id text, metadata jsonb, client text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  perform private.take_slowly_of_networks('oauth-register', client, 30, interval '20 seconds');
  perform private.take_slowly('oauth-register', 1000, interval '1 second');
  insert into private.oauth_clients (id, metadata) values (client_id, metadata);
  return true;
end $$;

create function api.oauth_find_client(client_id text) returns table (metadata jsonb)
  language sql stable security definer set search_path = '' as $$
  select c.metadata from private.oauth_clients c where c.id = client_id and c.good_until is null
$$;

-- Returns the kept document of a client, up to 30 days after its validity, and whether it is still valid. If it
-- is not, the caller fetches it. Fetches are limited for each host, and to 18,600 an hour for all hosts, whoever
-- causes them. A document that was valid until recently has its own limit, so requests for addresses without a
-- document do not lock out an app of the same host.
create function api.oauth_find_document(client_id text, host text)
  returns table (metadata jsonb, is_good boolean)
  language plpgsql security definer set search_path = '' as $$
begin
  select c.metadata, c.good_until > private.clock() into metadata, is_good
    from private.oauth_clients c
   where c.id = client_id and c.good_until > private.clock() - interval '30 days';
  if is_good then
    return next;
    return;
  end if;
  if found then
    perform private.take_slowly('oauth-document:' || client_id, 20, interval '3 seconds');
  else
    perform private.take_slowly('oauth-document:' || host, 20, interval '3 seconds');
    perform private.take_slowly('oauth-document', 600, interval '200 milliseconds');
  end if;
  is_good := false;
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

-- Ends a grant and all its tokens; answers false if it was already ended.
create function private.end_grant(ended uuid, because text) returns boolean
  language plpgsql as $$
begin
  perform private.hold_account(k.account) from private.credentials k where k.id = ended;
  update private.credentials k set revoked_at = private.clock()
   where k.id = ended and k.kind = 'oauth' and k.revoked_at is null;
  if found then
    update private.oauth_grants g set ended_because = because where g.credential = ended;
    delete from private.access_tokens t where t.granted = ended;
    if because <> 'replaced' then
      perform private.close_requests(k, case because when 'revoked by the app' then 'app'
        when 'reused' then 'service' else 'owner' end)
        from private.credentials k where k.id = ended;
    else
      delete from private.vault_sessions s where s.credential = ended;
    end if;
    return true;
  end if;
  return false;
end $$;

-- Spends codes that were issued and not redeemed: those of the app of this grant, or all. The caller holds the
-- account's lock, so no code is issued or redeemed meanwhile.
create function private.spend_codes(of_account uuid, app uuid default null)
  returns void language sql as $$
  update private.oauth_codes c set used_at = private.clock()
   where c.account = of_account and c.used_at is null and (app is null or exists (
     select from private.oauth_grants g where g.credential = app
       and g.client_id = c.asked ->> 'client_id'
       and g.redirect_host = c.asked ->> 'redirect_host'))
$$;

-- Decides whether the account has room for a grant to this app, which may replace an earlier one. It locks
-- the account, so that two grants do not take the same place.
create function private.has_place_for_app(of_account uuid, asked jsonb) returns boolean
  language plpgsql as $$
declare
  live_max constant integer := 20;
begin
  perform private.hold_account(of_account);
  return (select count(*) from private.credentials k
    join private.oauth_grants g on g.credential = k.id
   where k.account = of_account and private.is_grant_live(k)
     and not private.is_replaced(g, asked)) < live_max;
end $$;

-- Issues a code for what an app asked, which can be redeemed for this long. Each granted scope must have been asked
-- for, or be covered by one that was. `caller` is a session that was admitted to widen.
create function private.issue_code(
  caller private.credentials, code_digest text, asked jsonb, asked_scopes text[], scopes text[],
  days integer, max_per_payment_usd_micros text, max_per_day_usd_micros text, mail jsonb,
  redeemable interval)
  returns void language plpgsql as $$
begin
  if days not between 1 and 180 or cardinality(scopes) not between 1 and 4
    or not scopes <@ array['read', 'vault', 'pay', 'full']
    or not private.covers_all(asked_scopes, scopes) then
    perform private.refuse('invalid_request', '400');
  end if;
  if not private.has_place_for_app(caller.account, asked) then
    perform private.refuse('too_many_apps', '409');
  end if;
  perform private.hold_unfrozen(caller);
  perform private.limit_new_agents(caller.account);
  insert into private.oauth_codes (digest, account, asked, scopes, max_per_payment_usd_micros,
    max_per_day_usd_micros, days, expires_at)
  values (code_digest, caller.account, asked, scopes, max_per_payment_usd_micros::bigint,
    max_per_day_usd_micros::bigint, days, private.clock() + redeemable);
  update private.oauth_clients c set granted_at = private.clock()
   where c.id = asked ->> 'client_id';
  insert into private.activities (account, category, type, summary, untrusted)
  values (caller.account, 'security', 'app_connected', pg_catalog.format(
    'An app at %s was given access (%s) for %s days.', asked ->> 'redirect_host',
    pg_catalog.array_to_string(scopes, ', '), days),
    jsonb_build_object('app', asked ->> 'client_name'));
  perform private.enqueue_mail(caller.account, mail);
end $$;

-- Gives an app access, with a fresh proof: a code for what it asked.
create function api.owner_grant_access(
  credential text, code_digest text, asked jsonb, asked_scopes text[], scopes text[],
  days integer, max_per_payment_usd_micros text default null,
  max_per_day_usd_micros text default null, mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  perform private.issue_code(private.admit_owner(credential, 'widen'), code_digest, asked, asked_scopes, scopes,
    days, max_per_payment_usd_micros, max_per_day_usd_micros, mail, interval '1 minute');
  return true;
end $$;

-- Uses up a proof; answers false if it was used before.
create function private.spend_proof(proof_digest text) returns boolean
  language plpgsql as $$
begin
  insert into private.oauth_proofs (digest) values (proof_digest) on conflict do nothing;
  return found;
end $$;

-- Does the same for a call with an access token. Proofs of unknown callers are not stored.
create function api.spend_proof(credential text, proof_digest text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.recognize(credential, 'any');
  return private.spend_proof(proof_digest);
end $$;

-- Issues an access token and returns the seconds that it is valid for: 900 for reading, 300 for anything
-- more.
create function private.open_access(k private.credentials, digest text, scopes text[])
  returns integer language plpgsql as $$
declare
  seconds integer := least(case when scopes <@ array['read'] then 900 else 300 end,
    pg_catalog.floor(extract(epoch from k.expires_at - private.clock())));
begin
  insert into private.access_tokens (digest, granted, scopes, expires_at)
  values (digest, k.id, scopes, private.clock() + pg_catalog.make_interval(secs => seconds));
  return seconds;
end $$;

create function private.open_refresh(k private.credentials, digest text) returns void
  language sql as $$
  insert into private.oauth_refresh_tokens (digest, granted, expires_at)
  values (digest, k.id, least(k.expires_at, private.clock() + interval '30 days'))
$$;

-- Ends a grant because two parties hold a token that one should hold. The outcome `reused` means that the
-- owner has to be told.
create function private.end_reused(reused uuid) returns text language plpgsql as $$
begin
  if private.end_grant(reused, 'reused') then
    perform private.record_app(k, 'app_token_reused',
      'A code or token of an app at %s was used twice, so its access was ended.')
      from private.credentials k where k.id = reused;
    return 'reused';
  end if;
  return 'invalid_grant';
end $$;

-- Returns the error for an unknown code or token: a client that was deleted has to register again (RFC 6749
-- section 5.2).
create function private.unknown_grant(client_id text) returns text
  language sql stable as $$
  select case when client_id like 'aoa\_c\_%'
    and not exists (select from private.oauth_clients c where c.id = client_id)
    then 'invalid_client' else 'invalid_grant' end
$$;

-- Ends a live app because the owner let another one in instead. Nothing proves that both are the same program, so
-- mandates, approvals and requests end with it; what it spent counts against the other one's caps all the same.
create function private.supersede(begun private.credentials, k private.credentials) returns void
  language plpgsql as $$
declare
  first uuid := (private.spent_together(private.budget_of(k)))[1];
begin
  perform private.end_grant(k.id, 'disconnected');
  perform private.record_app(k, 'app_disconnected', 'The app at %s was disconnected: another took its place.');
  update private.oauth_grants g set spends_with = first
   where g.credential = any (private.spent_together(private.budget_of(begun))) and g.credential <> first;
end $$;

-- Creates the grant that a code was issued for. It replaces the grant that the same app had and continues its
-- budget, so reconnecting does not let an app move more in a day. Returns null if there is no room for it or the
-- account is frozen.
create function private.begin_grant(code private.oauth_codes, dpop_key text)
  returns private.credentials language plpgsql as $$
declare
  begun private.credentials;
  budget uuid;
begin
  if not private.has_place_for_app(code.account, code.asked)
    or exists (select from private.accounts a
      where a.id = code.account and a.frozen_at is not null) then
    return null;
  end if;
  select private.budget_of(k) into budget from private.credentials k
    join private.oauth_grants g on g.credential = k.id
   where k.account = code.account and private.is_same_app(g, code.asked)
   order by k.created_at desc limit 1;
  perform private.end_grant(k.id, 'replaced') from private.credentials k
    join private.oauth_grants g on g.credential = k.id
   where k.account = code.account and private.is_grant_live(k)
     and private.is_same_app(g, code.asked);
  insert into private.credentials (account, kind, label, shown, scopes, expires_at,
    max_per_payment_usd_micros, max_per_day_usd_micros, shares_budget_of)
  values (code.account, 'oauth', code.asked ->> 'client_name', code.asked ->> 'redirect_host',
    code.scopes, private.clock() + pg_catalog.make_interval(days => code.days),
    code.max_per_payment_usd_micros, code.max_per_day_usd_micros, budget)
  returning * into begun;
  insert into private.oauth_grants (credential, client_id, client_host, redirect_host, dpop_key)
  values (begun.id, code.asked ->> 'client_id', code.asked ->> 'client_host',
    code.asked ->> 'redirect_host', dpop_key);
  perform private.supersede(begun, k) from private.credentials k
    join private.oauth_grants g on g.credential = k.id
   where k.account = code.account and k.id <> begun.id and private.is_grant_live(k)
     and private.is_replaced(g, code.asked);
  update private.oauth_codes c set granted = begun.id where c.digest = code.digest;
  return begun;
end $$;

-- True if a code is redeemed by the client that asked for it, with the parameters it asked with.
create function private.is_redeemed_rightly(
  code private.oauth_codes, client_id text, redirect_uri text, challenge text, dpop_key text)
  returns boolean language sql stable as $$
  select code.expires_at > private.clock()
    and code.asked ->> 'client_id' is not distinct from client_id
    and code.asked ->> 'challenge' is not distinct from challenge
    and code.asked ->> 'redirect_uri' = coalesce(redirect_uri, code.asked ->> 'redirect_uri')
    and coalesce(code.asked ->> 'dpop_key' = dpop_key, code.asked -> 'dpop_key' = 'null')
    and (dpop_key is not null or not (code.asked -> 'is_bound')::boolean)
$$;

-- Turns a code into a grant with its first tokens, once: a failed try uses it up as well, and a second try
-- ends what the first one was given. A code that was issued to a device has neither challenge nor redirect_uri.
create function api.oauth_redeem_code(
  code_digest text, client_id text, challenge text, access_digest text, refresh_digest text,
  redirect_uri text default null, dpop_key text default null, proof_digest text default null)
  returns table (outcome text, scopes text[], seconds integer, refreshes boolean, ended uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  code private.oauth_codes;
  k private.credentials;
begin
  -- Locked before the code, in the same order as in functions that spend codes.
  perform private.hold_account(c.account) from private.oauth_codes c where c.digest = code_digest;
  update private.oauth_codes c set used_at = private.clock()
   where c.digest = code_digest and c.used_at is null returning * into code;
  if not found then
    select c.granted into ended from private.oauth_codes c where c.digest = code_digest;
    outcome := case when ended is null then private.unknown_grant(client_id)
      else private.end_reused(ended) end;
  elsif proof_digest is not null and not private.spend_proof(proof_digest) then
    outcome := 'invalid_dpop_proof';
  elsif not private.is_redeemed_rightly(code, client_id, redirect_uri, challenge, dpop_key) then
    outcome := 'invalid_grant';
  else
    k := private.begin_grant(code, dpop_key);
    outcome := case when k.id is null then 'invalid_grant' else 'granted' end;
  end if;
  if outcome = 'granted' then
    scopes := k.scopes;
    seconds := private.open_access(k, access_digest, scopes);
    refreshes := (code.asked -> 'refreshes')::boolean;
    if refreshes then
      perform private.open_refresh(k, refresh_digest);
    else
      update private.credentials c set expires_at = t.expires_at from private.access_tokens t
       where c.id = k.id and t.digest = access_digest;
    end if;
  end if;
  return next;
end $$;

-- Returns what becomes of a refresh token. Its first use counts. A client that did not get that answer may
-- repeat the request for half a minute, while the next token is unused. Any later use means that two parties
-- hold it.
create function private.refresh_outcome(
  k private.credentials, t private.oauth_refresh_tokens, successor_digest text)
  returns text language plpgsql as $$
begin
  if not private.is_grant_live(k) or t.expires_at <= private.clock() then
    return 'invalid_grant';
  end if;
  if t.used_at is null then
    return 'rotated';
  end if;
  if t.used_at > private.clock() - interval '30 seconds' and t.successor = successor_digest
    and exists (select from private.oauth_refresh_tokens r
      where r.digest = t.successor and r.used_at is null) then
    return 'repeated';
  end if;
  return private.end_reused(k.id);
end $$;

-- Turns a refresh token into its successor and an access token, with the scopes of the grant or fewer.
-- Requests of one family run one after the other.
create function api.oauth_refresh(
  refresh_digest text, successor_digest text, client_id text, access_digest text,
  asked_scopes text[] default null, dpop_key text default null, proof_digest text default null)
  returns table (outcome text, scopes text[], seconds integer, ended uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  t private.oauth_refresh_tokens;
  g private.oauth_grants;
  k private.credentials;
begin
  select c.* into k from private.oauth_refresh_tokens r
    join private.credentials c on c.id = r.granted
   where r.digest = refresh_digest for no key update of c;
  select r.* into t from private.oauth_refresh_tokens r where r.digest = refresh_digest;
  select x.* into g from private.oauth_grants x where x.credential = k.id;
  if k.id is null then
    outcome := private.unknown_grant(client_id);
  elsif g.client_id is distinct from client_id or g.dpop_key is distinct from dpop_key then
    outcome := 'invalid_grant';
  elsif not private.covers_all(k.scopes, asked_scopes) then
    outcome := 'invalid_scope';
  else
    perform private.take_slowly('oauth:' || k.id, 60, interval '30 seconds');
    outcome := case when proof_digest is null or private.spend_proof(proof_digest)
      then private.refresh_outcome(k, t, successor_digest) else 'invalid_dpop_proof' end;
  end if;
  if outcome = 'rotated' then
    update private.oauth_refresh_tokens r
       set used_at = private.clock(), successor = successor_digest where r.digest = t.digest;
    perform private.open_refresh(k, successor_digest);
  end if;
  if outcome in ('rotated', 'repeated') then
    scopes := coalesce(asked_scopes, k.scopes);
    seconds := private.open_access(k, access_digest, scopes);
  elsif outcome = 'reused' then
    ended := k.id;
  end if;
  return next;
end $$;

-- Returns the host of an app whose access was ended for reuse, for the mail to the owner; no row once the
-- owner was told.
create function api.oauth_ended_app(ended uuid) returns table (host text)
  language sql stable security definer set search_path = '' as $$
  select k.shown from private.credentials k
    join private.oauth_grants g on g.credential = k.id
   where k.id = ended and g.ended_because = 'reused' and not g.owner_notified
$$;

-- Tells the owner about it, once.
create function api.oauth_tell_owner(ended uuid, mail jsonb) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  update private.oauth_grants g set owner_notified = true
   where g.credential = ended and g.ended_because = 'reused' and not g.owner_notified;
  if found then
    perform private.enqueue_mail(k.account, mail) from private.credentials k where k.id = ended;
    return true;
  end if;
  return false;
end $$;

-- Revokes what a client no longer needs (RFC 7009): an access token alone, or by a refresh token the whole
-- grant. Every holder of a token may revoke it.
create function api.oauth_revoke(token_digest text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  delete from private.access_tokens t where t.digest = token_digest;
  perform private.record_app(k, 'app_disconnected', 'An app at %s gave up its access.')
    from private.oauth_refresh_tokens r join private.credentials k on k.id = r.granted
   where r.digest = token_digest and private.end_grant(k.id, 'revoked by the app');
  return true;
end $$;

grant execute on function api.oauth_register_client, api.oauth_find_client, api.oauth_find_document,
  api.oauth_keep_document, api.owner_grant_access, api.spend_proof, api.oauth_redeem_code, api.oauth_refresh,
  api.oauth_ended_app, api.oauth_tell_owner, api.oauth_revoke to service_role;
