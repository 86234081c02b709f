-- Freezing an account, which names what is signed and open, and the figures behind "how much, by when": what a key
-- could move, and when a payment would fit.

-- Payments that were open when an account was last frozen, in the order in which the answer lists them:
-- unsettled first, then by amount. Whatever became of them since, nothing else can leave. They are one row,
-- because a freeze waits for the insert: ten thousand rows, each with its foreign keys, take seconds.
create table private.frozen_payments (
  account uuid primary key references private.accounts,
  payments uuid[] not null
);
alter table private.frozen_payments enable row level security;

-- Freezes an account; answers false if it is frozen already. Reserved payments that are not signed are
-- released. Queued transfers leave the queue, and those that no transaction ever carried are released. The
-- list of what else is open is stored as it is now.
create function private.freeze(frozen uuid, summary text, untrusted jsonb default null)
  returns boolean language plpgsql as $$
begin
  -- Locked before the time is read, so every reservation is either older than the freeze or not made at all.
  perform private.hold_account(frozen);
  update private.accounts a set frozen_at = private.clock(), freezes = a.freezes + 1,
    facts_version = a.facts_version + 1
   where a.id = frozen and a.frozen_at is null;
  if not found then
    return false;
  end if;
  perform private.release_unsigned(array(select p.id from private.payments p
    where p.account = frozen and p.state = 'authorized'),
    'the account was frozen before anything was signed');
  with withdrawn as (
    delete from private.relay_calls c using private.payments p
     where c.payment = p.id and p.account = frozen and c.slot is null
    returning c.payment, c.tries
  )
  update private.payments p set state = 'released', finality = null,
    failure = 'the account was frozen before it was sent'
   where p.id in (select w.payment from withdrawn w where w.tries = 0) and p.state = 'signed';
  insert into private.frozen_payments as f (account, payments)
  select frozen, array(select o.id from private.open_signatures(frozen) o
    order by o.block_hash is not null, o.amount_usd_micros desc, o.id)
  on conflict on constraint frozen_payments_pkey do update set payments = excluded.payments;
  delete from private.vault_sessions s where s.account = frozen;
  perform private.erase_site_answers(frozen);
  insert into private.activities (account, category, type, summary, untrusted)
  values (frozen, 'security', 'account_frozen', summary, untrusted);
  return true;
end $$;

-- Returns the payments of an account that are signed and not decided by a final block.
create function private.open_signatures(of_account uuid) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.account = of_account
     and p.state = 'signed'
$$;

-- Returns what can become of a payment that was open when its account was frozen. Its holder, a merchant or
-- whoever saw a transaction that was sent, can use a signature until it ends; nobody has one that never left.
create function private.fate_of(p private.payments) returns text
  language sql stable as $$
  select case
    when private.is_in_block(p) then 'in_block'
    when p.state = 'released' or private.live_until(p) <= private.clock() then 'ended'
    when p.kind = 'x402' then 'handed_over'
    when exists (select from private.relay_transactions t join private.relay_slots s on s.id = t.slot
      where s.state <> 'final' and p.id = any (t.carries)) then 'in_transaction'
    else 'never_sent' end
$$;

-- Freezes the caller's account until the owner unfreezes it; no key can. A second call changes nothing and
-- answers the same time. Returns the current state of what was open at the freeze, `listed_max` payments
-- after a place, and the next place if more follow. A place holds the number of its freeze before its last nine
-- digits; for a place of another freeze than the last, the list starts over. Freezing has its own rate, so
-- flooding the key with other requests does not delay it.
create function api.freeze_account(
  credential text, listed_max integer, reason text default null, mail jsonb default null,
  after_place bigint default 0)
  returns table (frozen_since timestamptz, open_payments jsonb, next_place bigint)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'any');
  places constant bigint := 1000000000;
  latest bigint;
begin
  perform private.take('freeze:' || caller.id, 5, 1);
  if private.freeze(caller.account,
    case caller.kind when 'session' then 'The account was frozen by its owner.'
      else pg_catalog.format('The account was frozen with the %s.', private.holder_name(caller)) end,
    case when reason is not null then jsonb_build_object('reason', reason) end)
  then
    perform private.enqueue_mail(caller.account, mail);
  end if;
  select a.freezes into latest from private.accounts a where a.id = caller.account;
  after_place := case when after_place / places = latest then after_place % places else 0 end;
  return query
  with listed as (
    select p, o.place from private.frozen_payments f
      cross join lateral unnest(f.payments[after_place + 1:after_place + listed_max])
        with ordinality o (id, place)
      join private.payments p on p.id = o.id
     where f.account = caller.account
  )
  select a.frozen_at,
    coalesce((select jsonb_agg(private.payment_json(l.p) - array['delivery', 'terms', 'signature',
          'allowance_signature'] || jsonb_build_object('fate', private.fate_of(l.p)) order by l.place)
      from listed l), '[]'),
    (select latest * places + after_place + listed_max from private.frozen_payments f
      where f.account = caller.account and pg_catalog.cardinality(f.payments) > after_place + listed_max)
  from private.accounts a where a.id = caller.account;
end $$;

-- True if a transaction may be sent again: a freeze has stopped no transfer in it. Called right before, under the
-- locks of the accounts that it pays from, so that nothing is sent again after an answered freeze.
create function api.housekeeping_may_resend(tx_hash text) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  carries uuid[];
begin
  select t.carries into carries from private.relay_transactions t
   where t.tx_hash = housekeeping_may_resend.tx_hash;
  perform private.hold_payers(carries);
  return carries is not null and not private.has_stopped(carries);
end $$;

-- Extends the lease of the one who waits for a slow merchant, together with the claim of its request, past the
-- end of its wait (deliverySecondsMax in shared/x402/delivery.ts).
create function api.keep_waiting(credential text, payment uuid, claim uuid default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay');
  until constant timestamptz := private.clock() + interval '120 seconds';
begin
  update private.payments p set leased_until = greatest(p.leased_until, until)
   where p.id = keep_waiting.payment and p.account = caller.account
     and private.may_pay(p, caller.id);
  update private.idempotent_answers i set claimed_until = greatest(i.claimed_until, until)
   where i.claim = keep_waiting.claim and i.credential = caller.id;
  return true;
end $$;

grant execute on function api.freeze_account, api.housekeeping_may_resend, api.keep_waiting to service_role;

create function private.minutes_left(leaves_at timestamptz, at timestamptz) returns integer
  language sql immutable as $$
  select pg_catalog.floor(extract(epoch from leaves_at - at) / 60)::integer
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
      p.amount_usd_micros as usd, case p.state when 'settled' then private.minutes_left(p.counts_until, at) end as minutes
      from private.counted_singly(of_key.account) p
  ), summed as (
    select c.minutes, coalesce(sum(c.usd) filter (where c.consent_level = 'none'), 0) as automatic,
      coalesce(sum(c.usd) filter (where c.consent_level = 'agent_asserted'), 0) as asserted,
      coalesce(sum(c.usd) filter (where c.is_own), 0) as own, sum(c.usd) as total
    from counted c group by 1
    union all
    select private.minutes_left(t.leaves_from, at), coalesce(sum(t.automatic) filter (where t.subject = of_key.account), 0),
      coalesce(sum(t.asserted) filter (where t.subject = of_key.account), 0),
      coalesce(sum(t.total) filter (where t.subject = any (own)), 0),
      coalesce(sum(t.total) filter (where t.subject = of_key.account), 0)
    from private.settled_sums t
    where t.subject = any (own || of_key.account) and t.payee = '' and t.leaves_from >= near
    group by t.leaves_from
  ), told as (
    select s.minutes, jsonb_build_object('automatic', s.automatic::text, 'asserted', s.asserted::text,
      'own', s.own::text, 'total', s.total::text) as sums
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
      'total', a.daily_spending_cap_usd_micros::text),
    'caps', jsonb_build_object('payment', of_key.max_per_payment_usd_micros::text,
      'day', of_key.max_per_day_usd_micros::text),
    'recipient_known', exists (select from private.known_recipients r where r.account = a.id),
    'device_known', exists (
      select from private.known_devices d where d.account = a.id and d.key = of_key.id),
    'open', (select t.sums from told t where t.minutes is null),
    'leaving', coalesce((select jsonb_agg(t.sums || jsonb_build_object('minutes', t.minutes))
      from told t where t.minutes is not null), '[]'),
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

-- Returns when a payment of the caller's account would fit into each limit, and into the day cap of each
-- mandate that names its merchant or payee. Called only once it did not fit.
create function api.payment_headroom(credential text, payment uuid)
  returns table (automatic_daily timestamptz, asserted_daily timestamptz,
    asserted_new_recipient timestamptz, daily_spending_cap timestamptz, credential_daily timestamptz, mandates jsonb)
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
    private.fits_at(a.id, p.amount_usd_micros, caller.max_per_day_usd_micros,
      budgets => private.spent_together(private.budget_of(caller))),
    (select coalesce(jsonb_object_agg(m.id, private.fits_at(
        a.id, p.amount_usd_micros, m.max_day_usd_micros, 'mandate', m.id)), '{}')
      from private.mandates_concerning(p) m where m.max_day_usd_micros is not null)
  from private.payments p join private.accounts a on a.id = p.account
   where p.id = payment_headroom.payment and p.account = caller.account;
end $$;
grant execute on function api.account_exposure, api.payment_headroom to service_role;
