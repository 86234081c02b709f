-- Using secrets: what a request is made of is told to the vault first, and what is used stands in
-- the books before the vault sends it.

-- Ends the call unless each of these codes may go to the site of the entry: not used, fresh, and of a
-- mail that is from the site's own host or names it; and unless the owner stands for the entry, since
-- an agent that names the place where a code is used can name one where it reads what was sent.
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
    perform private.refuse('code_needs_owner', '403');
  end if;
end $$;

-- An entry of the caller's and codes to be used at its site, sealed. It changes nothing, so that what
-- no request can be made of uses nothing up. With `is_first` the owner is to be told of the site.
create function api.vault_open_use(credential text, entry uuid, handles text[])
  returns table (of_account uuid, site text, username text, version integer, sealed jsonb,
    wrap jsonb, mail_wrap jsonb, codes jsonb, is_first boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'vault', true);
  e private.vault_entries := private.entry_of(caller, entry);
begin
  perform private.check_codes(e, handles);
  return query
  select e.account, e.site, e.username, e.version, e.sealed,
    private.account_key(e.account, 'vault'), private.account_key(e.account, 'mail'),
    coalesce((select jsonb_agg(jsonb_build_object('mail', c.mail, 'handle', c.handle,
        'kind', c.kind, 'hosts', c.hosts, 'sealed', c.sealed))
      from private.mail_codes c where c.account = e.account and c.handle = any (handles)), '[]'),
    private.is_first_use(caller, e);
end $$;

-- Books a use, or ends the call with nothing changed: where one code is refused, none is used up. A
-- claim that has come so far is not handed on to another request: nobody could tell whether the site
-- was asked.
create function api.vault_begin_use(
  credential text, entry uuid, handles text[], request text, claim uuid default null,
  mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'vault');
  e private.vault_entries := private.entry_of(caller, entry);
begin
  perform private.hold_unfrozen(caller.account);
  update private.vault_entries v set last_used_at = private.clock() where v.id = e.id;
  -- In one order, and before they are looked at: of two who want the same code one finds it used.
  perform from private.mail_codes c where c.account = caller.account and c.handle = any (handles)
    order by c.handle for update;
  perform private.check_codes(e, handles);
  update private.mail_codes c set used_at = private.clock()
   where c.account = caller.account and c.handle = any (handles);
  perform private.record_entry(caller, e, 'secret_used', format('A secret was used at %s', e.site),
    jsonb_strip_nulls(jsonb_build_object(
      'username', nullif(e.username, ''), 'request', request)));
  if mail is not null then
    perform api.vault_note_site(credential, entry, mail);
  end if;
  update private.idempotent_answers i set claimed_until = 'infinity'
   where i.account = caller.account and i.claim = vault_begin_use.claim;
  return true;
end $$;
grant execute on function api.vault_open_use, api.vault_begin_use to vault;
