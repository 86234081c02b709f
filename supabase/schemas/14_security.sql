-- The owner's functions for their own sessions, password, passkeys and recovery codes.

-- Sets the password that takes effect with the end of the hold, 48 hours from now, in a session that a recovery code
-- opened. With `lost_passkeys` the passkeys are removed then, unless one is used meanwhile. Answers false for an
-- account on which no hold stands.
create function api.owner_recover(
  credential text, password_hash text, lost_passkeys boolean, mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'recover');
begin
  update private.owners o set pending_password_hash = owner_recover.password_hash,
    pending_passkey_removal = lost_passkeys and private.has_passkey(caller.account)
   where o.account = caller.account and o.hold_until is not null;
  if found then
    perform private.begin_hold(caller.account);
    perform private.record_security(caller.account, 'recovery_begun',
      'A new password was set. It takes effect in 48 hours.');
    perform private.enqueue_mail(caller.account, mail);
    return true;
  end if;
  return false;
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

-- Ends a hold and drops what is pending. If a recovery code was used in it, every session that a code opened ends,
-- and all codes are void. Answers false if there is none.
create function api.owner_end_hold(credential text, mail jsonb default null) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'end_hold');
  began timestamptz := (select o.hold_began_at from private.owners o where o.account = caller.account);
begin
  if began is null then
    return false;
  end if;
  perform private.lift_hold(caller.account);
  delete from private.recovery_codes r where r.account = caller.account
    and exists (select from private.recovery_codes u
      where u.account = caller.account and u.used_at >= began);
  update private.credentials k set revoked_at = private.clock()
    from private.sessions s where s.credential = k.id and k.account = caller.account
     and s.signed_in_with = 'recovery_code' and k.revoked_at is null;
  perform private.forget_browsers(caller);
  perform private.record_security(caller.account, 'hold_ended', 'The owner ended the hold of the account.');
  perform private.enqueue_mail(caller.account, mail);
  return true;
end $$;

-- Records that the session was used and extends it, never past its final end.
create function api.owner_touch_session(credential text) returns table (expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  update private.sessions s set last_seen_at = private.clock() where s.credential = caller.id;
  return query
  update private.credentials k
     set expires_at = least(s.ends_at, private.clock() + interval '30 minutes')
    from private.sessions s where k.id = caller.id and s.credential = k.id
  returning k.expires_at;
end $$;

-- Ends the caller's own session, at which it is signed out.
create function api.owner_leave(credential text) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'leave');
begin
  update private.credentials k set revoked_at = private.clock() where k.id = caller.id;
  return true;
end $$;

-- Ends another session of the account. Answers false if there is none.
create function api.owner_end_session(credential text, session uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'sign_out');
begin
  if session <> caller.id then
    perform private.forget_browsers(caller, session);
  end if;
  update private.credentials k set revoked_at = private.clock()
   where k.id = session and k.account = caller.account and k.kind = 'session' and k.revoked_at is null;
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
  caller private.credentials := private.admit_owner(credential, 'sign_out');
begin
  perform private.end_other_sessions(caller);
  return true;
end $$;

-- Returns everything that the owner's security page shows, and what a proof can be given with.
create function api.owner_security(credential text) returns table (security jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select jsonb_build_object(
    'account_id', o.account, 'email', o.email, 'has_password', o.password_hash is not null,
    -- Refusals of the actions on this page and of those that show secrets; null if they are possible. A proof
    -- that ends within a minute counts as none, so that it does not end while a form is filled in.
    'refusal', coalesce(private.refusal_of(caller, 'ways'), (select 'proof_required' from private.sessions s
      where s.credential = caller.id and s.proven_at <= private.clock() - interval '9 minutes')),
    'reveal_refusal', private.refusal_of(caller, 'reveal'),
    'is_recovered', private.signed_in_with(caller, 'recovery_code'),
    'hold_until', o.hold_until,
    'pending_password', o.pending_password_hash is not null,
    'pending_passkey_removal', o.pending_passkey_removal,
    -- A change whose code is over is none.
    'mail_change', (select jsonb_build_object('email', m.email, 'takes_effect_at', m.takes_effect_at)
      from private.mail_changes m where m.account = o.account
       and (m.takes_effect_at is not null or m.asked_at > private.clock() - interval '1 hour')),
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

-- Returns the hash that the next password is compared with, so that it is another one.
create function api.owner_read_password(credential text) returns table (password_hash text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  return query select o.password_hash from private.owners o where o.account = caller.account;
end $$;

-- Returns the hash to compare a password with for a proof. It is limited like an attempt to sign in, for each session
-- apart, so that no session keeps another from its proof.
create function api.owner_find_password(credential text)
  returns table (email text, password_hash text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'prove');
begin
  perform private.take_slowly('proof:' || caller.id, 10, interval '1 minute');
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

-- Records a proof by a password that matched this hash. Returns no row if the hash changed meanwhile. An account with
-- a passkey takes that alone.
create function api.owner_prove(credential text, password_hash text, session_digest text)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'prove');
begin
  perform private.hold_live(caller);
  if private.has_passkey(caller.account) then
    perform private.refuse('passkey_required', '403');
  end if;
  if exists (select from private.owners o where o.account = caller.account
    and o.password_hash = owner_prove.password_hash) then
    return query select * from private.note_proof(caller, session_digest);
  end if;
end $$;

-- Gives out a challenge to register a passkey or to prove with one.
create function api.owner_begin_ceremony(credential text, challenge text, purpose text)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'prove');
begin
  if purpose = 'register' then
    caller := private.admit_owner(credential, 'ways');
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
  caller private.credentials := private.admit_owner(credential, 'prove');
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
  caller private.credentials := private.admit_owner(credential, 'prove');
begin
  return query select p.public_key, p.counter::text, p.transports from private.passkeys p
   where p.id = passkey and p.account = caller.account;
end $$;

create function api.owner_prove_with_passkey(
  credential text, passkey text, counter_seen text, counter_now text, session_digest text)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'prove');
begin
  if exists (select from private.passkeys p where p.id = passkey and p.account = caller.account)
    and private.use_passkey(passkey, counter_seen, counter_now) then
    return query select * from private.note_proof(caller, session_digest, passkey);
  end if;
end $$;

-- Adds a verified passkey; an account has at most 10. Returns no row if there are too many or the passkey is
-- already known.
create function api.owner_add_passkey(
  credential text, passkey text, public_key text, counter text, transports text[], label text,
  mail jsonb default null)
  returns table (added boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  perform from private.owners o where o.account = caller.account for update;
  insert into private.passkeys (id, account, public_key, counter, transports, label)
  select passkey, caller.account, owner_add_passkey.public_key, owner_add_passkey.counter::bigint,
    owner_add_passkey.transports, owner_add_passkey.label
   where (select count(*) from private.passkeys p where p.account = caller.account) < 10
  on conflict do nothing;
  if found then
    -- The first one was just used, in a session that was proven in another way.
    update private.sessions s set proven_by = passkey
     where s.credential = caller.id and s.proven_by is null;
    perform private.record_security(caller.account, 'passkey_added', 'A passkey was added.');
    perform private.enqueue_mail(caller.account, mail);
    return query select true;
  end if;
end $$;

create function api.owner_rename_passkey(credential text, passkey text, label text)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  update private.passkeys p set label = owner_rename_passkey.label
   where p.id = passkey and p.account = caller.account;
  return found;
end $$;

-- Removes a passkey: 'removed', 'missing', or 'last' if nothing else would be left to sign in with. The last one is
-- removed with the end of a hold ('held'), because whoever removed it may not be the owner, who can end the hold with it.
create function api.owner_remove_passkey(
  credential text, passkey text, mail jsonb default null)
  returns table (outcome text) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  perform from private.owners o where o.account = caller.account for update;
  outcome := case
    when not exists (select from private.passkeys p where p.id = passkey and p.account = caller.account)
      then 'missing'
    when exists (select from private.passkeys p where p.account = caller.account and p.id <> passkey)
      then 'removed'
    when exists (select from private.owners o where o.account = caller.account and o.password_hash is null)
      then 'last'
    else 'held' end;
  if outcome = 'removed' then
    delete from private.passkeys p where p.id = passkey and p.account = caller.account;
    perform private.record_security(caller.account, 'passkey_removed', 'A passkey was removed.');
  elsif outcome = 'held' then
    perform private.begin_hold(caller.account);
    update private.owners o set pending_passkey_removal = true where o.account = caller.account;
    perform private.record_security(caller.account, 'passkey_removal_begun',
      'The last passkey is removed in 48 hours.');
  end if;
  if outcome in ('removed', 'held') then
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

-- Sets a password and ends every other session, so that whoever knew the old one is signed out.
create function api.owner_set_password(
  credential text, password_hash text, session_digest text, mail jsonb default null)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  update private.owners o set password_hash = owner_set_password.password_hash,
    password_set_at = private.clock() where o.account = caller.account;
  perform private.end_other_sessions(caller);
  perform private.record_security(caller.account, 'password_changed', 'The password was changed.');
  perform private.enqueue_mail(caller.account, mail);
  return query select * from private.rename_session(caller, session_digest);
end $$;

-- Replaces all recovery codes.
create function api.owner_set_recovery_codes(
  credential text, digests text[], mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  delete from private.recovery_codes r where r.account = caller.account;
  insert into private.recovery_codes (account, digest)
  select caller.account, d from unnest(digests[1:10]) d;
  perform private.record_security(caller.account, 'recovery_codes_made',
    'New recovery codes were made; older ones are void.');
  perform private.enqueue_mail(caller.account, mail);
  return true;
end $$;

grant execute on function api.owner_recover, api.owner_end_hold, api.owner_touch_session, api.owner_leave,
  api.owner_end_session, api.owner_end_other_sessions, api.owner_security, api.owner_read_password,
  api.owner_find_password, api.owner_prove, api.owner_begin_ceremony, api.owner_take_ceremony,
  api.owner_find_passkey, api.owner_prove_with_passkey, api.owner_add_passkey, api.owner_rename_passkey,
  api.owner_remove_passkey, api.owner_set_password, api.owner_set_recovery_codes to service_role;
