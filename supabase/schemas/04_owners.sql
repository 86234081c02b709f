-- The person who owns an account, and the sessions of their browsers. Functions that only the owner may call
-- are named api.owner_*, and each begins with private.admit_owner.

-- Returns the mailbox behind an address, as far as it can be known: the text after a plus is a label, and
-- Google ignores dots.
create function private.mailbox_of(email text) returns text language sql immutable as $$
  select case when pg_catalog.split_part(plain, '@', 2) in ('gmail.com', 'googlemail.com')
      then pg_catalog.replace(pg_catalog.split_part(plain, '@', 1), '.', '') || '@gmail.com'
      else plain end
    from pg_catalog.regexp_replace(pg_catalog.lower(email), '\+[^@]*@', '@') as plain
$$;

create table private.owners (
  account uuid primary key references private.accounts,
  -- Lower case: one mailbox, one account.
  email text not null unique check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$'),
  -- PHC string of argon2id; null for an owner who only has passkeys.
  password_hash text,
  password_set_at timestamptz not null default private.clock(),
  created_at timestamptz not null default private.clock(),
  -- A hold: from the use of a recovery code, or the removal of the last passkey, until its end nothing can be
  -- widened, shown or ended, and what is pending takes effect with its end. See private.acts.
  hold_began_at timestamptz,
  hold_until timestamptz,
  pending_password_hash text,
  pending_passkey_removal boolean not null default false,
  -- Notices that the owner does not want, as channel and kind. Mails about security are never left out.
  muted text[] not null default '{}'
    check (muted <@ array['mail:approvals', 'mail:logins', 'push:approvals', 'push:logins', 'push:security']),
  check ((hold_began_at is null) = (hold_until is null)),
  check (hold_until is not null or (pending_password_hash is null and not pending_passkey_removal))
);
alter table private.owners enable row level security;
create index owners_mailbox on private.owners (private.mailbox_of(email));

-- A change of the owner's mail address: asked for, confirmed with the code that went to the new address, and in effect
-- 72 hours later. Until then nothing depends on the new address. See 17_mail_address.sql.
create table private.mail_changes (
  account uuid primary key references private.accounts,
  email text not null check (email = lower(email) and length(email) <= 254 and email ~ '^[^@\s]+@[^@\s]+$'),
  -- HMAC of account, address and code with a pepper that the database never sees.
  code_digest text not null check (code_digest ~ '^[0-9a-f]{64}$'),
  asked_at timestamptz not null default private.clock(),
  tries integer not null default 0 check (tries between 0 and 5),
  -- Null until the code was entered.
  takes_effect_at timestamptz,
  -- Sealed mails about the outcome: `old` and `new` tell both addresses of the change, `kept` that there was none.
  mails jsonb,
  check ((takes_effect_at is null) = (mails is null))
);
alter table private.mail_changes enable row level security;
create index mail_changes_age on private.mail_changes (asked_at) where takes_effect_at is null;
create index mail_changes_due on private.mail_changes (takes_effect_at) where takes_effect_at is not null;

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
alter table private.sessions enable row level security;
create index sessions_age on private.sessions (ends_at);

-- The acts of an owner, each with the least proof that it takes and whether it is possible on hold. Every
-- function that a session may call names its act (private.admit_owner), and private.demand alone decides.
create table private.acts (
  act text primary key,
  -- A session; one that a recovery code opened; or one with a fresh proof: the passkey, or the password where the
  -- account has no passkey, given in the last ten minutes.
  proof text not null check (proof in ('session', 'code', 'fresh')),
  on_hold boolean not null,
  -- True if it is possible in a closed account.
  when_closed boolean not null,
  meaning text not null
);
alter table private.acts enable row level security;
insert into private.acts values
  ('look', 'session', true, true, 'Sees balances, payments, settings and the names of logins.'),
  ('prove', 'session', true, true, 'Gives a proof, which names the session anew.'),
  ('leave', 'session', true, true, 'Ends its own session.'),
  ('tighten', 'session', true, false, 'Freezes, lowers limits, caps and scopes, declines, suspends and revokes mandates, forgets.'),
  ('end', 'session', false, false, 'Ends keys, apps and browsers that receive notifications.'),
  ('sign_out', 'fresh', false, false, 'Ends other sessions.'),
  ('reveal', 'fresh', false, false, 'Sees passwords, codes and links of mails, and uses secrets.'),
  ('keep', 'fresh', false, false, 'Stores, changes and deletes logins, and deletes mails.'),
  ('approve', 'fresh', false, false, 'Approves payments, mandates and destinations of secrets.'),
  ('widen', 'fresh', false, false, 'Raises limits, caps and scopes, makes known, unfreezes, makes keys, lets apps in.'),
  ('ways', 'fresh', false, false, 'Changes mail address, password, passkeys and recovery codes.'),
  ('secure', 'fresh', false, false, 'Ends everything but itself.'),
  ('close', 'fresh', false, true, 'Closes the account, and reopens it.'),
  ('recover', 'code', true, true, 'Sets a password, and gives up passkeys, with the end of the hold.'),
  ('end_hold', 'fresh', true, true, 'Ends a hold, with what began it and what is pending.');

create table private.passkeys (
  -- Credential id of WebAuthn, base64url.
  id text primary key check (id ~ '^[A-Za-z0-9_-]+$' and length(id) <= 1400),
  account uuid not null references private.accounts,
  -- COSE key, base64url.
  public_key text not null check (length(public_key) <= 2048),
  -- Signature counter of the authenticator; always 0 if it does not count.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  label text not null check (length(label) between 1 and 64),
  created_at timestamptz not null default private.clock(),
  last_used_at timestamptz
);
alter table private.passkeys enable row level security;
create index passkeys_of_account on private.passkeys (account);

create function private.has_passkey(owner uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.passkeys k where k.account = owner);
end $$;

-- True if the mailbox of this address receives notices about some account.
create function private.is_owner_mailbox(address text) returns boolean language sql stable as $$
  select exists (select from private.owners o
    where private.mailbox_of(o.email) = private.mailbox_of(address))
$$;

-- True until a hold is completed, which happens at the next sign-in or act of the owner after its end.
create function private.is_on_hold(of_account uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.owners o where o.account = of_account and o.hold_until is not null);
end $$;

-- True if the owner gave a proof in this session in the last ten minutes: with a passkey that the account still has,
-- or with anything if it has none.
create function private.is_proven(caller private.credentials) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.sessions s where s.credential = caller.id
    and s.proven_at > private.clock() - interval '10 minutes'
    and (not private.has_passkey(caller.account)
      or exists (select from private.passkeys p where p.id = s.proven_by and p.account = caller.account)));
end $$;

-- True if the session was opened in this way.
create function private.signed_in_with(caller private.credentials, way text) returns boolean
  language sql stable as $$
  select exists (select from private.sessions s
    where s.credential = caller.id and s.signed_in_with = way)
$$;

-- Returns why a session may not do something now: 'account_on_hold' or 'proof_required'; null if it may. Consent with a
-- passkey that was verified is a proof by itself.
create function private.refusal_of(
  caller private.credentials, of_act text, is_consent boolean default false) returns text
  language plpgsql stable as $$
declare
  needed private.acts;
begin
  select a.* into strict needed from private.acts a where a.act = of_act;
  return case
    when not needed.on_hold and private.is_on_hold(caller.account) then 'account_on_hold'
    when needed.proof = 'code' and not private.signed_in_with(caller, 'recovery_code')
      or needed.proof = 'fresh' and not is_consent and not private.is_proven(caller)
    then 'proof_required' end;
end $$;

-- Refuses what a session may not do now.
create function private.demand(
  caller private.credentials, of_act text, is_consent boolean default false) returns void
  language plpgsql as $$
declare
  refusal text := private.refusal_of(caller, of_act, is_consent);
begin
  if exists (select from private.accounts a join private.acts t on t.act = of_act and not t.when_closed
    where a.id = caller.account and a.closed_at is not null) then
    perform private.refuse('account_frozen', '403');
  end if;
  if refusal is not null then
    perform private.refuse(refusal, '403');
  end if;
end $$;

-- Lifts a hold and drops what is pending.
create function private.lift_hold(of_account uuid) returns void language sql as $$
  delete from private.mail_changes m where m.account = of_account;
  update private.owners o set hold_began_at = null, hold_until = null, pending_password_hash = null,
    pending_passkey_removal = false where o.account = of_account
$$;

-- Completes a hold that is over: what was pending takes effect, and every session ends where somebody else may have
-- been let in by it. Answers false if there is none.
create function private.complete_hold(of_account uuid) returns boolean language plpgsql as $$
declare
  o private.owners;
begin
  select x.* into o from private.owners x
   where x.account = of_account and x.hold_until <= private.clock() for no key update;
  if not found then
    return false;
  end if;
  perform private.lift_hold(of_account);
  if o.pending_passkey_removal then
    delete from private.passkeys p where p.account = of_account;
  end if;
  if o.pending_password_hash is not null then
    update private.owners x set password_hash = o.pending_password_hash, password_set_at = private.clock()
     where x.account = of_account;
    update private.credentials k set revoked_at = private.clock()
     where k.account = of_account and k.kind = 'session' and k.revoked_at is null;
    update private.sessions s set browser = null
      from private.credentials k where k.id = s.credential and k.account = of_account;
  end if;
  return true;
end $$;

-- Begins a hold of 48 hours, or lets a standing one last as long from this time. What began it has the same time. A
-- closed account is not erased for a week after that, so that an owner with a recovery code can still reopen it.
create function private.begin_hold(of_account uuid, at timestamptz default private.clock()) returns void
  language sql as $$
  update private.accounts a set erases_at = greatest(a.erases_at, at + interval '9 days')
   where a.id = of_account and a.erases_at is not null;
  update private.owners o set hold_began_at = coalesce(o.hold_began_at, at), hold_until = at + interval '48 hours'
   where o.account = of_account
$$;

-- Returns the owner, admitted by a session to do something. What takes a fresh proof, or ends something, runs one
-- after the other and only in live sessions, so that an act that ended a session is final once it was answered.
create function private.admit_owner(credential text, of_act text) returns private.credentials
  language plpgsql as $$
declare
  caller private.credentials := private.admit(credential, 'owner');
begin
  if private.complete_hold(caller.account) or of_act not in ('look', 'prove', 'tighten') then
    perform private.hold_live(caller);
  end if;
  perform private.demand(caller, of_act);
  return caller;
end $$;
