-- Signing in, staying signed in and giving a proof again: sessions, passwords, passkeys and recovery codes.
-- Secrets are compared outside or as a keyed hash; no password reaches the database.

-- WebAuthn challenges that were given to a session. Each is taken once, by that session and for its purpose.
-- Challenges for signing in (shared/auth/sign-in.ts) are stored only once they were used.
create table private.ceremonies (
  challenge text primary key check (challenge ~ '^[A-Za-z0-9_-]{43}$'),
  purpose text not null check (purpose in ('login', 'register', 'prove')),
  holder text not null,
  expires_at timestamptz not null
);
alter table private.ceremonies enable row level security;
create index ceremonies_age on private.ceremonies (expires_at);

create table private.recovery_codes (
  account uuid not null references private.accounts,
  -- HMAC-SHA-256 with a pepper, as for API keys.
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default private.clock(),
  used_at timestamptz
);
alter table private.recovery_codes enable row level security;
create index recovery_codes_of_account on private.recovery_codes (account);

-- Takes one cell of a network, and one of the wider network, which has four times as many.
create function private.take_slowly_of_networks(
  taken text, client text, burst integer, every interval)
  returns void language plpgsql as $$
begin
  perform private.take_slowly(taken || ':' || private.network_of(client), burst, every);
  perform private.take_slowly(
    taken || ':wide:' || private.wide_network_of(client), 4 * burst, every / 4);
end $$;

-- True if the owner with this address signed in from this network before; false for an unknown address.
create function private.network_known(email text, network text) returns boolean
  language sql stable as $$
  select exists (select from private.owners o
    join private.credentials k on k.account = o.account and k.kind = 'session'
    join private.sessions s on s.credential = k.id
   where o.email = network_known.email and private.network_of(s.client) = network)
$$;

-- Names the count of failed attempts to sign in with this name from this network.
create function private.sign_in_bucket(email text, client text) returns text language sql stable as $$
  select 'sign-in:' || pg_catalog.md5(email) || ':' || private.network_of(client)
$$;

-- Counts one attempt to sign in. A name together with a network has the strictest limit. All networks
-- together are limited too, for one name and for all names, since an attempt costs a quarter of a second of
-- CPU. A network that the owner signed in from is exempt, so strangers who guess do not keep the owner out.
-- Unknown names are limited in the same way.
create function private.limit_sign_in(email text, client text) returns void language plpgsql as $$
declare
  name text := pg_catalog.md5(email);
  network text := private.network_of(client);
begin
  perform private.take_slowly(private.sign_in_bucket(email, client), 10, interval '5 minutes');
  if private.network_known(email, network) then
    perform private.take_slowly('sign-in:' || network, 60, interval '20 seconds');
  else
    perform private.take_slowly_of_networks('sign-in', client, 60, interval '20 seconds');
    perform private.take_slowly('sign-in', 600, interval '250 milliseconds');
    perform private.take_slowly('sign-in:' || name, 60, interval '1 minute');
  end if;
end $$;

-- Opens a session, always a new one: 30 minutes unless it is used, 12 hours at most. An account has at most
-- 20 that were opened in the same way; the one least recently seen makes room, so whoever can sign in in one way
-- ends no session of another.
create function private.open_session(
  of_account uuid, session_digest text, signed_in_with text, user_agent text, client text,
  passkey text default null, browser text default null)
  returns private.credentials language plpgsql as $$
declare
  at timestamptz := private.clock();
  opened private.credentials;
begin
  update private.credentials k set revoked_at = at where k.id in (
    select s.credential from private.sessions s join private.credentials c on c.id = s.credential
     where c.account = of_account and c.revoked_at is null and c.expires_at > at
       and s.signed_in_with = open_session.signed_in_with
     order by s.last_seen_at desc offset 19);
  insert into private.credentials (account, kind, digest, label, shown, scopes, expires_at)
  values (of_account, 'session', session_digest, 'Browser session', 'session', array['owner'],
    at + interval '30 minutes')
  returning * into opened;
  -- A recovery code is not a proof, because it may have been found on paper.
  insert into private.sessions
    (credential, signed_in_with, ends_at, last_seen_at, proven_at, proven_by, user_agent, client, browser)
  values (opened.id, signed_in_with, at + interval '12 hours', at,
    case when signed_in_with = 'recovery_code' then '-infinity' else at end, passkey,
    pg_catalog.left(user_agent, 256), client, browser);
  return opened;
end $$;

-- Tells the owner of a sign-in, unless the browser signed in to this account before, in the time that sessions are
-- kept.
create function private.tell_sign_in(owner uuid, browser text, mail jsonb) returns void
  language plpgsql as $$
begin
  if not exists (select from private.sessions s join private.credentials k on k.id = s.credential
    where k.account = owner and s.browser = tell_sign_in.browser) then
    perform private.enqueue_mail(owner, mail);
  end if;
end $$;

-- Returns the hash to compare a password with. Returns no row for an unknown address or an owner without a
-- password; the caller must hash a password for either, so that both take the same time.
create function api.login_find(email text, client text)
  returns table (password_hash text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.limit_sign_in(email, client);
  perform private.complete_hold(o.account) from private.owners o where o.email = login_find.email;
  return query select o.password_hash from private.owners o
   where o.email = login_find.email and o.password_hash is not null;
end $$;

-- Opens a session for a password that matched this hash, unless the hash changed meanwhile. `rehashed`
-- replaces a hash of older parameters.
create function api.login_with_password(
  email text, password_hash text, session_digest text, user_agent text, client text,
  rehashed text default null, mail jsonb default null, browser text default null)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  owner uuid;
begin
  update private.owners o set password_hash = coalesce(rehashed, o.password_hash)
   where o.email = login_with_password.email
     and o.password_hash = login_with_password.password_hash
  returning o.account into owner;
  if owner is not null then
    -- Only what failed counts against a name in its network.
    perform private.give_back(private.sign_in_bucket(email, client), interval '5 minutes');
    perform private.tell_sign_in(owner, browser, mail);
    return query select s.account, s.expires_at from private.open_session(
      owner, session_digest, 'password', user_agent, client, browser => browser) s;
  end if;
end $$;

-- Spends a recovery code. It signs in without being a proof, and begins a hold.
create function api.login_with_code(
  email text, code_digest text, session_digest text, user_agent text, client text,
  mail jsonb default null, browser text default null)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  owner uuid;
  at timestamptz := private.clock();
begin
  perform private.limit_sign_in(email, client);
  update private.recovery_codes r set used_at = at from private.owners o
   where r.digest = code_digest and r.used_at is null and o.account = r.account
     and o.email = login_with_code.email
  returning o.account into owner;
  if owner is not null then
    perform private.complete_hold(owner);
    perform private.begin_hold(owner, at);
    perform private.enqueue_mail(owner, mail);
    perform private.record_security(owner, 'recovery_code_used',
      'A recovery code was used to sign in.');
    return query select s.account, s.expires_at from private.open_session(
      owner, session_digest, 'recovery_code', user_agent, client, browser => browser) s;
  end if;
end $$;

-- Gives a challenge to a session for five minutes.
create function private.begin_ceremony(challenge text, purpose text, holder text)
  returns void language sql as $$
  insert into private.ceremonies
  values (challenge, purpose, holder, private.clock() + interval '5 minutes')
$$;

-- Takes a challenge, once. Answers true if it was given to this holder for this purpose and is still valid.
create function private.take_ceremony(taken text, for_purpose text, by_holder text)
  returns boolean language plpgsql as $$
declare
  was private.ceremonies;
begin
  delete from private.ceremonies c where c.challenge = taken returning * into was;
  return was.purpose is not distinct from for_purpose and was.holder is not distinct from by_holder
    and was.expires_at > private.clock();
end $$;

-- Returns what an assertion is verified with; no row if there is no such passkey.
create function api.login_find_passkey(passkey text)
  returns table (account_found uuid, public_key text, counter text, transports text[])
  language sql security definer set search_path = '' as $$
  select p.account, p.public_key, p.counter::text, p.transports
    from private.passkeys p where p.id = passkey
$$;

-- Records that a challenge signed in; answers false if it had before. It is kept for longer than it is valid.
create function private.spend_challenge(spent text, passkey text) returns boolean
  language plpgsql as $$
begin
  insert into private.ceremonies
  values (spent, 'login', passkey, private.clock() + interval '15 minutes')
  on conflict do nothing;
  return found;
end $$;

-- Records a verified assertion. Answers false if the counter moved meanwhile, since a copy may be in use. An
-- owner who uses a passkey has not lost them all, so a recovery does not remove them.
create function private.use_passkey(used text, counter_seen text, counter_now text)
  returns boolean language plpgsql as $$
declare
  of_account uuid;
begin
  update private.passkeys p set counter = counter_now::bigint, last_used_at = private.clock()
   where p.id = used and p.counter = counter_seen::bigint returning p.account into of_account;
  if found then
    update private.owners o set pending_passkey_removal = false
     where o.account = of_account and o.pending_passkey_removal and o.pending_password_hash is not null;
  end if;
  return of_account is not null;
end $$;

create function api.login_with_passkey(
  passkey text, counter_seen text, counter_now text, challenge text, session_digest text,
  user_agent text, client text, mail jsonb default null, browser text default null)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  owner uuid;
begin
  select p.account into owner from private.passkeys p where p.id = passkey;
  -- Locked before the passkey, in the same order as in functions that end passkeys.
  perform from private.owners o where o.account = owner for no key update;
  perform private.complete_hold(owner);
  if private.spend_challenge(challenge, passkey)
    and private.use_passkey(passkey, counter_seen, counter_now) then
    perform private.tell_sign_in(owner, browser, mail);
    return query select s.account, s.expires_at from private.open_session(
      owner, session_digest, 'passkey', user_agent, client, passkey, browser) s;
  end if;
end $$;

grant execute on function api.login_find, api.login_with_password, api.login_with_code, api.login_find_passkey,
  api.login_with_passkey to service_role;
