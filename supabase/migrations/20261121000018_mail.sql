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

-- Enqueues what shared/mail/outbox.ts sealed: {id, to, topic, sealed}; null enqueues nothing, and so
-- does a notice to the owner of an account that has none. A mail of the same id is enqueued once. Of
-- a topic that an agent can cause, `hourly_max` keeps it from flooding the owner.
create function private.enqueue_mail(account uuid, mail jsonb, hourly_max integer default null)
  returns void language plpgsql as $$
begin
  if mail is null or mail ->> 'to' is null and not exists (
    select from private.owners o where o.account = enqueue_mail.account) then
    return;
  end if;
  if hourly_max is not null then
    -- One after the other, or many at once would each find room for one more.
    perform from private.owners o where o.account = enqueue_mail.account for no key update;
    if (select count(*) from private.outbox m where m.account = enqueue_mail.account
      and m.topic = enqueue_mail.mail ->> 'topic'
      and m.created_at > private.clock() - interval '1 hour') >= hourly_max then
      return;
    end if;
  end if;
  insert into private.outbox (id, account, to_address, topic, sealed) values (
    (mail ->> 'id')::uuid, account, mail ->> 'to', mail ->> 'topic', mail ->> 'sealed')
  on conflict on constraint outbox_pkey do nothing;
end $$;

-- Whether a letter waits because its account is frozen.
create function private.is_letter_held(m private.outbox) returns boolean
  language sql stable as $$
  select m.carries is not null and exists (select from private.accounts a
    where a.id = m.account and a.frozen_at is not null)
$$;

-- Gives up letters of a key or app whose owner ended it. One that only came back under another grant goes on.
create function private.drop_letters() returns void language plpgsql as $$
begin
  update private.outbox m set gave_up_at = private.clock(), sealed = null,
    failed_reason = 'who had it sent was revoked before it was sent'
   from private.credentials k
   where k.id = m.sent_by and k.revoked_at is not null and m.sealed is not null
     and not exists (select from private.oauth_grants g
       where g.credential = k.id and g.ended_because = 'replaced');
end $$;

-- Takes mails for one try each. Whoever takes one has until its next try to send it. A mail whose
-- last try has passed is given up. `recipient` is what the mail is sealed for, `address` where it
-- goes; null when the account has no owner any more.
create function api.mailer_claim(mails_max integer)
  returns table (
    id uuid, recipient text, address text, sealed text, created_at timestamptz, tries integer)
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
      m.sealed, m.created_at, m.tries;
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
