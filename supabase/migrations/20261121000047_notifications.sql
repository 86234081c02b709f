-- Notices to the owner's browsers (Web Push), and what the owner wants to be told of and how. A push is a copy of a
-- notice in the outbox, so it has the same bounds, but leases of its own: it never delays a mail.

-- Browsers that receive pushes: ten for an account. What is here encrypts to a browser and opens nothing.
create table private.push_devices (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  -- Address at the push service of the browser's vendor (RFC 8030); shared/mail/push.ts decides if it may be reached.
  endpoint text not null check (length(endpoint) between 1 and 1000),
  -- Public key and authentication secret of the browser (RFC 8291 section 3), base64url.
  p256dh text not null check (p256dh ~ '^[A-Za-z0-9_-]{87}$'),
  auth text not null check (auth ~ '^[A-Za-z0-9_-]{22}$'),
  label text not null check (length(label) between 1 and 64),
  created_at timestamptz not null default private.clock(),
  -- Minutes in a row in which a push failed, and the last time of that.
  failures integer not null default 0,
  failed_at timestamptz,
  unique (account, endpoint)
);
alter table private.push_devices enable row level security;
insert into private.retention (of_table, reason) values ('push_devices',
  'Kept until the owner removes it, or its push service fails three times or says that it is gone; ten for an account.');

-- What the owner does not want, each as channel and kind. Mails about security are never left out.
alter table private.owners add column muted text[] not null default '{}'
  check (muted <@ array['mail:approvals', 'mail:logins', 'push:approvals', 'push:logins', 'push:security']);

alter table private.outbox add foreign key (device) references private.push_devices on delete cascade;
create index outbox_of_device on private.outbox (device) where device is not null;
create index outbox_pushes_waiting on private.outbox (send_after)
  where sealed is not null and device is not null;

-- Returns the kind of notice that a topic belongs to, in which the owner chooses.
create function private.notice_kind(topic text) returns text language sql immutable as $$
  select case when topic in ('approval_wanted', 'mandate_wanted') then 'approvals'
    when topic in ('login_entered', 'site_first_used') then 'logins' else 'security' end
$$;

create function private.is_muted(of_account uuid, channel text, topic text) returns boolean
  language sql stable as $$
  select exists (select from private.owners o where o.account = of_account
    and channel || ':' || private.notice_kind(topic) = any (o.muted))
$$;

-- Enqueues a notice for each browser of the account that receives pushes.
create function private.enqueue_push(of_account uuid, mail jsonb) returns void language sql as $$
  insert into private.outbox (id, account, topic, sealed, device, seals)
  select gen_random_uuid(), of_account, mail ->> 'topic', mail ->> 'sealed', d.id, (mail ->> 'id')::uuid
    from private.push_devices d where d.account = of_account
$$;

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
-- What no channel may leave out is refused.
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
    'A browser was added that receives notifications: ' || label || '.');
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
grant execute on function api.owner_read_notifications, api.owner_set_muted, api.owner_add_push_device,
  api.owner_remove_push_device, api.owner_test_push, api.mailer_claim_pushes, api.mailer_push_done,
  api.mailer_push_failed, api.mailer_device_gone to service_role;
