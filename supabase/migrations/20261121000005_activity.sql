-- The feed: what happened in an account, in the order in which it happened.

create table private.activities (
  id bigint generated always as identity primary key,
  account uuid not null references private.accounts,
  at timestamptz not null default private.clock(),
  category text not null check (category in ('transfer', 'deposit', 'x402', 'mandate', 'vault',
    'mail', 'security', 'account', 'defi')),
  type text not null,
  -- Null for an item of a payment or deposit, whose sentence is made from that as it stands.
  summary text,
  payment uuid references private.payments,
  -- Words of whoever called, such as a reason: shown as data, never part of a sentence.
  untrusted jsonb,
  deposit uuid,
  mandate uuid,
  -- An entry of the vault, which may be deleted since, or a mail.
  entry uuid,
  mail uuid,
  -- Kept out of the feed and shown only when asked for.
  hidden boolean not null default false,
  check (num_nonnulls(summary, payment, deposit) > 0)
);
alter table private.activities enable row level security;

create index activities_feed on private.activities (account, hidden, id desc);
create index activities_feed_by_category on private.activities (account, hidden, category, id desc);

-- A payment's category is its kind.
create function private.record_payment(p private.payments, type text)
  returns void language sql as $$
  insert into private.activities (account, category, type, payment)
  values (p.account, p.kind, type, p.id)
$$;

-- A page of the caller's feed, newest first, from before a position; `hidden` turns to what is kept
-- out of it. Payments and deposits show their state now.
create function api.list_activity(
  credential text, page integer, before bigint default null, only_category text default null,
  hidden boolean default false)
  returns table (id text, at timestamptz, category text, type text, summary text, payment jsonb,
    deposit jsonb, untrusted jsonb, mandate uuid, entry uuid, mail uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select a.id::text, a.at, a.category, a.type, a.summary,
    case when p.id is not null then private.payment_json(p) - array['delivery', 'terms']
      || jsonb_build_object('terms', jsonb_build_object('origin', p.terms ->> 'origin')) end,
    -- Joined here, the tables behind it would be planned anew with every page.
    case when a.deposit is not null then private.deposit_json(a.deposit) end, a.untrusted,
    a.mandate, a.entry, a.mail
  from private.activities a left join private.payments p on p.id = a.payment
  where a.account = caller.account and a.hidden = list_activity.hidden
    and (before is null or a.id < before)
    and (only_category is null or a.category = only_category)
  order by a.id desc limit page;
end $$;
grant execute on function api.list_activity to service_role;
