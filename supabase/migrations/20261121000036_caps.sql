-- Caps of a key or of an app's grant: the most that it may move by itself, at any consent level and on any
-- rail. A decision reads them as facts; they are enforced here when payments race, under the lock of the
-- account that every payment takes.

-- Returns the budget of a credential. A key that replaces another continues its budget: both count together.
create function private.budget_of(k private.credentials) returns uuid
  language sql immutable as $$ select coalesce(k.shares_budget_of, k.id) $$;

create type private.cap_use as (usd_micros bigint, resets_at timestamptz);

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

-- True if a cap permits more than another; null permits everything.
create function private.is_wider(cap bigint, than bigint) returns boolean
  language sql immutable as $$ select than is not null and (cap is null or cap > than) $$;

create function private.cap_words(k private.credentials) returns text
  language sql immutable as $$
  select 'The ' || private.holder_name(k) || case
    when k.max_per_payment_usd_micros is null and k.max_per_day_usd_micros is null
      then ' has no caps of its own.'
    else ' may move at most ' || concat_ws(' and ',
      private.usd_text(k.max_per_payment_usd_micros) || ' USD in one payment',
      private.usd_text(k.max_per_day_usd_micros) || ' USD in 24 hours') || '.' end
$$;

-- Sets both caps of a live key or grant; null means no cap. Raising either needs a fresh proof, and so does
-- naming one that does not exist (`missing`).
create function api.owner_set_caps(
  credential text, holder uuid, max_per_payment_usd_micros text default null,
  max_per_day_usd_micros text default null, mail jsonb default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  per_payment bigint := max_per_payment_usd_micros::bigint;
  per_day bigint := max_per_day_usd_micros::bigint;
  usd_micros_max constant bigint := 1000000000000;
  k private.credentials;
begin
  perform private.hold_live(caller);
  -- A code that is not redeemed yet would restore the caps that it was issued with.
  perform private.spend_codes(caller.account, holder);
  select x.* into k from private.credentials x
   where x.id = holder and x.account = caller.account and private.is_agent_live(x) for no key update;
  outcome := case when k.id is null then 'missing'
    when not coalesce(per_payment between 0 and usd_micros_max, true)
      or not coalesce(per_day between 0 and usd_micros_max, true) then 'out_of_bounds'
    when (per_payment, per_day)
      is not distinct from (k.max_per_payment_usd_micros, k.max_per_day_usd_micros) then 'same'
    when private.is_wider(per_payment, k.max_per_payment_usd_micros)
      or private.is_wider(per_day, k.max_per_day_usd_micros) then 'raised'
    else 'lowered' end;
  if outcome in ('missing', 'raised') then
    perform private.admit_owner(credential, 'widen');
  end if;
  if outcome in ('raised', 'lowered') then
    update private.credentials x set max_per_payment_usd_micros = per_payment,
      max_per_day_usd_micros = per_day where x.id = k.id returning * into k;
    update private.accounts a set facts_version = a.facts_version + 1 where a.id = k.account;
    perform private.record_change(caller, 'security', 'caps_' || outcome, private.cap_words(k));
    if outcome = 'raised' then
      perform private.enqueue_mail(caller.account, mail);
    end if;
  end if;
  return next;
end $$;
grant execute on function api.owner_set_caps to service_role;
