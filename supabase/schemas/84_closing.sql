-- Closing an account, reopening it within 30 days, and erasing it after that. The alias stays with the closed account for
-- good, so that its mails reach nobody else, and so do its wallet's key, its payments and its feed.

-- Returns the payments that keep an account open, at most 20: those that are signed and not decided by a final block.
create function api.owner_read_closing(credential text) returns table (payments text[])
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select array(select p.id::text from private.open_signatures(caller.account) p
    order by p.id limit 20);
end $$;

-- Closes the account, in one transaction: freezes it and ends all access and all trust, except for the caller's session.
-- Answers `other_alias` or `payments_open`, and changes nothing, if the alias is not that of the account or a payment is
-- signed and open.
create function api.owner_close(credential text, alias text, mail jsonb default null)
  returns table (outcome text) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'close');
begin
  outcome := case
    when not exists (select from private.accounts a
      where a.id = caller.account and a.alias = owner_close.alias) then 'other_alias'
    when exists (select from private.open_signatures(caller.account)) then 'payments_open'
    else 'closed' end;
  if outcome = 'closed' then
    -- A sign-in that runs now holds this row: its session ends as well.
    perform from private.owners o where o.account = caller.account for update;
    perform private.freeze(caller.account, 'The account was frozen because its owner closed it.');
    perform private.end_access(caller.account, 'owner', caller.id);
    perform private.forget_browsers(caller);
    perform private.end_trust(caller.account);
    update private.accounts a set closed_at = private.clock(),
      erases_at = private.clock() + interval '30 days' where a.id = caller.account;
    perform private.erase_site_answers(caller.account);
    perform private.record_security(caller.account, 'account_closed',
      'The owner closed the account: all keys, apps, other sessions, mandates and requests ended.');
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

-- Opens a closed account again. It stays frozen, and what ended stays ended. Answers false if it is not closed.
create function api.owner_reopen(credential text, mail jsonb default null) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'close');
begin
  update private.accounts a set closed_at = null, erases_at = null
   where a.id = caller.account and a.erases_at is not null;
  if not found then
    return false;
  end if;
  perform private.record_security(caller.account, 'account_reopened', 'The owner reopened the account.');
  perform private.enqueue_mail(caller.account, mail);
  return true;
end $$;

-- Erases a closed account whose time has come: its owner, every way in, and what it kept, with the keys that its vault and
-- mailbox were sealed with. After a restore from a backup that was made in the 30 days, it is erased again.
create function private.erase_account(of_account uuid) returns void language plpgsql as $$
begin
  perform private.hold_account(of_account);
  -- A sign-in that runs now holds this row: its session ends as well.
  perform from private.owners o where o.account = of_account for update;
  update private.accounts a set erases_at = null where a.id = of_account and a.erases_at <= private.clock();
  if not found then
    return;
  end if;
  update private.credentials k set revoked_at = private.clock()
   where k.account = of_account and k.revoked_at is null;
  delete from private.sessions s using private.credentials k
   where k.id = s.credential and k.account = of_account;
  delete from private.account_keys k where k.account = of_account;
  delete from private.vault_entries e where e.account = of_account;
  delete from private.vault_sites s where s.account = of_account;
  delete from private.outbox m where m.account = of_account;
  delete from private.mails m where m.account = of_account;
  delete from private.waiting_notices w where w.account = of_account;
  delete from private.push_devices d where d.account = of_account;
  delete from private.webhooks w where w.account = of_account;
  delete from private.recipient_labels l where l.account = of_account;
  delete from private.secured s where s.account = of_account;
  delete from private.passkeys p where p.account = of_account;
  delete from private.recovery_codes r where r.account = of_account;
  delete from private.mail_changes m where m.account = of_account;
  delete from private.owners o where o.account = of_account;
  perform private.record_security(of_account, 'account_erased',
    'The account was erased, 30 days after its owner closed it.');
end $$;

-- Erases the accounts whose time has come.
create function api.housekeeping_erase_accounts(batch integer) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.erase_account(due.id) from (
    select a.id from private.accounts a where a.erases_at <= private.clock() order by a.id limit batch) due;
end $$;

grant execute on function api.owner_read_closing, api.owner_close, api.owner_reopen,
  api.housekeeping_erase_accounts to service_role;
