-- The vault as agents list and read it and as it is filled: entries whose secret part is sealed.

-- Returns an entry of the caller's account. An entry of another account is refused like a missing one.
create function private.entry_of(caller private.credentials, entry uuid)
  returns private.vault_entries language plpgsql stable as $$
declare
  e private.vault_entries;
begin
  select v.* into e from private.vault_entries v
   where v.account = caller.account and v.id = entry;
  if not found then
    perform private.refuse('credential_not_found', '404');
  end if;
  return e;
end $$;

-- Refuses a caller that may not change the vault: a key or an app needs the scope, the owner a fresh proof.
create function private.demand_keeper(caller private.credentials) returns void language plpgsql as $$
begin
  if caller.kind = 'session' then
    perform private.demand(caller, 'keep');
  else
    perform private.demand_scope(caller, 'vault');
  end if;
end $$;

-- True if the caller may replace and delete an entry: the owner may with all, a key with those that it
-- created.
create function private.may_change(caller private.credentials, e private.vault_entries)
  returns boolean language sql immutable as $$
  select caller.kind = 'session' or e.created_by is not distinct from caller.id
$$;

-- Returns what every caller that may list entries sees of one. Only the names of fields were ever sealed.
create function private.entry_json(caller private.credentials, e private.vault_entries)
  returns jsonb language sql stable as $$
  select jsonb_build_object('credential_id', e.id, 'site', e.site, 'username', e.username,
    'entered_by', coalesce((select private.holder_name(k) from private.credentials k
      where k.id = e.created_by), 'owner'),
    'asked_by', (select private.holder_name(k) from private.credentials k where k.id = e.link_of),
    'version', e.version, 'has_password', e.has_password, 'has_totp', e.has_totp,
    'field_names', e.field_names, 'takes_codes', e.takes_codes,
    'created_by_this_key', e.created_by is not distinct from caller.id,
    'created_at', e.created_at, 'updated_at', e.updated_at, 'last_used_at', e.last_used_at)
$$;

-- Returns a page of the entries, the latest first, from before a position; of all sites, or of one. `needed`
-- is the scope of the calling operation.
create function api.list_vault_entries(
  credential text, needed text, page integer, before bigint default null,
  at_site text default null)
  returns table (number text, listed jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, needed);
begin
  return query select e.number::text, private.entry_json(caller, e)
    from private.vault_entries e
   where e.account = caller.account and (before is null or e.number < before)
     and (at_site is null or e.site = at_site)
   order by e.number desc limit page;
end $$;

-- Deletes an entry that the caller may change.
create function api.delete_vault_entry(credential text, entry uuid)
  returns table (deleted_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'any', true);
  e private.vault_entries;
begin
  perform private.hold_unfrozen(caller);
  perform private.demand_keeper(caller);
  e := private.entry_of(caller, entry);
  delete from private.vault_entries v where v.id = e.id and private.may_change(caller, v);
  if not found then
    perform private.refuse('credential_protected', '403');
  end if;
  perform private.erase_site_answers(caller.account);
  perform private.record_entry(caller, e, 'credential_deleted',
    pg_catalog.format('The login of %s was deleted', e.site));
  return query select private.clock();
end $$;

-- Begins a change of an entry, given by its id or by site and user name. Returns the account, its wrapped
-- key, and the entry as it is sealed now; key or entry are null if there is none.
create function api.vault_begin_store(
  credential text, at_site text default null, for_username text default null,
  entry uuid default null)
  returns table (account_found uuid, wrap jsonb, present jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'any', true);
  e private.vault_entries;
begin
  perform private.demand_keeper(caller);
  perform private.ask_for_room(private.budget_of(caller));
  if entry is not null then
    e := private.entry_of(caller, entry);
  else
    select v.* into e from private.vault_entries v where v.account = caller.account
       and v.site = at_site and v.username = for_username;
  end if;
  if e.id is not null and not private.may_change(caller, e) then
    perform private.refuse('credential_protected', '403');
  end if;
  return query select caller.account, private.account_key(caller.account, 'vault'),
    case when e.id is not null then jsonb_build_object('id', e.id, 'site', e.site,
      'username', e.username, 'version', e.version, 'sealed', e.sealed) end;
end $$;

-- Checks that there is room for one more entry, or ends the call. Calls run one after the other, because two
-- at once would both be the last. The lock is on the account's key, because payments wait for the row of the
-- account.
create function private.take_vault_place(of_account uuid) returns void language plpgsql as $$
declare
  entries_max constant integer := 1000;
begin
  perform from private.account_keys k
   where k.account = of_account and k.purpose = 'vault' for no key update;
  if (select count(*) from private.vault_entries e where e.account = of_account) >= entries_max then
    perform private.refuse('vault_full', '409');
  end if;
end $$;

-- Stores a sealed entry in place of the version that it was made from, 0 for none. Answers false if that
-- version is no longer current or the account has another key: it was then sealed from outdated data and has
-- to be made again. `new_wrap` is a wrapped key that was generated for it.
create function api.vault_commit_store(
  credential text, entry uuid, was_version integer, at_site text, for_username text,
  sealed jsonb, has_password boolean, has_totp boolean, field_names text[], type text,
  new_wrap jsonb default null)
  returns table (kept boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'any', true);
  keeper uuid := case when caller.kind <> 'session' then caller.id end;
  e private.vault_entries;
begin
  perform private.hold_unfrozen(caller);
  perform private.demand_keeper(caller);
  if new_wrap is not null and new_wrap is distinct from
    private.keep_account_key(caller.account, 'vault', new_wrap) then
    return query select false;
    return;
  end if;
  if was_version = 0 then
    perform private.take_vault_place(caller.account);
    insert into private.vault_entries (id, account, site, username, version, sealed,
      has_password, has_totp, field_names, takes_codes, created_by, maker, session)
    values (entry, caller.account, at_site, for_username, 1, vault_commit_store.sealed,
      vault_commit_store.has_password, vault_commit_store.has_totp,
      vault_commit_store.field_names, keeper is null, keeper, keeper,
      case when keeper is null then caller.id end)
    on conflict do nothing returning * into e;
  else
    update private.vault_entries v set version = v.version + 1, updated_at = private.clock(),
      sealed = vault_commit_store.sealed, has_password = vault_commit_store.has_password,
      has_totp = vault_commit_store.has_totp, field_names = vault_commit_store.field_names,
      takes_codes = v.takes_codes or keeper is null, created_by = keeper, link_of = null,
      session = case when keeper is null then caller.id else v.session end
     where v.id = entry and v.account = caller.account and v.version = was_version
       and private.may_change(caller, v)
    returning * into e;
  end if;
  if e.id is not null then
    perform private.record_entry(caller, e, vault_commit_store.type, pg_catalog.format(
      case vault_commit_store.type
        when 'password_generated' then 'A new password for %s was generated'
        when 'credential_replaced' then 'The login of %s was changed'
        else 'A login of %s was stored' end, e.site));
  end if;
  return query select e.id is not null;
end $$;

-- True if a key or an app is the first in its account to use the secrets of a site.
create function private.is_first_use(caller private.credentials, e private.vault_entries)
  returns boolean language sql stable as $$
  select caller.kind <> 'session' and not exists (select from private.vault_sites s
    where s.account = e.account and s.site = e.site)
$$;

-- Records that a secret is used or read, and returns what opens it. Nothing is opened for a key or a session
-- that was ended, once that was answered, nor for a session without a fresh proof. With `first_use` the owner is to be
-- notified about the site by api.vault_note_site before it is opened.
create function private.open_entry(
  caller private.credentials, e private.vault_entries, type text, deed text,
  untrusted jsonb default null)
  returns jsonb language plpgsql as $$
begin
  if caller.kind = 'session' then
    perform private.hold_live(caller);
    perform private.demand(caller, 'reveal');
  else
    perform private.hold_unfrozen(caller);
  end if;
  update private.vault_entries v set last_used_at = private.clock() where v.id = e.id;
  perform private.record_entry(caller, e, type, deed, untrusted);
  return jsonb_build_object('account', e.account, 'id', e.id, 'site', e.site,
    'version', e.version, 'sealed', e.sealed, 'wrap', private.account_key(e.account, 'vault'),
    'first_use', private.is_first_use(caller, e));
end $$;

-- Notifies the owner of the first use of a site, once. If the mail was not enqueued, the next use counts as
-- the first again.
create function api.vault_note_site(credential text, entry uuid, mail jsonb) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'any', true);
  e private.vault_entries := private.entry_of(caller, entry);
begin
  insert into private.vault_sites (account, site) values (caller.account, e.site)
  on conflict do nothing;
  if found and not private.enqueue_mail(caller.account, mail) then
    delete from private.vault_sites s where s.account = caller.account and s.site = e.site;
  end if;
  return true;
end $$;

-- Returns what the code of an entry is computed from; no row if it has no TOTP secret.
create function api.vault_open_totp(credential text, entry uuid) returns table (opened jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'vault', true);
  e private.vault_entries := private.entry_of(caller, entry);
begin
  if e.has_totp then
    perform private.ask_for_room(private.budget_of(caller));
    return query select private.open_entry(caller, e, 'totp_code_given',
      pg_catalog.format('A one-time code for %s was given out', e.site));
  end if;
end $$;

-- Refuses if keys of the account have read as many secrets as they may in one hour.
create function private.limit_reads(of_account uuid) returns void language plpgsql as $$
declare
  hourly_max constant integer := 30;
  free_at timestamptz;
begin
  -- One after the other; otherwise many at once would each find room for one more.
  perform from private.account_keys k
   where k.account = of_account and k.purpose = 'vault' for no key update;
  select a.at + interval '1 hour' into free_at from private.activities a
   where a.account = of_account and a.type = 'secret_read'
     and a.at > private.clock() - interval '1 hour'
   order by a.at desc offset hourly_max - 1 limit 1;
  if found then
    perform private.refuse('rate_limited', '429', jsonb_build_object('retry_after_seconds',
      greatest(1, pg_catalog.ceil(extract(epoch from free_at - private.clock())))));
  end if;
end $$;

-- Returns one entry and, to a caller that may read them, what opens its secrets. That is the owner with a
-- fresh proof, and a key that the owner lets read secrets, unless the account is frozen.
create function api.vault_read_entry(credential text, entry uuid)
  returns table (listed jsonb, opened jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
  e private.vault_entries := private.entry_of(caller, entry);
begin
  if caller.kind = 'session' and private.refusal_of(caller, 'reveal') is null then
    opened := private.open_entry(caller, e, 'secret_shown',
      pg_catalog.format('The secrets of the login of %s were seen', e.site));
  elsif caller.reads_secrets then
    -- The account is locked before its keys, as in functions that store an entry.
    perform private.hold_unfrozen(caller);
    -- The owner may have taken that back while this waited.
    if (select k.reads_secrets from private.credentials k where k.id = caller.id) then
      perform private.limit_reads(caller.account);
      opened := private.open_entry(caller, e, 'secret_read',
        pg_catalog.format('The secrets of the login of %s were read', e.site));
    end if;
  end if;
  listed := private.entry_json(caller, e);
  return next;
end $$;

-- Lets a key read secrets, or only use them. Letting it read needs a fresh proof. Returns no row if the
-- account has no such live key.
create function api.owner_set_reads_secrets(
  credential text, key uuid, reads boolean, mail jsonb default null)
  returns table (label text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(
    credential, case when reads then 'widen' else 'tighten' end);
begin
  update private.credentials k set reads_secrets = reads
   where k.id = owner_set_reads_secrets.key and k.account = caller.account
     and private.is_key_live(k) and k.reads_secrets is distinct from reads;
  if found then
    perform private.record_change(caller, 'security', 'secret_reading_changed', pg_catalog.format(
      case when reads then 'The API key %s may read secrets of the vault from now on.'
        else 'The API key %s may use secrets but no longer read them.' end, k.shown))
      from private.credentials k where k.id = owner_set_reads_secrets.key;
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return query select k.label from private.credentials k
   where k.id = owner_set_reads_secrets.key and k.account = caller.account
     and private.is_key_live(k);
end $$;

-- Shows agents the codes and links of mails, or handles in their place. Showing them needs a fresh proof.
create function api.owner_set_shows_codes(credential text, shows boolean, mail jsonb default null)
  returns table (shows_codes boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(
    credential, case when shows then 'widen' else 'tighten' end);
begin
  update private.accounts a set shows_codes = shows
   where a.id = caller.account and a.shows_codes is distinct from shows;
  if found then
    perform private.record_change(caller, 'security', 'code_reading_changed',
      case when shows then 'Agents may read one-time codes and sign-in links of mails from now on.'
        else 'Agents no longer read one-time codes and sign-in links of mails.' end);
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return query select shows;
end $$;

grant execute on function api.list_vault_entries, api.delete_vault_entry, api.owner_set_reads_secrets,
  api.owner_set_shows_codes to service_role;
grant execute on function api.vault_begin_store, api.vault_commit_store, api.vault_note_site, api.vault_open_totp,
  api.vault_read_entry to vault;
