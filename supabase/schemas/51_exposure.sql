-- The figures behind "how much, by when": what a key could move, and when a payment would fit.

create function private.minutes_left(leaves_at timestamptz, at timestamptz) returns integer
  language sql immutable as $$
  select pg_catalog.floor(extract(epoch from leaves_at - at) / 60)::integer
$$;

-- Returns the active mandates that a key can pay under, for private.key_exposure; a thief may name any
-- device. An open payment uses them up for a day, as one that settles now does. If the number of payments is
-- capped, a released payment gives back a place in which the key may pay more than that payment was;
-- `regained` is the sum of these differences.
create function private.exposed_mandates(of_key private.credentials, at timestamptz) returns jsonb
  language sql stable as $$
  with live as (
    select m.* from private.mandates m
    where m.account = of_key.account and m.state = 'active' and m.expires_at > at
      and (private.holder_of(m.key) = private.holder_of(of_key.id) or m.for_any_key and exists (
        select from private.known_devices d where d.account = m.account and d.key = of_key.id))
  ), by_minute as (
    -- Summed for all of them in one pass: done for each mandate separately, a thousand of them take a minute.
    select p.mandate, case p.state when 'settled' then private.minutes_left(p.counts_until, at) else 1440 end as minutes,
      sum(p.amount_usd_micros) as usd,
      sum(p.amount_usd_micros) filter (where p.state <> 'settled') as open,
      count(*) filter (where p.state <> 'settled') as payments,
      sum(greatest(0, least(m.max_payment_usd_micros, of_key.max_per_payment_usd_micros)
        - p.amount_usd_micros)) filter (where p.state <> 'settled') as regained
    from private.counted_singly(of_key.account) p join live m on m.id = p.mandate
    group by 1, 2
    union all
    select t.subject, private.minutes_left(t.leaves_from, at), t.total, null, 0, null
    from live m join private.settled_sums t on t.subject = m.id
    where t.payee = '' and t.leaves_from >= private.near() and t.leaves_from < 'infinity'
  ), used as (
    select d.mandate, coalesce(sum(d.open), 0) as open, sum(d.payments)::integer as payments,
      coalesce(sum(d.regained), 0) as regained,
      jsonb_agg(jsonb_build_object('minutes', d.minutes, 'usd', d.usd::text)) as leaving
    from by_minute d group by 1
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'expires_in_minutes', ceil(extract(epoch from m.expires_at - at) / 60)::integer,
    'max_payment', m.max_payment_usd_micros::text, 'max_day', m.max_day_usd_micros::text,
    -- Without a cap, greatest alone would ignore the null and answer zero.
    'left_total', case when m.max_total_usd_micros is not null
      then greatest(m.max_total_usd_micros - coalesce(t.total, 0) - coalesce(u.open, 0), 0)::text end,
    'left_payments', case when m.max_payments is not null
      then greatest(m.max_payments - coalesce(t.payments, 0) - coalesce(u.payments, 0), 0) end,
    'regained', coalesce(u.regained, 0)::text, 'open', coalesce(u.open, 0)::text,
    'leaving', coalesce(u.leaving, '[]'), 'is_pinned', m.pay_to is not null)), '[]')
  from live m left join used u on u.mandate = m.id
    left join private.settled_sums t on t.subject = m.id and t.payee = '' and t.leaves_from = 'infinity'
$$;

-- Returns what the owner approved, this key may pay and nobody has paid yet, including payments whose time
-- for a signature ran out. The daily spending cap and the key's caps bind such payments, the other limits do
-- not.
create function private.exposed_approvals(of_key private.credentials, at timestamptz) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(to_jsonb(g)), '[]') from (
    select p.kind,
      ceil(extract(epoch from p.expires_at - at) / 60)::integer as minutes,
      p.amount_usd_micros::text as each_usd, sum(p.amount_usd_micros)::text as usd
    from private.payments p join private.approvals o on o.payment = p.id
    where p.account = of_key.account
      and (p.state = 'awaiting_confirmation' or p.state = 'authorized' and p.counts_until <= at)
      and p.expires_at > at and o.decision = 'approved' and private.may_pay(p, of_key.id)
      and (of_key.max_per_payment_usd_micros is null
        or p.amount_usd_micros <= of_key.max_per_payment_usd_micros)
    group by 1, 2, 3) g
$$;

-- Returns the figures that a key's exposure is computed from. An open payment may be executed, or released,
-- which frees its part of the limits. Settlements are summed by the whole minutes until they leave the windows,
-- those that leave later by five of them, from the first.
create function private.key_exposure(of_key private.credentials) returns jsonb
  language plpgsql stable as $$
declare
  at timestamptz := private.clock();
  near constant timestamptz := private.near();
  own uuid[] := private.spent_together(private.budget_of(of_key));
  exposure jsonb;
begin
  with counted as (
    select coalesce(p.budget, p.key) = any (own) as is_own, p.consent_level,
      p.amount_usd_micros as usd,
      case p.state when 'settled' then private.minutes_left(p.counts_until, at) end as minutes
      from private.counted_singly(of_key.account) p
  ), summed as (
    select c.minutes, coalesce(sum(c.usd) filter (where c.consent_level = 'none'), 0) as automatic,
      coalesce(sum(c.usd) filter (where c.consent_level = 'agent_asserted'), 0) as asserted,
      coalesce(sum(c.usd) filter (where c.is_own), 0) as own, sum(c.usd) as total,
      case when c.minutes is null then sum(c.usd) else 0 end as month
    from counted c group by 1
    union all
    select private.minutes_left(t.leaves_from, at), coalesce(sum(t.automatic) filter (where t.subject = of_key.account), 0),
      coalesce(sum(t.asserted) filter (where t.subject = of_key.account), 0),
      coalesce(sum(t.total) filter (where t.subject = any (own)), 0),
      coalesce(sum(t.total) filter (where t.subject = of_key.account), 0), 0
    from private.settled_sums t
    where t.subject = any (own || of_key.account) and t.payee = '' and t.leaves_from >= near
    group by t.leaves_from
    union all
    select private.minutes_left(t.leaves_from, at), 0, 0, 0, 0, t.total
    from private.settled_sums t
    where t.subject = of_key.account and t.payee = 'month' and t.leaves_from > at
  ), worded as (
    select s.minutes, jsonb_build_object('automatic', s.automatic::text, 'asserted', s.asserted::text,
      'own', s.own::text, 'total', s.total::text, 'month', s.month::text) as sums
    from summed s
  )
  select jsonb_build_object(
    'at', at, 'frozen', a.frozen_at is not null,
    'can_pay', private.scope_covers(of_key.scopes, 'pay'),
    'expires_in_minutes',
      pg_catalog.ceil(extract(epoch from of_key.expires_at - at) / 60)::integer,
    'limits', jsonb_build_object(
      'automatic', a.automatic_daily_limit_usd_micros::text,
      'asserted', a.asserted_daily_limit_usd_micros::text,
      'asserted_new_recipient', a.asserted_new_recipient_limit_usd_micros::text,
      'total', a.daily_spending_cap_usd_micros::text,
      'month', a.monthly_spending_cap_usd_micros::text),
    'caps', jsonb_build_object('payment', of_key.max_per_payment_usd_micros::text,
      'day', of_key.max_per_day_usd_micros::text),
    'recipient_known', exists (select from private.known_recipients r where r.account = a.id),
    'device_known', exists (
      select from private.known_devices d where d.account = a.id and d.key = of_key.id),
    'open', (select t.sums from worded t where t.minutes is null),
    'leaving', coalesce((select jsonb_agg(t.sums || jsonb_build_object('minutes', t.minutes))
      from worded t where t.minutes is not null), '[]'),
    'approved', private.exposed_approvals(of_key, at),
    'mandates', private.exposed_mandates(of_key, at))
  into exposure from private.accounts a where a.id = of_key.account;
  return exposure;
end $$;

create function api.account_exposure(credential text) returns table (exposure jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select private.key_exposure(caller);
end $$;

-- Returns the latest time when an amount fits into a limit if nothing else is spent, rounded up to the
-- second; null if it never does. `level`, `mandate`, `budgets` or `payee` selects the payments that the limit
-- counts.
create function private.fits_at(
  spender uuid, amount bigint, cap bigint, level text default null, mandate uuid default null,
  budgets uuid[] default null, payee text default null)
  returns timestamptz language sql stable as $$
  with counted as (
    select l.leaves_at, sum(p.amount_usd_micros) over (order by l.leaves_at desc) as not_sooner
      from private.payments p,
        private.leaves_at(p.state, p.counts_until, p.valid_before, (select private.clock())) l (leaves_at)
     where p.account = spender and p.counts_until > private.clock()
       and (level is null or p.consent_level = level)
       and (fits_at.mandate is null or p.mandate = fits_at.mandate)
       and (fits_at.payee is null or p.payee = fits_at.payee)
       and (fits_at.budgets is null or coalesce(p.budget, p.key) = any (fits_at.budgets))
  )
  select case when amount <= cap then coalesce((
    select date_trunc('second', max(c.leaves_at) + interval '0.999999 seconds')
      from counted c where c.not_sooner + amount > cap), private.clock()) end
$$;

-- Returns the same for the month of an account: what is open leaves it, at the latest, 30 days after its end.
create function private.fits_month_at(spender uuid, amount bigint, cap bigint) returns timestamptz
  language sql stable as $$
  with leaving as (
    select l.leaves_at, sum(sum(l.usd)) over (order by l.leaves_at desc) as not_sooner
      from (select t.leaves_from, t.total from private.settled_sums t
         where t.subject = spender and t.payee = 'month' and t.leaves_from > private.clock()
        union all
        select private.leaves_month_at(private.leaves_at(p.state, p.counts_until, p.valid_before, private.clock())),
          p.amount_usd_micros from private.counted_singly(spender) p where p.state <> 'settled') l (leaves_at, usd)
     group by l.leaves_at
  )
  select case when amount <= cap then coalesce(
    (select max(c.leaves_at) from leaving c where c.not_sooner + amount > cap), private.clock()) end
$$;

-- Returns when a payment of the caller's account would fit into each limit, and into the day cap of each
-- mandate that names its merchant or payee. Called only once it did not fit.
create function api.payment_headroom(credential text, payment uuid)
  returns table (automatic_daily timestamptz, asserted_daily timestamptz,
    asserted_new_recipient timestamptz, daily_spending_cap timestamptz, monthly_spending_cap timestamptz,
    credential_daily timestamptz, mandates jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay', true);
begin
  return query
  select
    private.fits_at(a.id, p.amount_usd_micros, a.automatic_daily_limit_usd_micros, 'none'),
    private.fits_at(a.id, p.amount_usd_micros, a.asserted_daily_limit_usd_micros,
      'agent_asserted'),
    private.fits_at(a.id, p.amount_usd_micros, a.asserted_new_recipient_limit_usd_micros,
      'agent_asserted', payee => p.payee),
    private.fits_at(a.id, p.amount_usd_micros, a.daily_spending_cap_usd_micros),
    private.fits_month_at(a.id, p.amount_usd_micros, a.monthly_spending_cap_usd_micros),
    private.fits_at(a.id, p.amount_usd_micros, caller.max_per_day_usd_micros,
      budgets => private.spent_together(private.budget_of(caller))),
    (select coalesce(jsonb_object_agg(m.id, private.fits_at(
        a.id, p.amount_usd_micros, m.max_day_usd_micros, 'mandate', m.id)), '{}')
      from private.mandates_concerning(p) m where m.max_day_usd_micros is not null)
  from private.payments p join private.accounts a on a.id = p.account
   where p.id = payment_headroom.payment and p.account = caller.account;
end $$;

grant execute on function api.account_exposure, api.payment_headroom to service_role;
