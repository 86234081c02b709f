-- The owner's functions for their own sessions, password, passkeys and recovery codes.

-- Reports all passkeys as lost, only in a session that a recovery code opened. Three days later a password is
-- a valid proof again, unless a passkey was used meanwhile. Answers false if nothing was reported.
create function api.owner_lose_passkeys(credential text, mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.hold_live(caller);
  update private.owners o set passkeys_lost_at = private.clock(),
    guarded_until = greatest(o.guarded_until, private.clock() + interval '72 hours')
   where o.account = caller.account and o.passkeys_lost_at is null
     and private.signed_in_with(caller, 'recovery_code') and private.has_passkey(caller.account);
  if found then
    perform private.record_security(caller.account, 'passkeys_lost',
      'All passkeys were given up for lost. In three days a password can take their place.');
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return found;
end $$;
grant execute on function api.owner_lose_passkeys to service_role;

-- Returns the owner, admitted to set a password: after a proof, or in a session that a recovery code opened,
-- because an owner who lost everything else cannot give a proof. If there are passkeys, they must have been
-- reported as lost first. Nothing else about signing in can change while the account is guarded, so somebody
-- who found a code leaves the owner's ways in as they are.
create function private.admit_proven(credential text) returns private.credentials
  language plpgsql as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.hold_live(caller);
  if not private.signed_in_with(caller, 'recovery_code') or exists (select from private.owners o
    where o.account = caller.account and o.passkeys_lost_at is null
      and exists (select from private.passkeys p where p.account = o.account)) then
    perform private.demand_proof(caller);
  end if;
  return caller;
end $$;

-- Refuses a caller that may not end credentials which could freeze the account: a key, an app or another
-- session. After a recovery only a session opened with a passkey may, because no passkey can be added
-- meanwhile. So somebody who found a code cannot keep the owner from freezing the account.
create function private.demand_brake(caller private.credentials) returns void language plpgsql as $$
begin
  if private.is_guarded(caller) and not private.signed_in_with(caller, 'passkey') then
    perform private.refuse('account_guarded', '403');
  end if;
end $$;

-- Refuses a session without a fresh proof to end one that was proven after it: all others if none is named.
create function private.demand_newer_proof(caller private.credentials, target uuid default null)
  returns void language plpgsql as $$
begin
  if exists (select from private.sessions s join private.credentials k on k.id = s.credential
    where k.account = caller.account and k.id <> caller.id and k.revoked_at is null
      and k.id = coalesce(target, k.id)
      and s.proven_at > (select own.proven_at from private.sessions own where own.credential = caller.id))
  then
    perform private.demand_proof(caller);
  end if;
end $$;

-- Records that the session was used and extends it, never past its final end.
create function api.owner_touch_session(credential text) returns table (expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  update private.sessions s set last_seen_at = private.clock() where s.credential = caller.id;
  return query
  update private.credentials k
     set expires_at = least(s.ends_at, private.clock() + interval '30 minutes')
    from private.sessions s where k.id = caller.id and s.credential = k.id
  returning k.expires_at;
end $$;

-- Makes the browser of a session new again, or every browser but the caller's own: the owner is told if one signs in
-- after its session was ended from elsewhere.
create function private.forget_browsers(caller private.credentials, session uuid default null)
  returns void language sql as $$
  update private.sessions s set browser = null from private.credentials k
   where k.id = s.credential and k.account = caller.account
     and (session is null or s.browser = (select x.browser from private.sessions x
       where x.credential = session))
     and s.browser is distinct from (select x.browser from private.sessions x
       where x.credential = caller.id)
$$;

-- Ends a session of the account, the caller's own if none is named. Answers false if there is none.
create function api.owner_end_session(credential text, session uuid default null) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  -- Waits for what is being done in the session; nothing of it is answered after this.
  perform private.hold_live(caller);
  if session <> caller.id then
    perform private.demand_brake(caller);
    perform private.demand_newer_proof(caller, session);
    perform private.forget_browsers(caller, session);
  end if;
  update private.credentials k set revoked_at = private.clock()
   where k.id = coalesce(session, caller.id) and k.account = caller.account and k.kind = 'session'
     and k.revoked_at is null;
  return found;
end $$;

create function private.end_other_sessions(caller private.credentials) returns void
  language sql as $$
  select private.forget_browsers(caller);
  update private.credentials k set revoked_at = private.clock()
   where k.account = caller.account and k.kind = 'session' and k.id <> caller.id
     and k.revoked_at is null
$$;

create function api.owner_end_other_sessions(credential text) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.hold_live(caller);
  perform private.demand_brake(caller);
  perform private.demand_newer_proof(caller);
  perform private.end_other_sessions(caller);
  return true;
end $$;

-- Returns everything that the owner's security page shows, and what a proof can be given with.
create function api.owner_security(credential text) returns table (security jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  return query
  select jsonb_build_object(
    'account_id', o.account, 'email', o.email, 'has_password', o.password_hash is not null,
    -- True if the actions on this page need no proof first.
    'is_proven', private.signed_in_with(caller, 'recovery_code') or private.is_proven(caller) and (
      select s.proven_at > private.clock() - interval '9 minutes' from private.sessions s
       where s.credential = caller.id),
    'is_recovered', private.signed_in_with(caller, 'recovery_code'),
    'needs_passkey', private.needs_passkey(o.account),
    'passkeys_lost_at', o.passkeys_lost_at,
    'is_fresh', private.is_fresh(caller),
    'guarded_until', case when o.guarded_until > private.clock() then o.guarded_until end,
    'recovery_codes_left', (select count(*) from private.recovery_codes r
      where r.account = o.account and r.used_at is null),
    'passkeys', coalesce((select jsonb_agg(jsonb_build_object('id', p.id, 'label', p.label,
        'transports', p.transports, 'created_at', p.created_at, 'last_used_at', p.last_used_at)
        order by p.created_at) from private.passkeys p where p.account = o.account), '[]'),
    'sign_ins', coalesce((select jsonb_agg(s.shown order by s.created_at desc) from (
      select k.created_at, jsonb_build_object('id', k.id, 'is_this', k.id = caller.id,
        'is_live', k.revoked_at is null and k.expires_at > private.clock(),
        'signed_in_with', s.signed_in_with, 'signed_in_at', k.created_at,
        'last_seen_at', s.last_seen_at, 'user_agent', s.user_agent, 'client', s.client) as shown
      from private.credentials k join private.sessions s on s.credential = k.id
     where k.account = o.account
     order by (k.revoked_at is null and k.expires_at > private.clock()) desc, k.created_at desc
     limit 30) s), '[]'))
  from private.owners o where o.account = caller.account;
end $$;

-- Returns the hash to compare a password with for a proof. It is limited like an attempt to sign in.
create function api.owner_find_password(credential text)
  returns table (email text, password_hash text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.take_slowly('proof:' || caller.account, 10, interval '1 minute');
  return query select o.email, o.password_hash from private.owners o
   where o.account = caller.account;
end $$;

-- Gives the session another id, so that one that leaked before widens nothing.
create function private.rename_session(caller private.credentials, session_digest text)
  returns table (account_opened uuid, expires_at timestamptz) language sql as $$
  update private.credentials k set digest = session_digest where k.id = caller.id
  returning k.account, k.expires_at
$$;

-- Records the proof and gives the session another id.
create function private.note_proof(
  caller private.credentials, session_digest text, passkey text default null)
  returns table (account_opened uuid, expires_at timestamptz) language plpgsql as $$
begin
  update private.sessions s set proven_at = private.clock(), proven_by = passkey
   where s.credential = caller.id;
  return query select * from private.rename_session(caller, session_digest);
end $$;

-- Records a proof by a password that matched this hash. Returns no row if the hash changed meanwhile.
-- Passkeys that were reported as lost are then removed.
create function api.owner_prove(credential text, password_hash text, session_digest text)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.hold_live(caller);
  if private.needs_passkey(caller.account) then
    perform private.refuse('passkey_required', '403');
  end if;
  if exists (select from private.owners o where o.account = caller.account
    and o.password_hash = owner_prove.password_hash) then
    with lost as (
      delete from private.passkeys p where p.account = caller.account returning p.*)
    insert into private.removed_passkeys select l.*, private.clock(), true from lost l;
    update private.owners o set passkeys_lost_at = null where o.account = caller.account;
    return query select * from private.note_proof(caller, session_digest);
  end if;
end $$;

-- Gives out a challenge to register a passkey or to prove with one.
create function api.owner_begin_ceremony(credential text, challenge text, purpose text)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  if purpose = 'register' then
    caller := private.admit_owner(credential, true);
  end if;
  perform private.begin_ceremony(challenge, purpose, caller.id::text);
  return true;
end $$;

-- Takes a challenge. Returns no row if it is not valid; the columns are null if there is no such passkey.
create function api.owner_take_ceremony(
  credential text, challenge text, purpose text, passkey text default null)
  returns table (public_key text, counter text, transports text[])
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  if private.take_ceremony(challenge, purpose, caller.id::text) then
    return query select p.public_key, p.counter::text, p.transports
      from (select) taken left join private.passkeys p
        on p.id = passkey and p.account = caller.account;
  end if;
end $$;

-- Returns a passkey of the caller's, to verify an assertion over terms. The digest of the terms is the
-- challenge, so none is given out before.
create function api.owner_find_passkey(credential text, passkey text)
  returns table (public_key text, counter text, transports text[])
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  return query select p.public_key, p.counter::text, p.transports from private.passkeys p
   where p.id = passkey and p.account = caller.account;
end $$;

create function api.owner_prove_with_passkey(
  credential text, passkey text, counter_seen text, counter_now text, session_digest text)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  if exists (select from private.passkeys p where p.id = passkey and p.account = caller.account)
    and private.use_passkey(passkey, counter_seen, counter_now) then
    return query select * from private.note_proof(caller, session_digest, passkey);
  end if;
end $$;

-- Adds a verified passkey; an account has at most 10. Returns no row if there are too many or the passkey is
-- already known, including one that another account may take back.
create function api.owner_add_passkey(
  credential text, passkey text, public_key text, counter text, transports text[], label text,
  mail jsonb default null)
  returns table (added boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, true);
begin
  perform from private.owners o where o.account = caller.account for update;
  insert into private.passkeys
    (id, account, public_key, counter, transports, label, is_first, vouched_since)
  select passkey, caller.account, owner_add_passkey.public_key, owner_add_passkey.counter::bigint,
    owner_add_passkey.transports, owner_add_passkey.label, not private.has_passkey(caller.account),
    -- A password vouches for nothing: beside passkeys that are lost, a new chain begins with this one.
    case when private.has_passkey(caller.account) then coalesce((select private.there_since(p)
      from private.passkeys p join private.sessions s on s.proven_by = p.id
      where s.credential = caller.id), private.clock()) end
   where (select count(*) from private.passkeys p where p.account = caller.account) < 10
     and not exists (select from private.removed_passkeys r
       where r.id = passkey and r.account <> caller.account)
  on conflict do nothing;
  if found then
    -- The first one was just used, in a session that was proven in another way.
    update private.sessions s set proven_by = passkey
     where s.credential = caller.id and private.counts_in(s, passkey) and s.proven_by is null;
    perform private.record_security(caller.account, 'passkey_added', 'A passkey was added.');
    perform private.enqueue_mail(caller.account, mail);
    return query select true;
  end if;
end $$;

create function api.owner_rename_passkey(credential text, passkey text, label text)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, true);
begin
  update private.passkeys p set label = owner_rename_passkey.label
   where p.id = passkey and p.account = caller.account;
  return found;
end $$;

-- Removes a passkey: 'removed', 'missing', or 'last' if nothing else would be left to sign in with. After the
-- last one, a password proves nothing for three days, because whoever removed the passkey may not be the
-- owner.
create function api.owner_remove_passkey(
  credential text, passkey text, mail jsonb default null)
  returns table (outcome text) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, true);
begin
  perform from private.owners o where o.account = caller.account for update;
  with removed as (
    delete from private.passkeys p where p.id = passkey and p.account = caller.account
      and (exists (select from private.owners o
          where o.account = caller.account and o.password_hash is not null)
        or exists (select from private.passkeys other
          where other.account = caller.account and other.id <> passkey))
    returning p.*)
  insert into private.removed_passkeys select r.* from removed r;
  if found then
    update private.owners o set passkey_until = private.clock() + interval '72 hours'
     where o.account = caller.account and not private.has_passkey(caller.account);
    perform private.record_security(caller.account, 'passkey_removed', 'A passkey was removed.');
    perform private.enqueue_mail(caller.account, mail);
    return query select 'removed';
  else
    return query select case when exists (select from private.passkeys p
      where p.id = passkey and p.account = caller.account) then 'last' else 'missing' end;
  end if;
end $$;

-- Stores a new password. Whoever proved to know the one before could do as much by that, so the new one
-- continues it; in every other case somebody may come by it who could not.
create function private.keep_password(caller private.credentials, new_hash text) returns void
  language sql as $$
  update private.owners o set password_hash = new_hash, password_set_at = private.clock(),
    password_since = case when exists (select from private.sessions s
        where s.credential = caller.id and s.proven_by is null
          and s.proven_at > private.clock() - interval '10 minutes')
      then o.password_since else private.clock() end
   where o.account = caller.account
$$;

-- Sets a password and ends every other session, so that whoever knew the old one is signed out. After a
-- recovery the other sessions stay, because one may be the owner's. A proof by a passkey stays as it was.
create function api.owner_set_password(
  credential text, password_hash text, session_digest text, mail jsonb default null)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_proven(credential);
begin
  perform private.keep_password(caller, password_hash);
  if not private.is_guarded(caller) then
    perform private.end_other_sessions(caller);
  end if;
  perform private.record_security(caller.account, 'password_changed', 'The password was changed.');
  perform private.enqueue_mail(caller.account, mail);
  update private.sessions s set proven_at = private.clock()
   where s.credential = caller.id and s.proven_by is null;
  return query select * from private.rename_session(caller, session_digest);
end $$;

-- Replaces all recovery codes. While the account is guarded, only a session opened with a passkey may, to
-- void codes that somebody has found: no passkey can be added meanwhile, so it is the owner's.
create function api.owner_set_recovery_codes(
  credential text, digests text[], mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  if private.signed_in_with(caller, 'passkey') then
    perform private.hold_live(caller);
    perform private.demand_proof(caller);
  else
    perform private.admit_owner(credential, true);
  end if;
  delete from private.recovery_codes r where r.account = caller.account;
  insert into private.recovery_codes (account, digest)
  select caller.account, d from unnest(digests[1:10]) d;
  perform private.record_security(caller.account, 'recovery_codes_made',
    'New recovery codes were made; older ones are void.');
  perform private.enqueue_mail(caller.account, mail);
  return true;
end $$;

grant execute on function api.owner_touch_session, api.owner_end_session,
  api.owner_end_other_sessions, api.owner_security, api.owner_find_password, api.owner_prove,
  api.owner_begin_ceremony, api.owner_take_ceremony, api.owner_find_passkey,
  api.owner_prove_with_passkey,
  api.owner_add_passkey, api.owner_rename_passkey, api.owner_remove_passkey,
  api.owner_set_password, api.owner_set_recovery_codes to service_role;
