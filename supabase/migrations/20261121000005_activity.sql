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

-- Enters a payment in the feed; its category is the one that its terms name, or the payment's kind.
create function private.record_payment(p private.payments, type text)
  returns void language sql as $$
  insert into private.activities (account, category, type, payment)
  values (p.account, coalesce(p.terms ->> 'category', p.kind), type, p.id)
$$;

-- Returns a page of the caller's feed, newest first, from before a position. `hidden` selects the items that
-- are kept out of the feed. Payments and deposits show their current state.
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
      || jsonb_build_object('terms', jsonb_build_object('origin', p.terms ->> 'origin',
        'purpose', p.terms ->> 'purpose')) end,
    -- A join here would have their tables planned anew with each page.
    case when a.deposit is not null then private.deposit_json(a.deposit) end, a.untrusted,
    a.mandate, a.entry, a.mail
  from private.activities a left join private.payments p on p.id = a.payment
  where a.account = caller.account and a.hidden = list_activity.hidden
    and (before is null or a.id < before)
    and (only_category is null or a.category = only_category)
  order by a.id desc limit page;
end $$;
grant execute on function api.list_activity to service_role;
