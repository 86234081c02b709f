-- Notices: mail and pushes that wait to be sent. One is enqueued in the transaction that it reports, so neither
-- happens without the other. The text is sealed, so a code or link in it is not readable in the database.

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

create table private.outbox (
  -- Identifies the mail everywhere: it is the Message-ID, and the key by which a provider recognizes a
  -- repeat.
  id uuid primary key,
  account uuid references private.accounts,
  -- Null stands for the owner of the account, whose address is looked up when the mail is sent.
  to_address text check (length(to_address) <= 254
    and to_address ~ '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$'),
  topic text not null check (topic ~ '^[a-z_]{1,40}$'),
  -- The mail of the account that this carries to one of its recipients; null for a notice of the service.
  carries uuid references private.mails on delete cascade,
  -- The key or app that had it sent; null for a notice of the service.
  sent_by uuid references private.credentials,
  -- True if an agent writes to somebody who receives notices; the mail then says that it is not a notice.
  to_owner boolean not null default false,
  -- AES-256-GCM under a key that the database never sees; null once the mail needs no more tries.
  sealed text,
  created_at timestamptz not null default private.clock(),
  -- Earliest time of the next try. Taking the mail moves it on, so it is also the lease.
  send_after timestamptz not null default private.clock(),
  tries integer not null default 0,
  sent_at timestamptz,
  gave_up_at timestamptz,
  -- Error of the last failed try.
  failed_reason text check (length(failed_reason) <= 300),
  -- A push goes to one browser. It repeats a notice, and is sealed under that one's id.
  device uuid references private.push_devices on delete cascade,
  seals uuid check ((seals is null) = (device is null)),
  check (account is not null or to_address is not null),
  check ((sealed is null) = (sent_at is not null or gave_up_at is not null))
);
alter table private.outbox enable row level security;
create index outbox_waiting on private.outbox (send_after) where sealed is not null and device is null;
create index outbox_topics on private.outbox (account, topic, created_at);
create index outbox_age on private.outbox (created_at) where carries is null;
create index outbox_of_mail on private.outbox (carries) where carries is not null;
create index outbox_of_device on private.outbox (device) where device is not null;
create index outbox_pushes_waiting on private.outbox (send_after)
  where sealed is not null and device is not null;

-- Notices that exceeded an hour's number: one row for each account and topic, until one mail tells how many.
create table private.waiting_notices (
  account uuid not null references private.accounts,
  topic text not null,
  notices integer not null check (notices > 0),
  -- Time of the first of them.
  since timestamptz not null default private.clock(),
  primary key (account, topic)
);
alter table private.waiting_notices enable row level security;

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

-- Returns the number of notices of a topic that an account gets in an hour, for topics that keys, links, apps
-- or payers can cause; null for acts of the owner.
create function private.hourly_max(topic text) returns integer language sql immutable as $$
  select case
    when topic = 'site_first_used' then 20
    when topic in ('account_frozen', 'app_token_reused', 'approval_wanted', 'balance_short',
      'login_entered', 'mandate_wanted', 'money_unaccounted') then 6
  end
$$;

-- Returns how many more notices of a limited topic an account may get in this hour.
create function private.notices_left(of_account uuid, of_topic text) returns integer
  language sql stable as $$
  select private.hourly_max(of_topic) - count(*)::integer from private.outbox m
   where m.account = of_account and m.topic = of_topic and m.device is null
     and m.created_at > private.clock() - interval '1 hour'
$$;

-- Counts and enqueues notices of an account one after the other; otherwise many at once would each find room.
create function private.lock_notices(of_account uuid) returns void language sql as $$
  select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('mails:' || of_account, 0))
$$;

-- Enqueues what shared/mail/outbox.ts sealed: {id, to, topic, sealed}. Null enqueues nothing, nor does a
-- notice for an account without an owner. A mail with the same id is enqueued once. Notices beyond the hourly
-- number of a topic are counted in its waiting row; while there is one, the last place is for the mail about
-- it. Answers true if the mail is enqueued, now or before.
create function private.enqueue_mail(account uuid, mail jsonb) returns boolean
  language plpgsql as $$
declare
  of_topic constant text := mail ->> 'topic';
  muted boolean;
begin
  if mail is null or mail ->> 'to' is null and not exists (
    select from private.owners o where o.account = enqueue_mail.account) then
    return false;
  end if;
  if private.hourly_max(of_topic) is not null then
    perform private.lock_notices(account);
    if not exists (select from private.outbox m where m.id = (enqueue_mail.mail ->> 'id')::uuid)
      and private.notices_left(account, of_topic) <= (select count(*) from private.waiting_notices w
        where w.account = enqueue_mail.account and w.topic = of_topic) then
      insert into private.waiting_notices as w values (enqueue_mail.account, of_topic, 1)
      on conflict on constraint waiting_notices_pkey do update set notices = w.notices + 1;
      return false;
    end if;
  end if;
  muted := mail ->> 'to' is null and private.is_muted(account, 'mail', of_topic);
  -- A notice that the owner does not want by mail is entered as given up: it counts, and is enqueued once.
  insert into private.outbox (id, account, to_address, topic, sealed, gave_up_at, failed_reason) values (
    (mail ->> 'id')::uuid, account, mail ->> 'to', of_topic,
    case when not muted then mail ->> 'sealed' end, case when muted then private.clock() end,
    case when muted then 'its owner wants no such mail' end)
  on conflict on constraint outbox_pkey do nothing;
  if found and mail ->> 'to' is null and not private.is_muted(account, 'push', of_topic) then
    perform private.enqueue_push(account, mail);
  end if;
  return true;
end $$;
