-- Notices to the owner's browsers (Web Push), and what the owner wants to be told of and how. A push is a copy of a
-- notice in the outbox, so it has the same bounds, leases and tries.

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
  unique (account, endpoint)
);
alter table private.push_devices enable row level security;
insert into private.retention (of_table, reason) values ('push_devices',
  'Kept until the owner removes it or its push service says that it is gone; ten for an account.');

-- What the owner does not want, each as channel and kind. Mails about security are never left out.
alter table private.owners add column muted text[] not null default '{}'
  check (muted <@ array['mail:approvals', 'mail:logins', 'push:approvals', 'push:logins', 'push:security']);

-- A push goes to one browser. It repeats a notice, and is sealed under that one's id.
alter table private.outbox add column device uuid references private.push_devices on delete cascade;
alter table private.outbox add column seals uuid check ((seals is null) = (device is null));
create index outbox_of_device on private.outbox (device) where device is not null;

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
  caller private.credentials := private.admit_owner(credential);
begin
  return query select o.muted,
    (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'label', d.label,
        'created_at', d.created_at) order by d.created_at, d.id), '[]')
      from private.push_devices d where d.account = caller.account)
    from private.owners o where o.account = caller.account;
end $$;

-- Sets what the owner does not want to be told. What no channel may leave out is refused.
create function api.owner_set_muted(credential text, muted text[]) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.hold_live(caller);
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

-- Has a browser receive pushes, with a fresh proof: it does so after its session has ended. Answers false if there are
-- ten already.
create function api.owner_add_push_device(
  credential text, endpoint text, p256dh text, auth text, label text, mail jsonb default null)
  returns table (added boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, true);
  devices_max constant integer := 10;
begin
  perform private.hold_live(caller);
  delete from private.push_devices d
   where d.account = caller.account and d.endpoint = owner_add_push_device.endpoint;
  if (select count(*) from private.push_devices d where d.account = caller.account) >= devices_max then
    return query select false;
    return;
  end if;
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
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.hold_live(caller);
  delete from private.push_devices d where d.id = device and d.account = caller.account;
  if found then
    perform private.record_change(caller, 'security', 'push_device_removed',
      'A browser no longer receives notifications.');
  end if;
  return found;
end $$;

-- Sends a push to each browser of the account, to see that they arrive: five at once and one each minute.
create function api.owner_test_push(credential text, mail jsonb) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  perform private.take_slowly('test-push:' || caller.account, 5, interval '1 minute');
  perform private.enqueue_push(caller.account, mail);
  return true;
end $$;

-- Removes the browser of a push whose service says that it is gone (RFC 8030 section 7.3), with all that waits for it.
create function api.mailer_device_gone(push uuid) returns void
  language sql security definer set search_path = '' as $$
  delete from private.push_devices d using private.outbox m where m.id = push and d.id = m.device
$$;
grant execute on function api.owner_read_notifications, api.owner_set_muted, api.owner_add_push_device,
  api.owner_remove_push_device, api.owner_test_push, api.mailer_device_gone to service_role;
