-- The feed: what happened in an account, in the order in which it happened.

create table private.activities (
  id bigint generated always as identity primary key,
  account uuid not null references private.accounts,
  at timestamptz not null default private.clock(),
  category text not null check (category in ('transfer', 'deposit', 'x402', 'mandate', 'vault',
    'mail', 'security', 'account', 'defi')),
  type text not null,
  -- Null for an item of a payment or deposit, whose sentence is made from its current state.
  summary text,
  payment uuid references private.payments on delete cascade,
  -- Words of the caller, such as a reason. They are shown as data, never as part of a sentence.
  untrusted jsonb,
  deposit uuid,
  mandate uuid,
  -- An entry of the vault, which may have been deleted since, or a mail.
  entry uuid,
  mail uuid,
  -- True if the item is kept out of the feed and shown only on request.
  hidden boolean not null default false,
  check (num_nonnulls(summary, payment, deposit) > 0)
);
alter table private.activities enable row level security;
create index activities_of_payment on private.activities (payment) where payment is not null;
create index activities_feed on private.activities (account, hidden, id desc);
create index activities_feed_by_category on private.activities (account, hidden, category, id desc);
create index activities_listed on private.activities (account, hidden, at desc) where payment is null;
create index activities_deposit on private.activities (deposit) where deposit is not null;

-- Reads of secrets by keys, whose number in an hour is limited.
create index activities_secrets_read on private.activities (account, at)
  where type = 'secret_read';

-- Finds the feed's items about one entry without reading the whole feed.
create index activities_of_entry on private.activities (account, entry, id desc)
  where entry is not null;

-- Returns the category of a payment: the one that its terms name, or its kind.
create function private.category_of(p private.payments) returns text language sql immutable as $$
  select coalesce(p.terms ->> 'category', p.kind)
$$;

-- Enters a payment in the feed. An approval is a step that leaves the state as it is.
create function private.record_payment(p private.payments, type text)
  returns void language sql as $$
  insert into private.activities (account, category, type, payment)
  values (p.account, private.category_of(p), type, p.id);
  update private.payments q set latest_step_at = private.clock()
   where q.id = p.id and type = 'confirmation_approved'
$$;

create function private.record_security(of_account uuid, type text, summary text)
  returns void language sql as $$
  insert into private.activities (account, category, type, summary)
  values (of_account, 'security', type, summary)
$$;

create function private.record_change(
  caller private.credentials, category text, type text, summary text)
  returns void language sql as $$
  insert into private.activities (account, category, type, summary)
  values (caller.account, category, type, summary)
$$;

-- Enters an item about an entry in the feed. `deed` is a sentence without its actor.
create function private.record_entry(
  caller private.credentials, e private.vault_entries, type text, deed text,
  untrusted jsonb default null)
  returns void language sql as $$
  insert into private.activities (account, category, type, summary, entry, untrusted)
  values (caller.account, 'vault', type, pg_catalog.format('%s %s.', deed,
    case caller.kind when 'session' then 'by the owner'
      else pg_catalog.format('with the %s', private.holder_name(caller)) end), e.id, untrusted)
$$;

-- Records in the feed what an app did, or what was done with a token that only the app should hold.
create function private.record_app(k private.credentials, type text, summary text)
  returns void language sql as $$
  insert into private.activities (account, category, type, summary, untrusted)
  values (k.account, 'security', type, pg_catalog.format(summary, k.shown),
    jsonb_build_object('app', k.label))
$$;
