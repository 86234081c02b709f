-- The person who owns an account, and the sessions of its browsers. What only the owner may do is a
-- function named api.owner_*, and each begins with private.admit_owner.

create table private.owners (
  account uuid primary key references private.accounts,
  -- Lower case: one mailbox, one account.
  email text not null unique check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$'),
  -- PHC string of argon2id; null for an owner who only has passkeys.
  password_hash text,
  password_set_at timestamptz not null default private.clock(),
  created_at timestamptz not null default private.clock(),
  -- Whoever holds a recovery code signs in at once, but nothing is widened until this time: the
  -- owner hears of it by mail, and can take the account back meanwhile.
  guarded_until timestamptz,
  -- When the oldest of the codes was made that guard it.
  guarding_since timestamptz,
  -- After its last passkey was removed the account asks for one until then.
  passkey_until timestamptz,
  -- Since when the owner says that all passkeys are lost; any use of one takes it back.
  passkeys_lost_at timestamptz
);

-- A session is a credential of its own: `expires_at` there is when it ends unless it is used, and
-- `revoked_at` when it was ended. Here is what only a session has.
create table private.sessions (
  credential uuid primary key references private.credentials,
  signed_in_with text not null
    check (signed_in_with in ('sign_up', 'password', 'passkey', 'recovery_code')),
  -- However much it is used, it ends then.
  ends_at timestamptz not null,
  last_seen_at timestamptz not null default private.clock(),
  -- When the owner last gave a password or a passkey in this session.
  proven_at timestamptz not null default private.clock(),
  -- The passkey that it was proven with; null for a password.
  proven_by text,
  user_agent text not null check (length(user_agent) <= 256),
  -- Network address, as far as a trusted proxy told it.
  client text not null
);
alter table private.owners enable row level security;

-- The mailbox behind an address, as far as it can be known: what follows a plus is a label, and Google
-- reads no dots.
create function private.mailbox_of(email text) returns text language sql immutable as $$
  select case when pg_catalog.split_part(plain, '@', 2) in ('gmail.com', 'googlemail.com')
      then pg_catalog.replace(pg_catalog.split_part(plain, '@', 1), '.', '') || '@gmail.com'
      else plain end
    from pg_catalog.regexp_replace(pg_catalog.lower(email), '\+[^@]*@', '@') as plain
$$;
create index owners_mailbox on private.owners (private.mailbox_of(email));

-- Whether who reads there gets notices about an account.
create function private.is_owner_mailbox(address text) returns boolean language sql stable as $$
  select exists (select from private.owners o
    where private.mailbox_of(o.email) = private.mailbox_of(address))
$$;
alter table private.sessions enable row level security;

-- Whether an account takes nothing but a passkey for a proof: it has one, or had one until lately. Passkeys
-- that the owner gave up for lost count no more after the three days of a recovery.
create function private.needs_passkey(of_account uuid) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.owners o
      where o.account = of_account and o.passkey_until > private.clock())
    or exists (select from private.passkeys p where p.account = of_account)
      and not exists (select from private.owners o where o.account = of_account
        and o.passkeys_lost_at <= private.clock() - interval '72 hours');
end $$;

-- Whether a passkey proves anything in a session: it is older than that, or the account's first one. One
-- that was added meanwhile may be of whoever has the session for a minute.
create function private.counts_in(s private.sessions, passkey text) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.passkeys p join private.credentials k on k.id = s.credential
    where p.id = passkey and p.account = k.account and (p.created_at <= k.created_at or p.is_first));
end $$;

-- Whether the owner has proven itself in this session a short time ago, with a passkey if it has one.
create function private.is_proven(caller private.credentials) returns boolean
  language sql stable as $$
  select exists (select from private.sessions s where s.credential = caller.id
    and s.proven_at > private.clock() - interval '10 minutes'
    and (private.counts_in(s, s.proven_by) or not private.needs_passkey(caller.account)))
$$;

-- Whether the session was opened so.
create function private.signed_in_with(caller private.credentials, way text) returns boolean
  language sql stable as $$
  select exists (select from private.sessions s
    where s.credential = caller.id and s.signed_in_with = way)
$$;

-- Whether the account is guarded after a recovery: then nothing is widened.
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

-- Whether the owner has just proven itself, and nobody recovered the account a short time ago.
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

-- Lets the owner in by a session. With `fresh` the owner has to have proven itself, and the account
-- must not be guarded after a recovery: for everything that widens what anybody may do. That comes one after
-- the other and by sessions that are not over yet, so that "It was not me" ends all that was made before it.
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
