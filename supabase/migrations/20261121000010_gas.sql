-- The budget of gas: relayers pay for an account's transfers only a bounded amount, and a bounded number of
-- times, in 24 hours. Gas is reserved before anything is signed, as money is. A transfer beyond the budget is
-- paid for by the wallet itself or not sent.
--
-- Custody computes the worst case of a call from the fees that it signs with. A batch costs less than its
-- calls would alone, so the sum of their worst cases is never below its cost.

-- Ten transfers a day at 10 gwei on Ethereum, and a hundred on any rollup at fees that it rarely sees. The
-- coins of Polygon and Avalanche are worth less and their fees are higher.
insert into private.gas_terms (chain, wei_per_day, calls_per_day, young_hours, young_wei_per_day,
  young_calls_per_day, cancels_per_day)
values
  (0, 2000000000000000, 200, 72, 500000000000000, 40, 200),
  (1, 20000000000000000, 20, 72, 5000000000000000, 5, 40),
  (11155111, 20000000000000000, 20, 72, 5000000000000000, 5, 40),
  (137, 10000000000000000000, 200, 72, 2500000000000000000, 40, 200),
  (80002, 10000000000000000000, 200, 72, 2500000000000000000, 40, 200),
  (43114, 500000000000000000, 200, 72, 125000000000000000, 40, 200),
  (43113, 500000000000000000, 200, 72, 125000000000000000, 40, 200);

-- Remaining gas budget of an account on a chain. `frees_at` is when the oldest part of what counts leaves the
-- 24 hours; `cancels` is how many more authorizations may be signed.
create type private.gas_standing as (
  least_usd_micros bigint, calls_per_day integer, calls integer, wei numeric, frees_at timestamptz,
  cancels integer, cancels_free_at timestamptz
);

-- Returns the budget of an account on a chain; a young account has less.
create function private.gas_terms_of(payer uuid, on_chain bigint) returns private.gas_terms
  language plpgsql stable as $$
declare
  terms private.gas_terms;
begin
  select t.* into terms from private.gas_terms t where t.chain in (0, on_chain)
   order by t.chain desc limit 1;
  if exists (select from private.accounts a where a.id = payer and a.created_at
      > private.clock() - pg_catalog.make_interval(hours => terms.young_hours)) then
    terms.wei_per_day := terms.young_wei_per_day;
    terms.calls_per_day := terms.young_calls_per_day;
  end if;
  return terms;
end $$;

-- Returns what is left for an account on a chain. Cancellations count at their own price; they are bounded
-- because each authorization needed room for its own. A reservation for a cancellation does not count as a
-- call, and is free once the payment is settled in a block or over.
create function private.gas_left(payer uuid, on_chain bigint) returns private.gas_standing
  language plpgsql stable as $$
declare
  terms private.gas_terms := private.gas_terms_of(payer, on_chain);
  g private.gas_standing;
  present timestamptz := private.clock();
begin
  g.least_usd_micros := terms.least_usd_micros;
  g.calls_per_day := terms.calls_per_day;
  select greatest(terms.calls_per_day - count(*) filter (where not e.is_kept), 0),
    greatest(terms.wei_per_day - coalesce(sum(u.wei), 0), 0),
    case when count(*) filter (where not e.is_kept) < terms.calls_per_day
      then min(case when e.is_kept then private.live_until(p) else u.at + interval '24 hours' end)
      else min(u.at) filter (where not e.is_kept) + interval '24 hours' end,
    terms.cancels_per_day - count(*) filter (where u.kind = 'cancel' and not e.is_kept),
    min(u.at) filter (where u.kind = 'cancel' and not e.is_kept) + interval '24 hours'
  into g.calls, g.wei, g.frees_at, g.cancels, g.cancels_free_at
  from private.gas_uses u
    join private.payments p on p.id = u.payment
    cross join lateral (values (u.kind = 'cancel' and u.slot is null)) e (is_kept)
   where u.account = payer and u.chain = on_chain and case when u.slot is null
     then u.at > present - interval '24 hours' and (p.state = 'signed'
       or p.state = 'authorized' and p.counts_until > present or e.is_kept and p.state = 'unknown')
     else u.id in (select s.id from private.gas_spent(payer, on_chain) s) end;
  -- A freeze can name no more than this.
  select greatest(least(g.cancels, 1000) - count(*), 0),
    least(g.cancels_free_at, min(private.live_until(p)))
  into g.cancels, g.cancels_free_at
  from private.payments p join private.wallets w on w.address = p.wallet
   where w.account = payer and p.chain = on_chain
     and p.state in ('authorized', 'signed', 'unknown') and private.live_until(p) > present;
  return g;
end $$;

-- Returns the gas that relayers spent for an account in 24 hours, or may still spend in a transaction in
-- flight.
create function private.gas_spent(payer uuid, on_chain bigint) returns setof private.gas_uses
  language sql stable as $$
  select u.* from private.gas_uses u join private.relay_slots s on s.id = u.slot
   where u.account = payer and u.chain = on_chain and s.state <> 'lost'
     and (u.at > private.clock() - interval '24 hours' or s.state = 'open')
$$;

-- Returns the highest gas prices of a chain within the last hour, without the two most expensive minutes, so
-- that somebody who pays more for a moment does not make gas expensive for all others. Null if there is no
-- price.
create function private.gas_seen(on_chain bigint) returns private.gas_prices
  language sql stable as $$
  select on_chain, max(g.minute),
    (array_agg(g.max_fee_per_gas order by g.max_fee_per_gas desc))[least(3, count(*))::integer],
    (array_agg(g.max_priority_fee_per_gas order by g.max_priority_fee_per_gas desc))[least(3, count(*))::integer],
    (array_agg(g.data_fee_wei order by g.data_fee_wei desc))[least(3, count(*))::integer],
    (array_agg(g.call_wei order by g.call_wei desc))[least(3, count(*))::integer]
    from private.gas_prices g
   where g.chain = on_chain and g.minute > private.clock() - interval '1 hour'
  having count(*) > 0
$$;

-- Returns the time when the highest seen cost of a call no longer exceeds this, unless gas rises again: once
-- all but two of the more expensive minutes are an hour old or, if there are at most two, at the next look.
-- Null if it does not exceed it now.
create function private.gas_falls_at(on_chain bigint, wei numeric) returns timestamptz
  language sql stable as $$
  select coalesce((select g.minute + interval '1 hour' from private.gas_prices g
       where g.chain = on_chain and g.minute > private.clock() - interval '1 hour'
         and g.call_wei > wei order by g.minute desc offset 2 limit 1),
      private.clock() + interval '1 minute')
    from private.gas_seen(on_chain) s where s.call_wei > wei
$$;

-- Returns gas_seen in the form that bounds the word of a single endpoint.
create function private.gas_seen_json(on_chain bigint) returns jsonb language sql stable as $$
  select jsonb_build_object('max_fee_per_gas', g.max_fee_per_gas::text,
      'max_priority_fee_per_gas', g.max_priority_fee_per_gas::text,
      'data_fee_wei', g.data_fee_wei::text, 'call_wei', g.call_wei::text)
    from private.gas_seen(on_chain) g where g.minute is not null
$$;

-- Stores what gas costs now, if enough endpoints reported it (`agreed`), and returns what it cost lately.
create function api.housekeeping_see_gas(
  chain bigint, agreed boolean, max_fee_per_gas text, max_priority_fee_per_gas text,
  data_fee_wei text, call_wei text)
  returns table (seen jsonb) language plpgsql security definer set search_path = '' as $$
begin
  if agreed then
    insert into private.gas_prices as g
    values (chain, pg_catalog.date_trunc('minute', private.clock()), max_fee_per_gas::numeric,
      max_priority_fee_per_gas::numeric, data_fee_wei::numeric, call_wei::numeric)
    on conflict on constraint gas_prices_pkey do update
      set max_fee_per_gas = greatest(g.max_fee_per_gas, excluded.max_fee_per_gas),
        max_priority_fee_per_gas =
          greatest(g.max_priority_fee_per_gas, excluded.max_priority_fee_per_gas),
        data_fee_wei = greatest(g.data_fee_wei, excluded.data_fee_wei),
        call_wei = greatest(g.call_wei, excluded.call_wei);
  end if;
  return query select private.gas_seen_json(housekeeping_see_gas.chain);
end $$;
grant execute on function api.housekeeping_see_gas to service_role;

-- Returns what a call is charged, and how much more its account may spend.
create function private.charge_json(u private.gas_uses) returns jsonb language sql stable as $$
  select jsonb_build_object('payment', u.payment, 'kind', u.kind, 'account', u.account,
    'charged_wei', u.wei::text, 'left_wei', (private.gas_left(u.account, u.chain)).wei::text)
$$;

-- Returns what is reserved for the claimed calls, in their order.
create function private.charges_of(held uuid) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(private.charge_json(u) order by c.id), '[]')
    from private.relay_calls c
      join private.gas_uses u on u.payment = c.payment and u.kind = c.kind and u.slot is null
   where c.claim = held and c.slot is null
$$;

-- Decides whether one more cancellation of a payment has room, at this price, beside what was spent, what
-- waits to be sent and what is kept for others.
create function private.has_room_beside(p private.payments, price_wei numeric) returns boolean
  language sql stable as $$
  with others as (
    select o.id from private.payments o
      left join private.relay_calls c on c.payment = o.id and c.kind = 'cancel'
     where o.account = p.account and o.chain = p.chain and o.id <> p.id
       and o.counts_until > private.clock()
       and case when c.id is null
         then not o.reopened and o.state in ('authorized', 'signed', 'unknown')
         else c.slot is null end
  )
  select (select count(*) from others)
      + (select count(*) from private.gas_spent(p.account, p.chain) s where s.kind = 'cancel')
      < t.cancels_per_day
    and (select coalesce(sum(k.wei), 0) from private.gas_uses k
          where k.slot is null and k.payment in (select o.id from others o))
      + (select coalesce(sum(s.wei), 0) from private.gas_spent(p.account, p.chain) s)
      + price_wei <= t.wei_per_day
    from private.gas_terms_of(p.account, p.chain) t
$$;

-- Decides whether a payment's cancellation has room. It has if its reservation was kept since it was signed.
-- A payment whose block is gone had given the reservation up, so it needs room beside everything else.
create function private.has_cancel_room(p private.payments) returns boolean
  language sql stable as $$
  select not p.reopened
    or exists (select from private.relay_calls c where c.payment = p.id and c.kind = 'cancel')
    or private.has_room_beside(p, coalesce((select k.wei from private.gas_uses k
      where k.payment = p.id and k.slot is null and k.kind = 'cancel'), 0))
$$;

-- True if a relayer could cancel what is signed for a payment. Permit2 accepts a cancellation only from the
-- wallet's own transaction.
create function private.is_cancellable(p private.payments) returns boolean
  language sql immutable as $$
  select p.terms ->> 'transfer_method' is distinct from 'permit2'
$$;

-- Reserves the gas of a payment that is about to be authorized. The caller holds the account's lock.
-- `cost_wei` is what custody computed for the chain `gas_chain`: the worst cost of a relayer's transaction
-- with one call. It is reserved for the cancellation that a freeze may need and, for a transfer, for the
-- transfer as well, as many times as that counts as calls. A transfer that its wallet pays for is stopped by holding back its transaction, so only
-- the number of those is bounded. Nothing is reserved at less than the cost of gas seen in the last hour,
-- whatever it is said to cost now. An earlier reservation for the payment is raised to the current price.
-- Answers false if the account is over its budget.
create function private.reserve_gas(
  p private.payments, gas_from text, gas_chain bigint, cost_wei numeric)
  returns boolean language plpgsql as $$
declare
  g private.gas_standing;
  kept numeric;
  units integer := case when p.kind = 'transfer' then private.call_units(p) else 0 end;
begin
  g := private.gas_left(p.account, p.chain);
  if g.cancels < 1 and p.state <> 'authorized' then
    return false;
  end if;
  -- Stopping a permit costs no gas. As many may be live as a freeze can name and a watch can follow.
  if not private.is_cancellable(p) then
    return true;
  end if;
  if p.kind = 'transfer' and gas_from is distinct from 'relayer' then
    return true;
  end if;
  if gas_chain is distinct from p.chain or cost_wei is null then
    raise exception 'the gas of another chain';
  end if;
  cost_wei := greatest(cost_wei, (select s.call_wei from private.gas_seen(p.chain) s));
  select sum(u.wei) into kept from private.gas_uses u where u.payment = p.id and u.slot is null;
  if g.wei + coalesce(kept, 0) < cost_wei * (1 + units) then
    return false;
  end if;
  if p.kind = 'transfer' and kept is null
    and (p.amount_usd_micros < g.least_usd_micros or g.calls < 1)
  then
    return false;
  end if;
  insert into private.gas_uses as u (account, chain, payment, kind, wei)
  select p.account, p.chain, p.id, k.kind, cost_wei * k.calls
    from (values ('cancel', 1), ('transfer', units)) k (kind, calls) where k.calls > 0
  on conflict (payment, kind) where slot is null do update
    set wei = greatest(u.wei, excluded.wei), at = excluded.at;
  return true;
end $$;

-- Charges the calls of a relayer's slot whose first transaction is being stored.
create function private.spend_gas(into_slot bigint, cost_wei numeric) returns void
  language plpgsql as $$
begin
  update private.gas_uses u set slot = into_slot from private.relay_calls c
   where u.slot is null and c.slot = into_slot and u.payment = c.payment and u.kind = c.kind;
  insert into private.gas_uses (account, chain, payment, kind, wei, slot)
  select p.account, p.chain, p.id, 'cancel', 1, into_slot
    from private.relay_calls c join private.payments p on p.id = c.payment
   where c.slot = into_slot and c.kind = 'cancel' and not exists (
     select from private.gas_uses u where u.slot = into_slot and u.payment = c.payment and u.kind = 'cancel');
  perform private.raise_gas(into_slot, cost_wei, '{}', '{}');
end $$;

-- Returns what a call of a transaction with so many costs: an equal part or, for a cancellation, which uses
-- less than half of the gas that is allowed for it, half of one.
create function private.gas_part(kind text, cost_wei numeric, calls bigint) returns numeric
  language sql immutable as $$
  select pg_catalog.div(pg_catalog.ceil(cost_wei / calls), case kind when 'cancel' then 2 else 1 end)
$$;

-- Returns what a slot's transaction charges the transfers and cancellations that it carries. One without any is
-- paid for by all calls that were ever in the slot.
create function private.gas_parts(of_slot bigint, cost_wei numeric, carries uuid[], cancels uuid[])
  returns table (id bigint, account uuid, kind text, before numeric, after numeric)
  language sql stable as $$
  select u.id, u.account, u.kind, u.wei,
    greatest(u.wei, private.gas_part(u.kind, cost_wei, count(*) over ()))
    from private.gas_uses u
   where u.slot = of_slot and (carries || cancels = '{}'
     or u.payment = any (case u.kind when 'cancel' then cancels else carries end))
$$;

-- Raises the charge of a slot's calls to the cost of its most expensive transaction.
create function private.raise_gas(of_slot bigint, cost_wei numeric, carries uuid[], cancels uuid[]) returns void
  language sql as $$
  update private.gas_uses u set at = private.clock(), wei = g.after
    from private.gas_parts(of_slot, cost_wei, carries, cancels) g where u.id = g.id
$$;

-- True if the accounts of the calls in a more expensive transaction have gas left for it.
create function private.has_gas(of_slot bigint, cost_wei numeric, carries uuid[], cancels uuid[])
  returns boolean
  language sql stable as $$
  select not exists (
    select from private.gas_parts(of_slot, cost_wei, carries, cancels) g
      join private.relay_slots s on s.id = of_slot
     where carries || cancels <> '{}'
     group by g.account, s.chain
    having sum(g.after - g.before) > (private.gas_left(g.account, s.chain)).wei)
$$;

-- The same for the calls that are claimed for a transaction with this number of calls.
create function private.has_gas_for_claim(held uuid, calls integer, cost_wei numeric)
  returns boolean language sql stable as $$
  select not exists (
    select from private.relay_calls c join private.gas_uses u
        on u.payment = c.payment and u.kind = c.kind and u.slot is null
     where c.claim = held and c.slot is null
     group by u.account, u.chain
    having sum(greatest(private.gas_part(u.kind, cost_wei, calls) - u.wei, 0))
      > (private.gas_left(u.account, u.chain)).wei)
$$;

-- Locks every account with a call in a slot, since gas is reserved under that lock. As everywhere, this lock
-- is taken before any other.
create function private.lock_accounts_in(of_slot bigint) returns void language plpgsql as $$
begin
  perform private.hold_payers(array(
    select c.payment from private.relay_calls c where c.slot = of_slot));
end $$;

-- Gives a call back to the queue and reserves its gas once more, at the price of the last transaction. If its
-- account is over the budget, the call stays where it is until it ends.
create function private.requeue_call(c private.relay_calls) returns void
  language plpgsql as $$
declare
  last private.gas_uses;
  g private.gas_standing;
  has_room boolean;
begin
  select u.* into last from private.gas_uses u
   where u.slot = c.slot and u.payment = c.payment and u.kind = c.kind order by u.id desc limit 1;
  if c.kind = 'transfer' then
    g := private.gas_left(last.account, last.chain);
    has_room := g.calls >= 1 and g.wei >= last.wei;
  else
    select private.has_room_beside(p, last.wei) into has_room from private.payments p
     where p.id = c.payment;
  end if;
  if last.id is null or not has_room then
    return;
  end if;
  insert into private.gas_uses (account, chain, payment, kind, wei)
  values (last.account, last.chain, last.payment, c.kind, last.wei);
  update private.relay_calls r set slot = null where r.id = c.id;
end $$;

-- Returns the state of the gas budget for a decision about one payment. `cheaper_at` is when the recent cost
-- of gas leaves room for it.
create function private.gas_json(p private.payments) returns jsonb
  language plpgsql stable as $$
declare
  g private.gas_standing := private.gas_left(p.account, p.chain);
begin
  return jsonb_build_object('left_wei', g.wei::text, 'left_calls', g.calls,
    'resets_at', g.frees_at, 'least_usd_micros', g.least_usd_micros::text,
    'left_cancels', g.cancels, 'cancels_reset_at', g.cancels_free_at,
    'cheaper_at', private.gas_falls_at(p.chain, div(g.wei, case p.kind when 'transfer' then 1 + private.call_units(p) else 1 end)),
    'seen', private.gas_seen_json(p.chain));
end $$;

-- Returns what relayers will still send for an account, on each chain that has a relayer.
create function private.relayed_json(payer uuid) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('chain', c.chain,
    'calls_per_day', g.calls_per_day, 'left_calls', g.calls, 'left_wei', g.wei::text,
    'resets_at', g.frees_at, 'least_usd_micros', g.least_usd_micros::text) order by c.chain), '[]')
  from (select distinct r.chain from private.relay_lanes r where r.kind = 'relayer') c
    cross join lateral private.gas_left(payer, c.chain) g
$$;

-- Sets the terms of a chain. A null argument keeps the current value, or takes that of chain 0.
create function private.set_gas_terms(
  on_chain bigint, wei_per_day numeric, calls_per_day integer, young_hours integer,
  young_wei_per_day numeric, young_calls_per_day integer, least_usd_micros bigint,
  cancels_per_day integer)
  returns setof private.gas_terms language sql as $$
  insert into private.gas_terms as t
  select on_chain, coalesce(set_gas_terms.wei_per_day, s.wei_per_day),
    coalesce(set_gas_terms.calls_per_day, s.calls_per_day),
    coalesce(set_gas_terms.young_hours, s.young_hours),
    coalesce(set_gas_terms.young_wei_per_day,
      least(s.young_wei_per_day, set_gas_terms.wei_per_day)),
    coalesce(set_gas_terms.young_calls_per_day,
      least(s.young_calls_per_day, set_gas_terms.calls_per_day)),
    coalesce(set_gas_terms.least_usd_micros, s.least_usd_micros),
    coalesce(set_gas_terms.cancels_per_day, s.cancels_per_day)
  from private.gas_terms s
   where s.chain = (select max(x.chain) from private.gas_terms x where x.chain in (0, on_chain))
  on conflict (chain) do update set wei_per_day = excluded.wei_per_day,
    calls_per_day = excluded.calls_per_day, young_hours = excluded.young_hours,
    young_wei_per_day = excluded.young_wei_per_day,
    young_calls_per_day = excluded.young_calls_per_day,
    least_usd_micros = excluded.least_usd_micros, cancels_per_day = excluded.cancels_per_day
  returning t.*
$$;
