-- Using secrets: the vault first learns what a request is made of, and each use is booked before the vault
-- sends it.

-- Returns a destination in the form in which it leaves the database.
create function private.destination_json(p private.vault_destinations) returns jsonb
  language sql immutable as $$
  select jsonb_build_object('id', p.id, 'kind', p.kind, 'page', p.page, 'standing', p.standing, 'method', p.method,
    'path', p.path, 'wide', p.wide)
$$;

-- Stores a destination that waits for the owner. It is deleted after waiting for a day, and the oldest waiting
-- ones make room, so an agent cannot fill the page.
create function private.ask_destination(e private.vault_entries, asked jsonb, asker uuid) returns uuid
  language plpgsql as $$
declare
  waiting_max constant integer := 10;
  stored uuid;
begin
  -- One after the other; otherwise two at once would both be stored.
  perform from private.vault_entries v where v.id = e.id for no key update;
  delete from private.vault_destinations w
   where w.entry = e.id and w.approved_at is null
     and private.destination_json(w) - '{id, wide}'::text[] = asked;
  insert into private.vault_destinations (account, entry, kind, page, standing, method, path, asked_by)
  values (e.account, e.id, asked ->> 'kind', asked ->> 'page', asked -> 'standing',
    asked ->> 'method', asked ->> 'path', asker)
  returning id into stored;
  delete from private.vault_destinations w where w.id in (
    select o.id from private.vault_destinations o where o.entry = e.id and o.approved_at is null
     order by o.asked_at desc, o.id offset waiting_max);
  return stored;
end $$;

-- Stores a destination that an agent needs.
create function api.vault_ask_destination(credential text, entry uuid, asked jsonb)
  returns table (destination uuid) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'vault', true);
  e private.vault_entries := private.entry_of(caller, entry);
begin
  perform private.hold_unfrozen(caller);
  return query select private.ask_destination(e, asked, caller.id);
end $$;

-- Refuses unless each of these codes may go to the site of the entry: it is unused, fresh, and from a mail
-- that is from the site's own host or names it. The owner must also have allowed codes for the entry, because
-- an agent that chooses the place where a code is used could choose one where it reads what was sent.
create function private.check_codes(entry private.vault_entries, handles text[])
  returns void language plpgsql as $$
declare
  known integer;
begin
  select count(*) into known from private.mail_codes c
   where c.account = entry.account and c.handle = any (handles) and c.used_at is null
     and c.expires_at > private.clock();
  if known <> cardinality(handles) then
    perform private.refuse('code_not_found', '404');
  end if;
  if exists (select from private.mail_codes c
    where c.account = entry.account and c.handle = any (handles)
      and not split_part(private.host_of(entry.site), ':', 1) = any (c.hosts)) then
    perform private.refuse('code_not_for_site', '403');
  end if;
  if known > 0 and not entry.takes_codes then
    perform private.refuse('code_needs_owner', '403',
      jsonb_build_object('credential_id', entry.id));
  end if;
end $$;

-- Returns a code in the form in which it leaves the database, sealed.
create function private.code_json(c private.mail_codes) returns jsonb language sql immutable as $$
  select jsonb_build_object('mail', c.mail, 'handle', c.handle, 'kind', c.kind, 'hosts', c.hosts,
    'sealed', c.sealed)
$$;

-- Returns an entry of the caller's account and codes to be used at its site, sealed. It changes nothing, so a
-- request that cannot be built uses nothing up. With `is_first` the owner is to be notified about the site;
-- `is_own` says that the caller itself stored or drew the secrets.
create function api.vault_open_use(credential text, entry uuid, handles text[])
  returns table (of_account uuid, site text, username text, version integer, sealed jsonb,
    wrap jsonb, mail_wrap jsonb, codes jsonb, used_codes jsonb, destinations jsonb, is_first boolean,
    is_own boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'vault', true);
  e private.vault_entries := private.entry_of(caller, entry);
begin
  perform private.ask_for_room(private.budget_of(caller));
  perform private.check_codes(e, handles);
  return query
  select e.account, e.site, e.username, e.version, e.sealed,
    private.account_key(e.account, 'vault'), private.account_key(e.account, 'mail'),
    coalesce((select jsonb_agg(private.code_json(c))
      from private.mail_codes c where c.account = e.account and c.handle = any (handles)), '[]'),
    -- The site may still show them.
    coalesce((select jsonb_agg(private.code_json(c.u)) from (
      select u from private.mail_codes u where u.account = e.account
         and u.used_at > private.clock() - interval '1 hour'
         and split_part(private.host_of(e.site), ':', 1) = any (u.hosts)
       order by u.used_at desc limit 30) c), '[]'),
    coalesce((select jsonb_agg(private.destination_json(p)) from private.vault_destinations p
      where p.entry = e.id and p.approved_at is not null), '[]'),
    private.is_first_use(caller, e), e.created_by is not distinct from caller.id;
end $$;

-- Books a use of secrets, or a form that is sent in a session without one; or ends the call with nothing
-- changed: if one code or destination is refused, no code is used up. A claim that has come this far is not handed
-- to another request, because nobody could tell whether the site was asked. Of two calls with one claim, when
-- one was silent and the other took over, the first to be booked continues. A request in a session is booked
-- only while the session is live.
create function api.vault_begin_use(
  credential text, entry uuid, handles text[], destinations uuid[], request text,
  claim uuid default null, mail jsonb default null, type text default 'secret_used',
  session uuid default null, goes_on boolean default false)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'vault');
  e private.vault_entries;
begin
  perform private.hold_unfrozen(caller);
  e := private.entry_of(caller, entry);
  if session is not null then
    perform from private.vault_sessions s where s.id = session and s.entry = e.id
       and s.credential = caller.id and s.expires_at > private.clock() for share;
    if not found then
      perform private.refuse('session_not_found', '404');
    end if;
  end if;
  -- Locked until it is booked, so that a use is never booked after the end of its destination.
  perform from private.vault_destinations p
   where p.entry = e.id and p.approved_at is not null and p.id = any (destinations) for share;
  if (select count(*) from private.vault_destinations p where p.entry = e.id
      and p.approved_at is not null and p.id = any (destinations)) <> cardinality(destinations) then
    perform private.refuse('destination_not_approved', '403');
  end if;
  update private.vault_entries v set last_used_at = private.clock() where v.id = e.id;
  -- Locked in one order, and before they are checked: of two that want the same code, one finds it used.
  perform from private.mail_codes c where c.account = caller.account and c.handle = any (handles)
    order by c.handle for update;
  perform private.check_codes(e, handles);
  update private.mail_codes c set used_at = private.clock()
   where c.account = caller.account and c.handle = any (handles);
  perform private.record_entry(caller, e, type, format(case type
      when 'secret_used' then 'A secret was used at %s'
      else 'A form was sent in a session at %s' end, e.site),
    jsonb_strip_nulls(jsonb_build_object(
      'username', nullif(e.username, ''), 'request', request)));
  if mail is not null then
    perform api.vault_note_site(credential, entry, mail);
  end if;
  -- Sites are asked for a minute at most, so that whoever is silent for longer has ended.
  update private.idempotent_answers i set is_sent = true,
    claimed_until = greatest(i.claimed_until, private.clock() + interval '2 minutes')
   where i.account = caller.account and i.claim = vault_begin_use.claim
     and (goes_on or (i.status is null and not i.is_sent));
  if claim is not null and not found then
    perform private.refuse('conflict', '409');
  end if;
  return true;
end $$;

-- Returns a session of the caller's, as it was stored after its last step.
create function api.vault_open_session(credential text, session uuid)
  returns table (entry uuid, step integer, sealed jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'vault', true);
begin
  return query select s.entry, s.step, s.sealed from private.vault_sessions s
   where s.id = session and s.account = caller.account and s.credential = caller.id
     and s.expires_at > private.clock();
  if not found then
    perform private.refuse('session_not_found', '404');
  end if;
end $$;

-- Stores a session after a step, in place of the step that it was made from, 0 for a new one. Of two steps at
-- once, the one that ends first is stored. Returns no row if it was not stored.
create function api.vault_keep_session(
  credential text, session uuid, entry uuid, was_step integer, sealed jsonb)
  returns table (expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
#variable_conflict use_column
declare
  sessions_max constant integer := 20;
  ends timestamptz := private.clock() + interval '1 hour';
  caller private.credentials := private.recognize(credential, 'vault');
  e private.vault_entries := private.entry_of(caller, vault_keep_session.entry);
begin
  perform private.hold_unfrozen(caller);
  if was_step = 0 then
    insert into private.vault_sessions (id, account, credential, entry, step, sealed, expires_at)
    values (session, e.account, caller.id, e.id, 1, vault_keep_session.sealed, ends);
    delete from private.vault_sessions s where s.id in (
      select o.id from private.vault_sessions o where o.account = e.account
       order by o.expires_at desc, o.id offset sessions_max);
    return query select ends;
  else
    return query update private.vault_sessions s set step = s.step + 1, expires_at = ends,
      sealed = vault_keep_session.sealed
     where s.id = session and s.credential = caller.id and s.step = was_step
    returning s.expires_at;
  end if;
end $$;

grant execute on function api.vault_ask_destination, api.vault_open_use, api.vault_begin_use,
  api.vault_open_session, api.vault_keep_session to vault;
