-- The mailer, which sends what waits, and what the owner wants to be told of and how: by mail, and by notices in
-- browsers (Web Push). A push is a copy of a notice in the outbox, so it has the same bounds, but leases of its
-- own: it never delays a mail.

-- Returns the waiting rows whose topic has room again.
create function api.mailer_waiting(mails_max integer)
  returns table (of_account uuid, topic text, notices integer, since timestamptz)
  language sql security definer set search_path = '' as $$
  select w.account, w.topic, w.notices, w.since from private.waiting_notices w
   where private.notices_left(w.account, w.topic) > 0 order by w.since limit mails_max
$$;

-- Sends the mail about a waiting row, which takes one place of its topic. What was counted since then waits
-- on. Answers false, and sends nothing, if another mailer sent it or the place was taken.
create function api.mailer_send_waiting(
  of_account uuid, since timestamptz, notices integer, mail jsonb)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  waited integer;
begin
  perform private.lock_notices(of_account);
  delete from private.waiting_notices w
   where w.account = of_account and w.topic = mail ->> 'topic'
     and w.since = mailer_send_waiting.since and w.notices >= mailer_send_waiting.notices
     and private.notices_left(of_account, w.topic) > 0
  returning w.notices into waited;
  if waited is null or not private.enqueue_mail(of_account, mail) then
    return false;
  end if;
  if waited > notices then
    insert into private.waiting_notices values (of_account, mail ->> 'topic', waited - notices);
  end if;
  return true;
end $$;

-- True if a letter waits because its account is frozen.
create function private.is_letter_held(m private.outbox) returns boolean
  language sql stable as $$
  select m.carries is not null and exists (select from private.accounts a
    where a.id = m.account and a.frozen_at is not null)
$$;

-- True if a key or app was ended, other than by a new grant that replaced its own.
create function private.is_revoked(k private.credentials) returns boolean
  language plpgsql stable as $$
begin
  return k.revoked_at is not null and not exists (select from private.oauth_grants g
    where g.credential = k.id and g.ended_because = 'replaced');
end $$;

-- Gives up letters of a key or app that was ended, or whose last successor was. One that only came back under
-- another grant continues.
create function private.drop_letters() returns void language plpgsql as $$
begin
  update private.outbox m set gave_up_at = private.clock(), sealed = null,
    failed_reason = 'who had it sent was revoked before it was sent'
   from private.credentials k
   where k.id = m.sent_by and m.sealed is not null and (private.is_revoked(k)
     or not private.is_holder_live(k.id) and exists (select from private.credentials x
       where x.account = k.account and private.budget_of(x) = private.budget_of(k)
         and private.is_revoked(x)));
end $$;

-- Takes mails for one try each. The caller has until the next try to send them. A mail whose last try has
-- passed is given up. `recipient` is what the mail is sealed for; `address` is where it goes, null if the
-- account no longer has an owner. Pushes are taken apart (mailer_claim_pushes).
create function api.mailer_claim(mails_max integer)
  returns table (
    id uuid, recipient text, address text, sealed text, created_at timestamptz, tries integer,
    to_owner boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  tries_max constant integer := 10;
  at timestamptz := private.clock();
begin
  update private.outbox m set gave_up_at = at, sealed = null,
    failed_reason = coalesce(m.failed_reason, 'the mailer did not answer')
   where m.sealed is not null and m.device is null and m.send_after <= at and m.tries >= tries_max;
  perform private.drop_letters();
  return query
    update private.outbox m set tries = m.tries + 1,
      -- 1, 2, 4 ... minutes, at most an hour.
      send_after = at + least(interval '1 minute' * 2 ^ m.tries, interval '1 hour')
     where m.id in (select w.id from private.outbox w
       where w.sealed is not null and w.device is null and w.send_after <= at and not private.is_letter_held(w)
       order by w.send_after limit mails_max for update skip locked)
    returning m.id, m.to_address, coalesce(m.to_address,
      (select o.email from private.owners o where o.account = m.account)),
      m.sealed, m.created_at, m.tries, m.to_owner;
end $$;

-- Records that a mail was accepted for delivery and erases its text.
create function api.mailer_done(mail uuid) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  update private.outbox m set sent_at = private.clock(), sealed = null, failed_reason = null
   where m.id = mail and m.sealed is not null;
  perform private.note_health('mail_out', null);
end $$;

-- Records a failed try. The mail is tried again at its time or, if refused `for_good`, never. `outage` means
-- that the server would have refused any other mail too; that state lasts until it accepts one.
create function api.mailer_failed(mail uuid, reason text, for_good boolean, outage boolean)
  returns void language plpgsql security definer set search_path = '' as $$
begin
  update private.outbox m set failed_reason = left(reason, 300),
    gave_up_at = case when for_good then private.clock() end,
    sealed = case when for_good then null else m.sealed end
   where m.id = mail and m.sealed is not null;
  if outage then
    perform private.note_health('mail_out', 'server_failing');
  end if;
end $$;

-- Returns what the owner chose, and the browsers that receive pushes.
create function api.owner_read_notifications(credential text)
  returns table (muted text[], devices jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select o.muted,
    (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'label', d.label,
        'created_at', d.created_at) order by d.created_at, d.id), '[]')
      from private.push_devices d where d.account = caller.account)
    from private.owners o where o.account = caller.account;
end $$;

-- Sets what the owner does not want to be told. Leaving out more takes a fresh proof: a thief would begin with that.
-- Leaving out mails about security is refused.
create function api.owner_set_muted(credential text, muted text[]) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
begin
  perform private.hold_live(caller);
  if not exists (select from private.owners o where o.account = caller.account
    and owner_set_muted.muted <@ o.muted) then
    perform private.admit_owner(credential, 'widen');
  end if;
  update private.owners o set muted = owner_set_muted.muted
   where o.account = caller.account and o.muted is distinct from owner_set_muted.muted;
  if found then
    perform private.record_change(caller, 'security', 'notices_chosen',
      'The owner changed which notices are sent.');
  end if;
  return true;
exception when check_violation then
  perform private.refuse('invalid_request', '400');
end $$;

-- Has a browser receive pushes, with a fresh proof: it does so after its session has ended. At most 20 are added in a
-- day; one that is there gets its new keys, without a notice. Answers false if there are ten already.
create function api.owner_add_push_device(
  credential text, endpoint text, p256dh text, auth text, label text, mail jsonb default null)
  returns table (added boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
  devices_max constant integer := 10;
begin
  update private.push_devices d set p256dh = owner_add_push_device.p256dh,
    auth = owner_add_push_device.auth, label = owner_add_push_device.label
   where d.account = caller.account and d.endpoint = owner_add_push_device.endpoint;
  if found then
    return query select true;
    return;
  end if;
  if (select count(*) from private.push_devices d where d.account = caller.account) >= devices_max then
    return query select false;
    return;
  end if;
  perform private.take_slowly('add-push:' || caller.account, 10, interval '144 minutes');
  perform private.enqueue_mail(caller.account, mail);
  insert into private.push_devices (account, endpoint, p256dh, auth, label)
  values (caller.account, endpoint, p256dh, auth, label);
  perform private.record_change(caller, 'security', 'push_device_added',
    'A browser was added to receive notifications: ' || label || '.');
  return query select true;
exception when check_violation then
  perform private.refuse('invalid_request', '400');
end $$;

create function api.owner_remove_push_device(credential text, device uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'end');
begin
  delete from private.push_devices d where d.id = device and d.account = caller.account;
  if found then
    perform private.record_change(caller, 'security', 'push_device_removed',
      'A browser no longer receives notifications.');
  end if;
  return found;
end $$;

-- Sends a push to each browser of the account, to see that they arrive, at most 20 times in a day.
create function api.owner_test_push(credential text, mail jsonb) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  perform private.take_slowly('test-push:' || caller.account, 10, interval '144 minutes');
  perform private.enqueue_push(caller.account, mail);
  return true;
end $$;

-- Takes pushes for one try each, at most five for an account, those of all accounts in turn, and none for a browser
-- that failed within the last minute. After three tries a push is given up. `seals` is the id that it was sealed under.
create function api.mailer_claim_pushes(pushes_max integer)
  returns table (id uuid, sealed text, tries integer, seals uuid, topic text, device jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  tries_max constant integer := 3;
  of_account_max constant integer := 5;
  at timestamptz := private.clock();
begin
  update private.outbox m set gave_up_at = at, sealed = null,
    failed_reason = coalesce(m.failed_reason, 'the mailer did not answer')
   where m.sealed is not null and m.device is not null and m.send_after <= at and m.tries >= tries_max;
  return query
    update private.outbox m set tries = m.tries + 1,
      send_after = at + interval '1 minute' * 2 ^ m.tries
      from private.push_devices d
     where d.id = m.device and m.id in (select w.id from private.outbox w
       where w.sealed is not null and w.send_after <= at and w.id in (
         select x.id from (
           select o.id, o.send_after,
             row_number() over (partition by o.account order by o.send_after, o.id) as turn
            from private.outbox o join private.push_devices y on y.id = o.device
           where o.sealed is not null and o.device is not null and o.send_after <= at
             and coalesce(y.failed_at <= at - interval '1 minute', true)) x
          where x.turn <= of_account_max order by x.turn, x.send_after limit pushes_max)
       for update skip locked)
    returning m.id, m.sealed, m.tries, m.seals, m.topic,
      jsonb_build_object('endpoint', d.endpoint, 'p256dh', d.p256dh, 'auth', d.auth);
end $$;

-- Records that a push was taken by its service and erases its text.
create function api.mailer_push_done(push uuid) returns void
  language sql security definer set search_path = '' as $$
  update private.outbox m set sent_at = private.clock(), sealed = null, failed_reason = null
   where m.id = push and m.sealed is not null;
  update private.push_devices d set failures = 0, failed_at = null
    from private.outbox m where m.id = push and d.id = m.device and d.failures > 0
$$;

-- Records a failed try of a push, which is tried again at its time unless it was refused `for_good`. The browser is
-- removed, with all that waits for it, if that is its third failure in a row; what fails within a minute is one failure.
create function api.mailer_push_failed(push uuid, reason text, for_good boolean) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  failures_max constant integer := 3;
begin
  update private.outbox m set failed_reason = left(reason, 300),
    gave_up_at = case when for_good then private.clock() end,
    sealed = case when for_good then null else m.sealed end
   where m.id = push and m.sealed is not null;
  update private.push_devices d set failures = d.failures + 1, failed_at = private.clock()
    from private.outbox m where m.id = push and d.id = m.device
     and coalesce(d.failed_at <= private.clock() - interval '1 minute', true);
  delete from private.push_devices d using private.outbox m
   where m.id = push and d.id = m.device and d.failures >= failures_max;
end $$;

-- Removes the browser of a push whose service says that it is gone (RFC 8030 section 7.3), with all that waits for it.
create function api.mailer_device_gone(push uuid) returns void
  language sql security definer set search_path = '' as $$
  delete from private.push_devices d using private.outbox m where m.id = push and d.id = m.device
$$;

grant execute on function api.mailer_waiting, api.mailer_send_waiting, api.mailer_claim, api.mailer_done,
  api.mailer_failed, api.owner_read_notifications, api.owner_set_muted, api.owner_add_push_device,
  api.owner_remove_push_device, api.owner_test_push, api.mailer_claim_pushes, api.mailer_push_done,
  api.mailer_push_failed, api.mailer_device_gone to service_role;
