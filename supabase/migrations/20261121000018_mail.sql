-- Mail that waits to be sent. It is enqueued in the transaction of what it tells of, so neither
-- happens without the other. The text is sealed: a code or a link in it is not in the database.

create table private.outbox (
  -- The name of the mail everywhere: Message-ID, and the key by which a provider knows a repeat.
  id uuid primary key,
  account uuid references private.accounts,
  -- Null stands for the owner of the account, whose address is looked up when the mail is sent.
  to_address text check (length(to_address) <= 254
    and to_address ~ '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$'),
  topic text not null check (topic ~ '^[a-z_]{1,40}$'),
  -- The mail of the account that this carries to one of its recipients; null for a notice of ours.
  carries uuid,
  -- The key or app that had it sent; null for a notice of ours.
  sent_by uuid references private.credentials,
  -- Whether an agent writes to somebody who gets notices: the mail says then that it is none.
  to_owner boolean not null default false,
  -- AES-256-GCM under a key that the database never sees; null once the mail needs no more tries.
  sealed text,
  created_at timestamptz not null default private.clock(),
  -- Not before then is it taken (again); taking it moves this on, so it is also the lease.
  send_after timestamptz not null default private.clock(),
  tries integer not null default 0,
  sent_at timestamptz,
  gave_up_at timestamptz,
  -- What the last try that failed said.
  failed_reason text check (length(failed_reason) <= 300),
  check (account is not null or to_address is not null),
  check ((sealed is null) = (sent_at is not null or gave_up_at is not null))
);
alter table private.outbox enable row level security;
create index outbox_waiting on private.outbox (send_after) where sealed is not null;
create index outbox_topics on private.outbox (account, topic, created_at);

-- Notices that were left out because an hour's were sent, until one mail tells of them.
create table private.untold_mails (
  id uuid primary key default gen_random_uuid(),
  account uuid not null unique references private.accounts,
  -- How many of each topic.
  topics jsonb not null,
  -- When the first of them was left out.
  since timestamptz not null default private.clock()
);
alter table private.untold_mails enable row level security;

-- How many notices of a topic an account is sent in an hour, where keys, links, apps or whoever pays can
-- cause it; null for what is the owner's own act.
create function private.hourly_max(topic text) returns integer language sql immutable as $$
  select case
    when topic = 'site_first_used' then 20
    when topic in ('account_frozen', 'app_token_reused', 'approval_wanted', 'balance_short',
      'login_entered', 'mandate_wanted', 'money_unaccounted') then 6
  end
$$;

-- Enqueues what shared/mail/outbox.ts sealed: {id, to, topic, sealed}; null enqueues nothing, and so
-- does a notice to the owner of an account that has none. A mail of the same id is enqueued once. What
-- is more than an account is sent of a topic in an hour is counted, to be told later. Whether it is
-- enqueued, now or before.
create function private.enqueue_mail(account uuid, mail jsonb) returns boolean
  language plpgsql as $$
declare
  most constant integer := private.hourly_max(mail ->> 'topic');
begin
  if mail is null or mail ->> 'to' is null and not exists (
    select from private.owners o where o.account = enqueue_mail.account) then
    return false;
  end if;
  if most is not null then
    -- One after the other, or many at once would each find room for one more.
    perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('mails:' || account, 0));
    if not exists (select from private.outbox m where m.id = (enqueue_mail.mail ->> 'id')::uuid)
      and (select count(*) from private.outbox m where m.account = enqueue_mail.account
        and m.topic = enqueue_mail.mail ->> 'topic'
        and m.created_at > private.clock() - interval '1 hour') >= most then
      insert into private.untold_mails as u (account, topics)
      values (enqueue_mail.account, jsonb_build_object(mail ->> 'topic', 1))
      on conflict on constraint untold_mails_account_key do update set topics = u.topics
        || jsonb_build_object(mail ->> 'topic', 1 + coalesce((u.topics -> (mail ->> 'topic'))::integer, 0));
      return false;
    end if;
  end if;
  insert into private.outbox (id, account, to_address, topic, sealed) values (
    (mail ->> 'id')::uuid, account, mail ->> 'to', mail ->> 'topic', mail ->> 'sealed')
  on conflict on constraint outbox_pkey do nothing;
  return true;
end $$;

-- What was left out of an account's notices since an hour ago or longer, by when there was room again.
-- So an account is sent one mail an hour of it, whoever floods it.
create function api.mailer_untold(accounts_max integer) returns table (told uuid, topics jsonb)
  language sql security definer set search_path = '' as $$
  select u.id, u.topics from private.untold_mails u
   where u.since <= private.clock() - interval '1 hour' order by u.since limit accounts_max
$$;

-- Tells an owner what was left out, unless that is not all any more, or another mailer told it.
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

-- Whether a letter waits because its account is frozen.
create function private.is_letter_held(m private.outbox) returns boolean
  language sql stable as $$
  select m.carries is not null and exists (select from private.accounts a
    where a.id = m.account and a.frozen_at is not null)
$$;

-- Whether a key or app was ended, and not only let in anew under another grant.
create function private.is_revoked(k private.credentials) returns boolean
  language plpgsql stable as $$
begin
  return k.revoked_at is not null and not exists (select from private.oauth_grants g
    where g.credential = k.id and g.ended_because = 'replaced');
end $$;

-- Gives up letters of a key or app whose owner ended it, or ended the last that took its place. One that only
-- came back under another grant goes on.
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

-- Takes mails for one try each. Whoever takes one has until its next try to send it. A mail whose
-- last try has passed is given up. `recipient` is what the mail is sealed for, `address` where it
-- goes; null when the account has no owner any more.
create function api.mailer_claim(mails_max integer)
  returns table (
    id uuid, recipient text, address text, sealed text, created_at timestamptz, tries integer,
    to_owner boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  tries_max constant integer := 10;
  at timestamptz := private.clock();
begin
  -- What an account sent is kept as long as its mail, which tells what became of it.
  delete from private.outbox m where m.created_at < at - interval '30 days' and m.carries is null;
  update private.outbox m set gave_up_at = at, sealed = null,
    failed_reason = coalesce(m.failed_reason, 'the mailer did not answer')
   where m.sealed is not null and m.send_after <= at and m.tries >= tries_max;
  perform private.drop_letters();
  return query
    update private.outbox m set tries = m.tries + 1,
      -- 1, 2, 4 ... minutes, at most an hour.
      send_after = at + least(interval '1 minute' * 2 ^ m.tries, interval '1 hour')
     where m.id in (select w.id from private.outbox w
       where w.sealed is not null and w.send_after <= at and not private.is_letter_held(w)
       order by w.send_after limit mails_max for update skip locked)
    returning m.id, m.to_address, coalesce(m.to_address,
      (select o.email from private.owners o where o.account = m.account)),
      m.sealed, m.created_at, m.tries, m.to_owner;
end $$;

-- The mail was accepted for delivery; its text is erased.
create function api.mailer_done(mail uuid) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  update private.outbox m set sent_at = private.clock(), sealed = null, failed_reason = null
   where m.id = mail and m.sealed is not null;
  perform private.note_health('mail_out', null);
end $$;

-- A try failed: it is tried again when its time comes, or, refused `for_good`, never. With `outage` the
-- server would have taken no other mail either, which lasts until it takes one.
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
