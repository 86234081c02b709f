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

-- Notices that were left out because an hour's number was sent, until one mail reports them.
create table private.untold_mails (
  id uuid primary key default gen_random_uuid(),
  account uuid not null unique references private.accounts,
  -- Number of notices left out, for each topic.
  topics jsonb not null,
  -- Time when the first of them was left out.
  since timestamptz not null default private.clock()
);
alter table private.untold_mails enable row level security;

-- Returns the number of notices of a topic that an account gets in an hour, for topics that keys, links, apps
-- or payers can cause; null for acts of the owner.
create function private.hourly_max(topic text) returns integer language sql immutable as $$
  select case
    when topic = 'site_first_used' then 20
    when topic in ('account_frozen', 'app_token_reused', 'approval_wanted', 'balance_short',
      'login_entered', 'mandate_wanted', 'money_unaccounted') then 6
  end
$$;

-- Enqueues what shared/mail/outbox.ts sealed: {id, to, topic, sealed}. Null enqueues nothing, nor does a
-- notice for an account without an owner. A mail with the same id is enqueued once. Notices beyond the hourly
-- number of a topic are counted, to be reported later. Answers true if the mail is enqueued, now or before.
create function private.enqueue_mail(account uuid, mail jsonb) returns boolean
  language plpgsql as $$
declare
  most constant integer := private.hourly_max(mail ->> 'topic');
  muted boolean;
begin
  if mail is null or mail ->> 'to' is null and not exists (
    select from private.owners o where o.account = enqueue_mail.account) then
    return false;
  end if;
  if most is not null then
    -- One after the other; otherwise many at once would each find room for one more.
    perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('mails:' || account, 0));
    if not exists (select from private.outbox m where m.id = (enqueue_mail.mail ->> 'id')::uuid)
      and (select count(*) from private.outbox m where m.account = enqueue_mail.account
        and m.topic = enqueue_mail.mail ->> 'topic' and m.device is null
        and m.created_at > private.clock() - interval '1 hour') >= most then
      insert into private.untold_mails as u (account, topics)
      values (enqueue_mail.account, jsonb_build_object(mail ->> 'topic', 1))
      on conflict on constraint untold_mails_account_key do update set topics = u.topics
        || jsonb_build_object(mail ->> 'topic', 1 + coalesce((u.topics -> (mail ->> 'topic'))::integer, 0));
      return false;
    end if;
  end if;
  muted := mail ->> 'to' is null and private.is_muted(account, 'mail', mail ->> 'topic');
  -- A notice that the owner does not want by mail is entered as given up: it counts, and is enqueued once.
  insert into private.outbox (id, account, to_address, topic, sealed, gave_up_at, failed_reason) values (
    (mail ->> 'id')::uuid, account, mail ->> 'to', mail ->> 'topic',
    case when not muted then mail ->> 'sealed' end, case when muted then private.clock() end,
    case when muted then 'its owner wants no such mail' end)
  on conflict on constraint outbox_pkey do nothing;
  if found and mail ->> 'to' is null and not private.is_muted(account, 'push', mail ->> 'topic') then
    perform private.enqueue_push(account, mail);
  end if;
  return true;
end $$;

-- Returns the notices that accounts did not get, from those whose first was left out at least an hour ago,
-- when there is room again. So an account gets one such mail an hour, however much it is flooded.
create function api.mailer_untold(accounts_max integer) returns table (told uuid, topics jsonb)
  language sql security definer set search_path = '' as $$
  select u.id, u.topics from private.untold_mails u
   where u.since <= private.clock() - interval '1 hour' order by u.since limit accounts_max
$$;

-- Reports to an owner what was left out. Answers false, and sends nothing, if more was left out since,
-- another mailer reported it, or the mail was not enqueued.
create function api.mailer_tell(told uuid, topics jsonb, mail jsonb) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  of_account uuid;
begin
  delete from private.untold_mails u
   where u.id = told and u.topics = mailer_tell.topics returning u.account into of_account;
  return of_account is not null and private.enqueue_mail(of_account, mail);
end $$;
grant execute on function api.mailer_untold, api.mailer_tell to service_role;

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
