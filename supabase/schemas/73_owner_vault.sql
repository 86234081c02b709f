-- The vault as its owner fills it by the link of a hosted action.

-- Returns the action of an opened link that asks this browser and the signed-in owner for a login, or null.
-- It needs a fresh proof, like everything that enters a login. It locks the action, so that of two forms sent
-- at once only one is stored.
create function private.login_asked_by_link(
  credential text, token_digest text, browser text, client text)
  returns private.hosted_actions language plpgsql as $$
declare
  caller private.credentials := private.admit_owner(credential, 'keep');
  asked private.hosted_actions;
begin
  perform private.limit_link(client);
  select a.* into asked from private.hosted_actions a
   where a.token_digest = login_asked_by_link.token_digest
     and a.account = caller.account and a.browser = login_asked_by_link.browser
     and a.type = 'website_login'
     and private.hosted_action_status(a) = 'opened'
     for update;
  if exists (select from private.accounts o
      where o.id = asked.account and o.frozen_at is not null) then
    perform private.refuse('account_frozen', '403');
  end if;
  return asked;
end $$;

-- Returns the account and site that a link asks for, and the account's key if it has one. Returns no row if
-- nothing can be stored by the link.
create function api.link_login_asked(
  credential text, token_digest text, browser text, client text)
  returns table (account uuid, site text, wrap jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  asked private.hosted_actions :=
    private.login_asked_by_link(credential, token_digest, browser, client);
begin
  return query select asked.account, asked.asked ->> 'site',
    private.account_key(asked.account, 'vault') where asked.id is not null;
end $$;

-- Stores a login in the vault, where no key can change it, and ends the action. `new_wrap` is the account's
-- first key, if it had none; if another was stored meanwhile, the login has to be sealed again (`again`). A
-- link changes no entry of the vault (`exists`).
create function api.link_store_login(
  credential text, token_digest text, browser text, client text, entry jsonb, mail jsonb,
  new_wrap jsonb default null)
  returns table (outcome text) language plpgsql security definer set search_path = '' as $$
declare
  asked private.hosted_actions :=
    private.login_asked_by_link(credential, token_digest, browser, client);
  given private.vault_entries := pg_catalog.jsonb_populate_record(null::private.vault_entries, entry);
begin
  if asked.id is null then
    return query select 'over';
  elsif new_wrap is not null and private.keep_account_key(asked.account, 'vault', new_wrap) <> new_wrap then
    return query select 'again';
  else
    perform private.take_vault_place(asked.account);
    insert into private.vault_entries (id, account, site, username, version, sealed,
      has_password, has_totp, field_names, takes_codes, link_of)
    values (given.id, asked.account, asked.asked ->> 'site', given.username, 1,
      given.sealed, given.has_password, given.has_totp, given.field_names, true, asked.credential)
    on conflict (account, site, username) do nothing;
    if not found then
      return query select 'exists';
      return;
    end if;
    update private.hosted_actions a set finished_at = private.clock(),
      entered = pg_catalog.jsonb_build_object('credential_id', given.id,
        'site', asked.asked ->> 'site')
     where a.id = asked.id;
    insert into private.activities (account, category, type, summary, entry)
    select asked.account, 'vault', 'login_entered', pg_catalog.format(
      'A login for %s was entered by the owner, through a link of the %s.', asked.asked ->> 'site',
      private.holder_name(k)), given.id
    from private.credentials k where k.id = asked.credential;
    perform private.enqueue_mail(asked.account, mail);
    return query select 'stored';
  end if;
end $$;

-- Returns a page of the entries as their owner sees them, the latest first, from before a position: those
-- whose site or user name contains these words, or one entry. `maker` is the key or app that created it, null
-- for the owner; `asker` is the one by whose link the owner entered it.
create function api.owner_list_entries(
  credential text, page integer, before bigint default null, words text default '',
  entry uuid default null)
  returns table (number text, listed jsonb, maker text, asker text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select e.number::text, private.entry_json(caller, e),
    private.holder_title(k), private.holder_title(linked)
    from private.vault_entries e left join private.credentials k on k.id = e.created_by
    left join private.credentials linked on linked.id = e.link_of
   where e.account = caller.account and (before is null or e.number < before)
     and pg_catalog.strpos(pg_catalog.lower(e.site || ' ' || e.username),
       pg_catalog.lower(words)) > 0
     and (owner_list_entries.entry is null or e.id = owner_list_entries.entry)
   order by e.number desc limit page;
end $$;

-- Allows codes from mails to be used with a login, or stops it. Allowing needs a fresh proof, because the
-- owner then vouches for the host, whoever named it.
create function api.owner_set_takes_codes(credential text, entry uuid, takes boolean)
  returns table (takes_codes boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(
    credential, case when takes then 'widen' else 'tighten' end);
  e private.vault_entries := private.entry_of(caller, entry);
begin
  update private.vault_entries v set takes_codes = takes
   where v.id = e.id and v.takes_codes is distinct from takes;
  if found then
    perform private.record_entry(caller, e,
      case when takes then 'codes_allowed' else 'codes_ended' end,
      pg_catalog.format(case when takes then 'Codes from mail were allowed at %s'
        else 'The use of codes from mail at %s was ended' end, e.site));
  end if;
  return query select takes;
end $$;

-- Returns the destinations of an entry, waiting ones first, with the requester of each.
create function api.owner_list_destinations(credential text, entry uuid)
  returns table (destination jsonb, asker text, asked_at timestamptz, approved_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select private.destination_json(p), private.holder_title(k), p.asked_at, p.approved_at
    from private.vault_destinations p left join private.credentials k on k.id = p.asked_by
   where p.account = caller.account and p.entry = owner_list_destinations.entry
   order by p.approved_at desc nulls first, p.asked_at desc, p.id;
end $$;

-- Returns the site and the user name of an entry whose sign-in page its owner has the vault look at.
create function api.vault_look(credential text, entry uuid)
  returns table (site text, username text) language plpgsql security definer set search_path = '' as $$
declare
  e private.vault_entries := private.entry_of(private.admit_owner(credential, 'keep'), entry);
begin
  return query select e.site, e.username;
end $$;

-- Stores a destination that the vault found on such a page.
create function api.vault_ask_found_destination(credential text, entry uuid, asked jsonb) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  e private.vault_entries := private.entry_of(private.admit_owner(credential, 'keep'), entry);
begin
  perform private.ask_destination(e, asked, null);
  return true;
end $$;

-- Approves a waiting destination, with a fresh proof: for what was asked or, in headers, for every request. It
-- replaces all others for the same page. Returns no row if the account has no such waiting destination.
create function api.owner_approve_destination(credential text, destination uuid, wide boolean)
  returns table (entry uuid) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'approve');
  approved private.vault_destinations;
  e private.vault_entries;
begin
  update private.vault_destinations p set approved_at = private.clock(),
    wide = owner_approve_destination.wide and p.kind = 'request'
      and not p.standing @? '$[*] ? (@.where == "form_field" || @.where == "json_field")'
   where p.id = destination and p.account = caller.account and p.approved_at is null
  returning p.* into approved;
  if found then
    entry := approved.entry;
    delete from private.vault_destinations p where p.entry = approved.entry and p.page = approved.page
       and p.page <> '' and p.id <> approved.id;
    select v.* into e from private.vault_entries v where v.id = owner_approve_destination.entry;
    perform private.record_entry(caller, e, 'destination_approved',
      pg_catalog.format('A destination for a secret of %s was approved', e.site));
    return next;
  end if;
end $$;

-- Removes a destination, whether it waits or is approved: what was not sent yet is no longer sent.
create function api.owner_end_destination(credential text, destination uuid)
  returns table (entry uuid) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  ended private.vault_destinations;
  e private.vault_entries;
begin
  delete from private.vault_destinations p where p.id = destination and p.account = caller.account
  returning p.* into ended;
  if not found then
    return;
  end if;
  select v.* into e from private.vault_entries v where v.id = ended.entry;
  perform private.record_entry(caller, e,
    case when ended.approved_at is null then 'destination_declined' else 'destination_ended' end,
    pg_catalog.format(case when ended.approved_at is null
      then 'A destination for a secret of %s was declined'
      else 'A destination for a secret of %s was removed' end, e.site));
  return query select ended.entry;
end $$;

-- Returns true if agents see the codes of mails.
create function api.owner_read_shows_codes(credential text) returns table (shows_codes boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select a.shows_codes from private.accounts a where a.id = caller.account;
end $$;

-- Deletes mails for good, with their files and codes: the named one, or all older than `days` that an agent
-- has read or sent. It needs a fresh proof, because nothing brings a mail or its codes back. Sent mail stays
-- for a day, because until then it counts against the limits and may still be on its way. The feed shows how
-- many were deleted.
create function api.owner_delete_mails(
  credential text, mail uuid default null, days integer default null)
  returns table (deleted integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'keep');
begin
  delete from private.mails m
   where m.account = caller.account
     and (m.direction = 'in' or m.at <= private.clock() - interval '1 day')
     and (m.id = owner_delete_mails.mail
       or m.at <= private.clock() - pg_catalog.make_interval(days => owner_delete_mails.days)
         and (m.direction = 'out' or m.read_at is not null));
  get diagnostics deleted = row_count;
  if deleted > 0 then
    insert into private.activities (account, category, type, summary)
    values (caller.account, 'mail', 'mail_deleted', case deleted
      when 1 then 'The owner deleted a mail.'
      else pg_catalog.format('The owner deleted %s mails.', deleted) end);
  end if;
  return next;
end $$;

grant execute on function api.link_login_asked, api.link_store_login, api.vault_look,
  api.vault_ask_found_destination to vault;
grant execute on function api.owner_list_entries, api.owner_set_takes_codes, api.owner_list_destinations,
  api.owner_approve_destination, api.owner_end_destination, api.owner_read_shows_codes, api.owner_delete_mails to
  service_role;
