-- The sums of payments that limits are checked against, and the caps of a key or of an app's grant: the most
-- that it may move by itself, at any consent level and on any rail. A decision reads them as facts; they are
-- enforced here when payments race, under the lock of the account that every payment takes.

create type private.spending as (
  automatic bigint, asserted bigint, total bigint, month bigint,
  automatic_resets_at timestamptz, asserted_resets_at timestamptz, total_resets_at timestamptz,
  month_resets_at timestamptz
);

create type private.payee_spending as (usd_micros bigint, resets_at timestamptz);

-- Sums of what is settled, in micro-USD, so that no window adds up a day of payments: of an account, of the budget
-- of a key or app, of a mandate, or of what agents sent to one payee on their own word. A row holds what leaves the
-- windows within five minutes from `leaves_from`; a mandate has one more with all that it ever paid, at infinity, and
-- an account one for each day of its month, with the payee 'month', which leaves the month at that time.
-- A trigger moves them in the transaction of the payment.
create table private.settled_sums (
  subject uuid not null,
  payee text not null default '',
  leaves_from timestamptz not null,
  automatic bigint not null,
  asserted bigint not null,
  total bigint not null,
  payments integer not null,
  primary key (subject, payee, leaves_from)
);
alter table private.settled_sums enable row level security;
create index settled_sums_age on private.settled_sums (leaves_from);

create type private.settled_use as (
  automatic bigint, asserted bigint, total bigint,
  automatic_from timestamptz, asserted_from timestamptz, total_from timestamptz
);

create type private.cap_use as (usd_micros bigint, resets_at timestamptz);

-- Returns the latest time when a counting payment leaves the windows: 24 hours after the end of its signature. What
-- the end has passed and the chain has not decided leaves at the earliest now.
create function private.leaves_at(state text, counts_until timestamptz, valid_before bigint, at timestamptz)
  returns timestamptz language sql stable as $$
  select case when state = 'settled' then counts_until else greatest(
    pg_catalog.to_timestamp(valid_before), at) + interval '24 hours' end
$$;

create function private.five_minutes_of(at timestamptz) returns timestamptz
  language sql immutable as $$
  select pg_catalog.date_bin('5 minutes', at, '2000-01-01T00:00:00Z')
$$;

-- Returns the time before which payments leave the windows that are added up one by one. What is authorized, and
-- counts for 20 seconds, is among them.
create function private.near() returns timestamptz language sql stable as $$
  select private.five_minutes_of(private.clock() + interval '6 minutes')
$$;

-- Returns the time when a settled payment leaves the month: the end of the day, in UTC, that is 30 days after the end
-- of its signature, given when it leaves the 24 hours.
create function private.leaves_month_at(counts_until timestamptz) returns timestamptz
  language sql immutable as $$
  select pg_catalog.date_bin('1 day', counts_until + interval '30 days', '2000-01-01T00:00:00Z')
$$;

-- Returns the sums that a settled payment is part of, with its part.
create function private.sums_with(p private.payments) returns table (
  subject uuid, payee text, leaves_from timestamptz, automatic bigint, asserted bigint, total bigint)
  language sql immutable as $$
  select v.subject, v.payee, v.leaves_from,
    case p.consent_level when 'none' then p.amount_usd_micros else 0 end,
    case p.consent_level when 'agent_asserted' then p.amount_usd_micros else 0 end, p.amount_usd_micros
  from private.five_minutes_of(p.counts_until) leaves_from, lateral (values
    (p.account, '', leaves_from), (p.account, 'month', private.leaves_month_at(p.counts_until)),
    (coalesce(p.budget, p.key), '', leaves_from), (p.mandate, '', leaves_from), (p.mandate, '', 'infinity'), (case p.consent_level when 'agent_asserted' then p.account end, p.payee, leaves_from))
    v (subject, payee, leaves_from)
  where v.subject is not null
$$;

create function private.add_settled(p private.payments, times integer) returns void
  language plpgsql as $$
begin
  insert into private.settled_sums as s
  select v.subject, v.payee, v.leaves_from, times * v.automatic, times * v.asserted, times * v.total, times
  from private.sums_with(p) v order by v.subject, v.payee, v.leaves_from
  on conflict on constraint settled_sums_pkey do update set automatic = s.automatic + excluded.automatic,
    asserted = s.asserted + excluded.asserted, total = s.total + excluded.total,
    payments = s.payments + excluded.payments;
end $$;

create function private.count_settled() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.state = 'settled' then
    perform private.add_settled(old, -1);
  end if;
  if new.state = 'settled' then
    perform private.add_settled(new, 1);
  end if;
  return null;
end $$;
create trigger count_settled after insert or update of state, account, key, budget, mandate, payee, consent_level,
  amount_usd_micros, valid_before on private.payments for each row execute function private.count_settled();

-- Returns the payments of an account that count and are in no sum that is read: those that leave soon, and those
-- that are signed.
create function private.counted_singly(spender uuid) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.account = spender and p.counts_until > private.clock() and p.counts_until < private.near()
  union all
  select p.* from private.payments p where p.account = spender and p.counts_until = 'infinity'
$$;

-- Returns the first time at which a settled payment leaves the windows, in the five minutes from a time. A level, a
-- payee, budgets or a mandate selects the payments that are meant.
create function private.first_to_leave(
  spender uuid, leaves_from timestamptz, level text, payee text default null, budgets uuid[] default null,
  mandate uuid default null)
  returns timestamptz language plpgsql stable as $$
begin
  return case when leaves_from is not null then (select min(p.counts_until) from private.payments p
   where p.account = spender and p.state = 'settled' and p.counts_until >= first_to_leave.leaves_from
     and p.counts_until < first_to_leave.leaves_from + interval '5 minutes'
     and (level is null or p.consent_level = level)
     and (first_to_leave.payee is null or p.payee = first_to_leave.payee)
     and (budgets is null or coalesce(p.budget, p.key) = any (budgets))
     and (first_to_leave.mandate is null or p.mandate = first_to_leave.mandate)) end;
end $$;

-- Returns what the sums of these subjects hold that leaves the windows at `near` or later, and from when on each part
-- begins to leave.
create function private.settled_use_of(subjects uuid[], near timestamptz, payee text default '')
  returns private.settled_use language plpgsql stable as $$
declare
  u private.settled_use;
begin
  select coalesce(sum(t.automatic), 0), coalesce(sum(t.asserted), 0), coalesce(sum(t.total), 0),
      min(t.leaves_from) filter (where t.automatic > 0), min(t.leaves_from) filter (where t.asserted > 0),
      min(t.leaves_from) filter (where t.total > 0)
    into u from private.settled_sums t
   where t.subject = any (subjects) and t.payee = settled_use_of.payee
     and t.leaves_from >= near and t.leaves_from < 'infinity';
  return u;
end $$;

-- Returns the sums that count now, in micro-USD. A window resets when the first payment leaves it; what is signed is
-- in the month as well, and leaves it 30 days later.
create function private.spent(spender uuid) returns private.spending
  language plpgsql stable as $$
declare
  at constant timestamptz := private.clock();
  near constant timestamptz := private.near();
  s private.spending;
  f private.settled_use := private.settled_use_of(array[spender], near);
begin
  select
    coalesce(sum(p.amount_usd_micros) filter (where p.consent_level = 'none'), 0),
    coalesce(sum(p.amount_usd_micros) filter (where p.consent_level = 'agent_asserted'), 0),
    coalesce(sum(p.amount_usd_micros), 0),
    coalesce(sum(p.amount_usd_micros) filter (where p.state <> 'settled'), 0),
    min(l.leaves_at) filter (where p.consent_level = 'none'),
    min(l.leaves_at) filter (where p.consent_level = 'agent_asserted'),
    min(l.leaves_at)
  into s.automatic, s.asserted, s.total, s.month,
    s.automatic_resets_at, s.asserted_resets_at, s.total_resets_at
  from private.counted_singly(spender) p,
    private.leaves_at(p.state, p.counts_until, p.valid_before, at) l (leaves_at);
  s.automatic := s.automatic + f.automatic;
  s.asserted := s.asserted + f.asserted;
  s.total := s.total + f.total;
  select s.month + coalesce(sum(t.total), 0), min(t.leaves_from) filter (where t.total > 0)
    into s.month, s.month_resets_at from private.settled_sums t
   where t.subject = spender and t.payee = 'month' and t.leaves_from > at;
  s.automatic_resets_at := least(s.automatic_resets_at, private.first_to_leave(spender, f.automatic_from, 'none'));
  s.asserted_resets_at := least(s.asserted_resets_at,
    private.first_to_leave(spender, f.asserted_from, 'agent_asserted'));
  s.total_resets_at := least(s.total_resets_at, private.first_to_leave(spender, f.total_from, null));
  return s;
end $$;

create function private.limits_json(a private.accounts, s private.spending) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'automatic_daily', jsonb_build_object(
      'limit', a.automatic_daily_limit_usd_micros::text,
      'spent', s.automatic::text, 'resets_at', s.automatic_resets_at),
    'asserted_daily', jsonb_build_object(
      'limit', a.asserted_daily_limit_usd_micros::text,
      'spent', s.asserted::text, 'resets_at', s.asserted_resets_at),
    'daily_spending_cap', jsonb_build_object(
      'limit', a.daily_spending_cap_usd_micros::text,
      'spent', s.total::text, 'resets_at', s.total_resets_at),
    'monthly_spending_cap', jsonb_build_object(
      'limit', a.monthly_spending_cap_usd_micros::text,
      'spent', s.month::text, 'resets_at', s.month_resets_at))
$$;

-- Returns what agents moved to one address on their own word and that counts now, in micro-USD. Towards an
-- address that the owner does not know, all such payments are bounded together.
create function private.asserted_to(payer uuid, payee text) returns private.payee_spending
  language plpgsql stable as $$
declare
  at constant timestamptz := private.clock();
  near constant timestamptz := private.near();
  s private.payee_spending;
  f private.settled_use := private.settled_use_of(array[payer], near, payee);
begin
  select coalesce(sum(p.amount_usd_micros), 0),
    min(private.leaves_at(p.state, p.counts_until, p.valid_before, at))
    into s.usd_micros, s.resets_at from private.counted_singly(payer) p
   where p.payee = asserted_to.payee and p.consent_level = 'agent_asserted';
  s.usd_micros := s.usd_micros + f.total;
  s.resets_at := least(s.resets_at, private.first_to_leave(payer, f.total_from, 'agent_asserted', payee));
  return s;
end $$;

-- Returns what counts against a budget now, in micro-USD, with what apps spent that it took the place of.
create function private.used_of_budget(budget uuid) returns private.cap_use
  language plpgsql stable as $$
declare
  at constant timestamptz := private.clock();
  near constant timestamptz := private.near();
  budgets constant uuid[] := private.spent_together(budget);
  spender constant uuid := (select k.account from private.credentials k where k.id = budget);
  u private.cap_use;
  f private.settled_use := private.settled_use_of(budgets, near);
begin
  select coalesce(sum(p.amount_usd_micros), 0), min(private.leaves_at(p.state, p.counts_until, p.valid_before, at))
    into u.usd_micros, u.resets_at from private.counted_singly(spender) p
   where coalesce(p.budget, p.key) = any (budgets);
  u.usd_micros := u.usd_micros + f.total;
  u.resets_at := least(u.resets_at, private.first_to_leave(spender, f.total_from, null, budgets => budgets));
  return u;
end $$;

-- Returns what a key or app that may pay has spent and reserved in 24 hours, in micro-USD; null for any other.
create function private.spent_by_agent(k private.credentials) returns text language sql stable as $$
  select case when private.is_agent_live(k) and private.scope_covers(k.scopes, 'pay')
    then (private.used_of_budget(private.budget_of(k))).usd_micros::text end
$$;

-- Returns the caps with what is used of them: money as text, null where there is no such cap.
create function private.caps_json(holder uuid) returns jsonb language plpgsql stable as $$
declare
  k private.credentials;
  u private.cap_use;
begin
  select x.* into k from private.credentials x where x.id = holder;
  if k.max_per_day_usd_micros is not null then
    u := private.used_of_budget(private.budget_of(k));
  end if;
  return jsonb_build_object('payment', k.max_per_payment_usd_micros::text,
    'daily', case when k.max_per_day_usd_micros is not null then jsonb_build_object(
      'limit', k.max_per_day_usd_micros::text, 'spent', u.usd_micros::text,
      'resets_at', u.resets_at) end);
end $$;

-- Decides whether a payment fits the caps of the credential that has it authorized. They are read again,
-- because the caller was recognized before the account was locked and they may have been lowered since.
create function private.within_caps(holder uuid, p private.payments) returns boolean
  language plpgsql stable as $$
declare
  k private.credentials;
begin
  select x.* into k from private.credentials x where x.id = holder;
  if p.amount_usd_micros > k.max_per_payment_usd_micros then
    return false;
  end if;
  return k.max_per_day_usd_micros is null
    or (private.used_of_budget(private.budget_of(k))).usd_micros + p.amount_usd_micros
      <= k.max_per_day_usd_micros;
end $$;
