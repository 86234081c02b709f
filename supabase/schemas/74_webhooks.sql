-- Webhooks: addresses to which the events of an account are sent. An event is a new item of the feed, or that a payment
-- is over. A webhook belongs to the key or app that made it, and nothing is sent once that one has ended.

create table private.webhooks (
  id uuid primary key,
  account uuid not null references private.accounts,
  made_by uuid not null references private.credentials,
  url text not null check (length(url) between 1 and 2048),
  -- The secret that signs, under a key that the database never sees.
  sealed text not null check (length(sealed) <= 200),
  created_at timestamptz not null default private.clock(),
  -- Earliest time of the next try. Taking the webhook moves it on, so it is also the lease.
  send_after timestamptz not null default private.clock(),
  -- Tries in a row that failed, the time of the first of them, and what the last one met.
  failures integer not null default 0,
  failing_since timestamptz,
  failed_reason text check (length(failed_reason) <= 300),
  ended_at timestamptz
);
alter table private.webhooks enable row level security;
create index webhooks_of_account on private.webhooks (account);
create index webhooks_ended on private.webhooks (ended_at) where ended_at is not null;

create table private.webhook_events (
  webhook uuid not null references private.webhooks on delete cascade,
  -- The same in every try: the item of the feed, and how the payment ended.
  event text not null check (event ~ '^[0-9]+(_[a-z]+)?$'),
  activity bigint not null references private.activities on delete cascade,
  type text not null,
  at timestamptz not null default private.clock(),
  tries integer not null default 0,
  -- Null once it arrived or was given up.
  send_after timestamptz default private.clock(),
  arrived_at timestamptz,
  primary key (webhook, event)
);
alter table private.webhook_events enable row level security;
create index webhook_events_waiting on private.webhook_events (webhook, tries, at) where send_after is not null;
create index webhook_events_of_activity on private.webhook_events (activity);
create index webhook_events_age on private.webhook_events (at);

-- Returns the type of the event that an item is: its category and what happened, such as mail.received.
create function private.event_type(a private.activities) returns text language sql immutable as $$
  select a.category || '.' || pg_catalog.regexp_replace(a.type, '^' || a.category || '_', '')
$$;

-- Trigger: an item of the feed is an event of each webhook of its account.
create function private.note_item() returns trigger language plpgsql as $$
begin
  insert into private.webhook_events (webhook, event, activity, type)
  select w.id, new.id, new.id, private.event_type(new) from private.webhooks w
   where w.account = new.account and w.ended_at is null;
  return null;
end $$;
create trigger noted_for_webhooks after insert on private.activities
  for each row when (not new.hidden) execute function private.note_item();

-- Trigger: so is the end of a payment that the feed shows.
create function private.note_end() returns trigger language plpgsql as $$
begin
  insert into private.webhook_events (webhook, event, activity, type)
  select w.id, v.id || '_' || new.state, v.id, private.category_of(new) || '.' || new.state
    from private.webhooks w cross join lateral (
      select a.id from private.activities a where a.payment = new.id order by a.id desc limit 1) v
   where w.account = new.account and w.ended_at is null
  on conflict do nothing;
  return null;
end $$;
create trigger noted_for_webhooks after update of state on private.payments
  for each row when (new.state is distinct from old.state
    and new.state in ('settled', 'released', 'expired', 'declined'))
  execute function private.note_end();

-- Makes a webhook, unless the account has five already; its own entry in the feed is its first event.
create function api.create_webhook(credential text, webhook uuid, url text, sealed text)
  returns table (created_at timestamptz) language plpgsql security definer set search_path = '' as $$
declare
  webhooks_max constant integer := 5;
  caller private.credentials := private.admit(credential, 'pay');
begin
  perform private.hold_unfrozen(caller);
  perform private.ask_for_room(private.budget_of(caller));
  if (select count(*) from private.webhooks w where w.account = caller.account and w.ended_at is null)
      >= webhooks_max then
    return;
  end if;
  perform private.take_slowly('webhook:' || caller.account, 20, interval '1 hour');
  insert into private.webhooks as w (id, account, made_by, url, sealed)
  values (webhook, caller.account, caller.id, create_webhook.url, create_webhook.sealed)
  returning w.created_at into create_webhook.created_at;
  perform private.record_change(caller, 'security', 'webhook_created', pg_catalog.format(
    'Events of the account are sent to %s, as the %s asked.',
    split_part(create_webhook.url, '/', 3), private.holder_name(caller)));
  return next;
end $$;

-- Returns the webhooks of the account, also those that ended lately.
create function api.list_webhooks(credential text)
  returns table (id uuid, url text, created_at timestamptz, waiting bigint, last_arrived_at timestamptz,
    failing_since timestamptz, failed_reason text, ended_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select w.id, w.url, w.created_at,
    (select count(*) from private.webhook_events e where e.webhook = w.id and e.send_after is not null),
    (select max(e.arrived_at) from private.webhook_events e where e.webhook = w.id),
    w.failing_since, w.failed_reason, w.ended_at
  from private.webhooks w where w.account = caller.account order by w.created_at, w.id;
end $$;

-- Deletes a webhook with what waits for it. Answers false if the account has no such webhook.
create function api.delete_webhook(credential text, webhook uuid)
  returns table (deleted boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay');
  host text;
begin
  delete from private.webhooks w where w.id = webhook and w.account = caller.account
  returning split_part(w.url, '/', 3) into host;
  deleted := host is not null;
  if deleted then
    perform private.record_change(caller, 'security', 'webhook_deleted', pg_catalog.format(
      'Events of the account are no longer sent to %s, as the %s asked.', host, private.holder_name(caller)));
  end if;
  return next;
end $$;

-- Sends again what happened since a time, and has a webhook that ended go on. Returns the number of events; no row if the
-- account has no such webhook.
create function api.replay_webhook(credential text, webhook uuid, since timestamptz)
  returns table (waiting bigint) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay');
begin
  perform private.hold_unfrozen(caller);
  update private.webhooks w set ended_at = null, failures = 0, failing_since = null, failed_reason = null,
    send_after = private.clock(), made_by = caller.id
   where w.id = webhook and w.account = caller.account;
  if not found then
    return;
  end if;
  perform private.take_slowly('webhook-replay:' || webhook, 5, interval '10 minutes');
  update private.webhook_events e set send_after = private.clock(), tries = 0, arrived_at = null
   where e.webhook = replay_webhook.webhook and e.at >= since;
  select count(*) into waiting from private.webhook_events e
   where e.webhook = replay_webhook.webhook and e.send_after is not null;
  return next;
end $$;

-- Returns an item as api.list_activity does.
create function private.feed_item(a private.activities) returns jsonb language sql stable as $$
  select jsonb_build_object('id', a.id::text, 'at', a.at, 'category', a.category, 'type', a.type,
    'summary', a.summary, 'untrusted', a.untrusted, 'mandate', a.mandate, 'entry', a.entry, 'mail', a.mail,
    'payment', (select private.payment_json(p) - 'delivery' from private.payments p where p.id = a.payment),
    'deposit', case when a.deposit is not null then private.deposit_json(a.deposit) end)
$$;

-- Returns the webhooks for which an event waits, one look into the index for each of them.
create function private.busy_webhooks() returns setof uuid language sql stable as $$
  with recursive busy as (
    (select e.webhook from private.webhook_events e
      where e.send_after is not null order by e.webhook limit 1)
    union all
    select (select e.webhook from private.webhook_events e
        where e.send_after is not null and e.webhook > b.webhook order by e.webhook limit 1)
      from busy b where b.webhook is not null)
  select b.webhook from busy b where b.webhook is not null
$$;

-- Takes webhooks for one round each, those that wait longest first, with events that wait: one if the last try failed.
-- Events that were tried less go first, so one that is always refused holds up no other.
create function api.mailer_claim_webhooks(webhooks_max integer)
  returns table (id uuid, url text, sealed text, events jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  events_max constant integer := 10;
  round constant interval := '1 minute';
  moment timestamptz := private.clock();
begin
  return query
    update private.webhooks w set send_after = moment + round
     where w.id in (select d.id from private.webhooks d
       where d.id in (select private.busy_webhooks()) and d.ended_at is null and d.send_after <= moment
         and private.is_holder_live(d.made_by)
         and exists (select from private.webhook_events e where e.webhook = d.id and e.send_after <= moment)
       order by d.send_after limit webhooks_max for update skip locked)
    returning w.id, w.url, w.sealed, (
      select jsonb_agg(jsonb_build_object('event', e.event, 'type', e.type, 'at', e.at,
          'item', private.feed_item(a)) order by e.tries, e.at, a.id)
        from (select * from private.webhook_events x where x.webhook = w.id and x.send_after <= moment
          order by x.tries, x.at, x.activity limit case w.failures when 0 then events_max else 1 end) e
        join private.activities a on a.id = e.activity);
end $$;

-- Records that an event arrived.
create function api.mailer_event_arrived(webhook uuid, event text) returns void
  language sql security definer set search_path = '' as $$
  update private.webhook_events e set arrived_at = private.clock(), send_after = null, tries = e.tries + 1
   where e.webhook = mailer_event_arrived.webhook and e.event = mailer_event_arrived.event;
  update private.webhooks w set failures = 0, failing_since = null, failed_reason = null
   where w.id = mailer_event_arrived.webhook and w.failures > 0
$$;

-- Ends a round in which all arrived, so that the next can begin.
create function api.mailer_round_done(webhook uuid) returns void
  language sql security definer set search_path = '' as $$
  update private.webhooks w set send_after = private.clock()
   where w.id = webhook and w.failures = 0
$$;

-- Records a failed try. The event is tried again, ten times within three days; its webhook rests for longer with each
-- failure in a row, and ends after five days of nothing else, or at once if the address is `gone`.
create function api.mailer_event_failed(webhook uuid, event text, reason text, gone boolean) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  minutes constant integer[] := '{1, 5, 30, 120, 300, 600, 840, 1200, 1440}';
  moment timestamptz := private.clock();
  w private.webhooks;
begin
  update private.webhook_events e set tries = e.tries + 1,
    send_after = moment + pg_catalog.make_interval(mins => minutes[e.tries + 1])
   where e.webhook = mailer_event_failed.webhook and e.event = mailer_event_failed.event;
  update private.webhooks x set failures = x.failures + 1, failing_since = coalesce(x.failing_since, moment),
    failed_reason = left(reason, 300),
    send_after = moment + least(interval '1 minute' * 2 ^ least(x.failures, 10), interval '1 hour'),
    ended_at = case when gone or x.failing_since <= moment - interval '5 days' then moment end
   where x.id = mailer_event_failed.webhook and x.ended_at is null
  returning * into w;
  if w.ended_at is not null then
    update private.webhook_events e set send_after = null where e.webhook = w.id;
    perform private.record_security(w.account, 'webhook_ended', pg_catalog.format(
      'Events of the account are no longer sent to %s, where they do not arrive.', split_part(w.url, '/', 3)));
  end if;
end $$;

-- Replaces a secret that was sealed under an older key.
create function api.mailer_reseal_webhook(webhook uuid, sealed text) returns void
  language sql security definer set search_path = '' as $$
  update private.webhooks w set sealed = mailer_reseal_webhook.sealed where w.id = webhook
$$;

grant execute on function api.create_webhook, api.list_webhooks, api.delete_webhook, api.replay_webhook,
  api.mailer_claim_webhooks, api.mailer_event_arrived, api.mailer_event_failed, api.mailer_round_done,
  api.mailer_reseal_webhook
  to service_role;
