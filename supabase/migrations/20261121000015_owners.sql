-- The person who owns an account, and the sessions of its browsers. What only the owner may do is a
-- function named api.owner_*, and each begins with private.admit_owner.

create table private.owners (
  account uuid primary key references private.accounts,
  -- Lower case: one mailbox, one account.
  email text not null unique check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$'),
  -- PHC string of argon2id; null for an owner who only has passkeys.
  password_hash text,
  created_at timestamptz not null default private.clock()
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
  user_agent text not null check (length(user_agent) <= 256),
  -- Network address, as far as a trusted proxy told it.
  client text not null
);
alter table private.owners enable row level security;
alter table private.sessions enable row level security;

-- Lets the owner in by a session. With `fresh` the owner has to have proven itself a short time ago:
-- for everything that widens what anybody may do.
create function private.admit_owner(credential text, fresh boolean default false)
  returns private.credentials language plpgsql as $$
declare
  caller private.credentials := private.admit(credential, 'owner');
begin
  if fresh and not exists (select from private.sessions s where s.credential = caller.id
    and s.proven_at > private.clock() - interval '10 minutes') then
    perform private.refuse('proof_required', '403');
  end if;
  return caller;
end $$;
