-- Changing the owner's mail address. Each step is told to the owner and entered in the feed. Until the change takes
-- effect, mails go to the old address and sign-in works with that one.

-- True if the mailbox of this address receives the notices of another account.
create function private.is_mailbox_of_another(of_account uuid, address text) returns boolean
  language sql stable as $$
  select exists (select from private.owners o where o.account <> of_account
    and private.mailbox_of(o.email) = private.mailbox_of(address))
$$;

-- Sends a code to the new address, at most three at once and ten in a day for an account and for a mailbox. A mailbox
-- that belongs to another account gets the other mail, and its code is sent to nobody; the rest is the same work, so
-- the answer does not reveal which case it was. Answers false if a confirmed change is pending.
create function api.owner_ask_mail_address(
  credential text, email text, code_digest text, code_mail jsonb, known_mail jsonb, mail jsonb default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
begin
  perform private.take_slowly('mail-change:' || caller.account, 3, interval '144 minutes');
  perform private.take_slowly('mail-change-to:' || pg_catalog.md5(private.mailbox_of(email)), 3,
    interval '144 minutes');
  insert into private.mail_changes as m (account, email, code_digest)
  values (caller.account, owner_ask_mail_address.email, owner_ask_mail_address.code_digest)
  on conflict on constraint mail_changes_pkey do update set email = excluded.email,
    code_digest = excluded.code_digest, asked_at = excluded.asked_at, tries = 0
   where m.takes_effect_at is null;
  if not found then
    return false;
  end if;
  perform private.enqueue_mail(caller.account, case
    when private.is_mailbox_of_another(caller.account, email) then known_mail else code_mail end);
  perform private.enqueue_mail(caller.account, mail);
  perform private.record_security(caller.account, 'mail_address_asked', 'A change of the email address was requested.');
  return true;
end $$;

-- Confirms the address with its code, which is good for an hour and takes five tries; `later` are the mails about the
-- outcome. Answers false for a code that is not right or no longer good.
create function api.owner_confirm_mail_address(
  credential text, email text, code_digest text, later jsonb, mail jsonb default null,
  new_mail jsonb default null)
  returns table (confirmed boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'ways');
  expected text;
begin
  update private.mail_changes m set tries = m.tries + 1
   where m.account = caller.account and m.email = owner_confirm_mail_address.email
     and m.takes_effect_at is null and m.tries < 5 and m.asked_at > private.clock() - interval '1 hour'
  returning m.code_digest into expected;
  confirmed := coalesce(expected = any (string_to_array(owner_confirm_mail_address.code_digest, ' ')), false);
  if confirmed then
    update private.mail_changes m set takes_effect_at = private.clock() + interval '72 hours', mails = later
     where m.account = caller.account;
    perform private.record_security(caller.account, 'mail_address_confirmed',
      'The new email address was confirmed. It takes effect in 72 hours.');
    perform private.enqueue_mail(caller.account, mail);
    perform private.enqueue_mail(caller.account, new_mail);
  end if;
  return next;
end $$;

-- Stops a change that has not taken effect. Answers false if there is none.
create function api.owner_stop_mail_address(credential text, mail jsonb default null)
  returns table (stopped boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
begin
  delete from private.mail_changes m where m.account = caller.account;
  stopped := found;
  if stopped then
    perform private.record_security(caller.account, 'mail_address_stopped',
      'The change of the email address was stopped.');
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

-- Changes the mail address if its time has come and neither a freeze nor a hold stands. What waits in the outbox for
-- the owner goes to the new address from then on.
create function private.change_mail_address(of_account uuid) returns void language plpgsql as $$
declare
  held private.accounts := private.hold_account(of_account);
  change private.mail_changes;
begin
  perform from private.owners o where o.account = of_account and o.hold_until is null for no key update;
  if not found or held.frozen_at is not null then
    return;
  end if;
  delete from private.mail_changes m
   where m.account = of_account and m.takes_effect_at <= private.clock() returning m.* into change;
  if not found then
    return;
  end if;
  if private.is_mailbox_of_another(of_account, change.email) then
    perform private.record_security(of_account, 'mail_address_kept',
      'The email address stayed as it was, because the new one belongs to another account.');
    perform private.enqueue_mail(of_account, change.mails -> 'kept');
    return;
  end if;
  update private.owners o set email = change.email where o.account = of_account;
  perform private.record_security(of_account, 'mail_address_changed', 'The email address was changed.');
  perform private.enqueue_mail(of_account, change.mails -> 'old');
  perform private.enqueue_mail(of_account, change.mails -> 'new');
end $$;

-- Changes the mail addresses whose time has come.
create function api.housekeeping_change_mail_addresses(batch integer) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.change_mail_address(due.account) from (
    select m.account from private.mail_changes m join private.owners o on o.account = m.account
      join private.accounts a on a.id = m.account
     where m.takes_effect_at <= private.clock() and o.hold_until is null and a.frozen_at is null
     order by m.account limit batch) due;
end $$;

grant execute on function api.owner_ask_mail_address, api.owner_confirm_mail_address,
  api.owner_stop_mail_address, api.housekeeping_change_mail_addresses to service_role;
