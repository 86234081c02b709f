-- The person who owns an account, and the sessions of their browsers. Functions that only the owner may call
-- are named api.owner_*, and each begins with private.admit_owner.

create table private.owners (
  account uuid primary key references private.accounts,
  -- Lower case: one mailbox, one account.
  email text not null unique check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$'),
  -- PHC string of argon2id; null for an owner who only has passkeys.
  password_hash text,
  password_set_at timestamptz not null default private.clock(),
  -- Time since which whoever knows the password could prove to be the owner. A password that was set after a
  -- proof by the one before continues it; one that was set in another way begins anew.
  password_since timestamptz not null default private.clock(),
  created_at timestamptz not null default private.clock(),
  -- End of the guard after a recovery. A recovery code signs in at once, but no permission is widened until
  -- then: the owner is notified by mail and can take the account back meanwhile.
  guarded_until timestamptz,
  -- Creation time of the oldest of the recovery codes that caused the guard.
  guarding_since timestamptz,
  -- Time until which the account demands a passkey after its last one was removed.
  passkey_until timestamptz,
  -- Time since which the owner says that all passkeys are lost. Using any passkey clears it.
  passkeys_lost_at timestamptz
);

-- Sessions hold what only a session has. A session is also a credential: `expires_at` there is when it ends
-- unless it is used, and `revoked_at` when it was ended.
create table private.sessions (
  credential uuid primary key references private.credentials,
  signed_in_with text not null
    check (signed_in_with in ('sign_up', 'password', 'passkey', 'recovery_code')),
  -- Time when it ends, however much it is used.
  ends_at timestamptz not null,
  last_seen_at timestamptz not null default private.clock(),
  -- When the owner last gave a password or a passkey in this session.
  proven_at timestamptz not null default private.clock(),
  -- The passkey that it was proven with; null for a password.
  proven_by text,
  user_agent text not null check (length(user_agent) <= 256),
  -- Network address, as far as a trusted proxy told it.
  client text not null,
  -- Keyed digest of the cookie by which the browser is known when it signs in again; null if it is to be new.
  browser text check (browser ~ '^[0-9a-f]{64}$')
);
alter table private.owners enable row level security;

-- Returns the mailbox behind an address, as far as it can be known: the text after a plus is a label, and
-- Google ignores dots.
create function private.mailbox_of(email text) returns text language sql immutable as $$
  select case when pg_catalog.split_part(plain, '@', 2) in ('gmail.com', 'googlemail.com')
      then pg_catalog.replace(pg_catalog.split_part(plain, '@', 1), '.', '') || '@gmail.com'
      else plain end
    from pg_catalog.regexp_replace(pg_catalog.lower(email), '\+[^@]*@', '@') as plain
$$;
create index owners_mailbox on private.owners (private.mailbox_of(email));

-- True if the mailbox of this address receives notices about some account.
create function private.is_owner_mailbox(address text) returns boolean language sql stable as $$
  select exists (select from private.owners o
    where private.mailbox_of(o.email) = private.mailbox_of(address))
$$;
alter table private.sessions enable row level security;

-- True if an account accepts only a passkey as proof: it has one, or had one until recently. Passkeys that
-- the owner reported as lost stop counting after the three days of a recovery.
create function private.needs_passkey(of_account uuid) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.owners o
      where o.account = of_account and o.passkey_until > private.clock())
    or exists (select from private.passkeys p where p.account = of_account)
      and not exists (select from private.owners o where o.account = of_account
        and o.passkeys_lost_at <= private.clock() - interval '72 hours');
end $$;

-- True if a passkey is a valid proof in a session: it is older than the session, or the account's first one.
-- A later one may belong to somebody who held the session for a minute.
create function private.counts_in(s private.sessions, passkey text) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.passkeys p join private.credentials k on k.id = s.credential
    where p.id = passkey and p.account = k.account and (p.created_at <= k.created_at or p.is_first));
end $$;

-- True if the owner gave a proof in this session in the last ten minutes, with a passkey if the account needs
-- one.
create function private.is_proven(caller private.credentials) returns boolean
  language sql stable as $$
  select exists (select from private.sessions s where s.credential = caller.id
    and s.proven_at > private.clock() - interval '10 minutes'
    and (private.counts_in(s, s.proven_by) or not private.needs_passkey(caller.account)))
$$;

-- True if the session was opened in this way.
create function private.signed_in_with(caller private.credentials, way text) returns boolean
  language sql stable as $$
  select exists (select from private.sessions s
    where s.credential = caller.id and s.signed_in_with = way)
$$;

-- True if the account is guarded after a recovery; then no permission is widened.
create function private.is_guarded(caller private.credentials) returns boolean
  language sql stable as $$
  select exists (select from private.owners o where o.account = caller.account
    and o.guarded_until > private.clock())
$$;

create function private.demand_proof(caller private.credentials) returns void language plpgsql as $$
begin
  if not private.is_proven(caller) then
    perform private.refuse('proof_required', '403');
  end if;
end $$;

-- True if the owner has just given a proof and the account is not guarded.
create function private.is_fresh(caller private.credentials) returns boolean
  language sql stable as $$
  select private.is_proven(caller) and not private.is_guarded(caller)
$$;

create function private.demand_fresh(caller private.credentials) returns void language plpgsql as $$
begin
  perform private.demand_proof(caller);
  if private.is_guarded(caller) then
    perform private.refuse('account_guarded', '403');
  end if;
end $$;

-- Returns the owner, admitted by a session. With `fresh` the owner must have given a proof, and the account
-- must not be guarded after a recovery; everything that widens permissions needs this. Such calls run one
-- after the other and only in live sessions, so that "It was not me" ends everything that was made before it.
create function private.admit_owner(credential text, fresh boolean default false)
  returns private.credentials language plpgsql as $$
declare
  caller private.credentials := private.admit(credential, 'owner');
begin
  if fresh then
    perform private.hold_live(caller);
    perform private.demand_fresh(caller);
  end if;
  return caller;
end $$;
