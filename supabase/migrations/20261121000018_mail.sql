-- Mail that waits to be sent. It is enqueued in the transaction that it reports, so neither happens without
-- the other. The text is sealed, so a code or link in it is not readable in the database.

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
  carries uuid,
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
  device uuid,
  seals uuid check ((seals is null) = (device is null)),
  check (account is not null or to_address is not null),
  check ((sealed is null) = (sent_at is not null or gave_up_at is not null))
);
alter table private.outbox enable row level security;
create index outbox_waiting on private.outbox (send_after) where sealed is not null and device is null;
create index outbox_topics on private.outbox (account, topic, created_at);

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
grant execute on function api.mailer_waiting, api.mailer_send_waiting to service_role;

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
grant execute on function api.mailer_claim, api.mailer_done, api.mailer_failed to service_role;
