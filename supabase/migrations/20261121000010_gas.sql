-- The budget of gas: relayers pay for an account's transfers only so much and so often in 24 hours,
-- reserved before anything is signed, as money is. A transfer that is over it is paid for by the wallet
-- itself or not sent.
--
-- The worst case of a call is what custody works out from the fees that it signs with. A batch costs
-- less than its calls would alone, so the sum of their worst cases is never below it.

-- Ten transfers a day at 10 gwei on Ethereum, and a hundred on any rollup at fees that it seldom sees;
-- the coins of Polygon and Avalanche are worth less and their fees are higher.
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

-- What is left for an account on a chain. `frees_at` is when the oldest part of what counts leaves the
-- 24 hours; `cancels_left` is how many more authorizations may be signed.
create type private.gas_standing as (
  least_usd_micros bigint, calls_per_day integer, calls integer, wei numeric, frees_at timestamptz,
  cancels integer, cancels_free_at timestamptz
);

-- The budget of an account on a chain; a young one has less.
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

-- Cancellations count, at their own price. What bounds them is that each authorization had to find room
-- for its own. What is reserved for one is no call, and is free once the payment is settled in a block
-- or over.
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
     then u.at > present - interval '24 hours' and (p.state in ('authorized', 'signed')
       or e.is_kept and p.state = 'unknown')
     else u.id in (select s.id from private.gas_spent(payer, on_chain) s) end;
  -- And no more than a freeze can name.
  select greatest(least(g.cancels, 1000) - count(*), 0),
    least(g.cancels_free_at, min(private.live_until(p)))
  into g.cancels, g.cancels_free_at
  from private.payments p join private.wallets w on w.address = p.wallet
   where w.account = payer and p.chain = on_chain
     and p.state in ('authorized', 'signed', 'unknown') and private.live_until(p) > present;
  return g;
end $$;

-- The gas that relayers spent for an account in 24 hours, or may spend still in a transaction that is out.
create function private.gas_spent(payer uuid, on_chain bigint) returns setof private.gas_uses
  language sql stable as $$
  select u.* from private.gas_uses u join private.relay_slots s on s.id = u.slot
   where u.account = payer and u.chain = on_chain and s.state <> 'lost'
     and (u.at > private.clock() - interval '24 hours' or s.state = 'open')
$$;

-- The dearest that gas was on a chain within the last hour, but for two minutes of it: who pays more for a
-- moment makes it dear for nobody else. Null where nobody saw it.
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

-- When what gas was seen to cost is no more than this, unless it is dearer again: as soon as all but two of
-- the dearer minutes are an hour ago, and where there are not more of them with the next look. Null when it is
-- no more now.
create function private.gas_falls_at(on_chain bigint, wei numeric) returns timestamptz
  language sql stable as $$
  select coalesce((select g.minute + interval '1 hour' from private.gas_prices g
       where g.chain = on_chain and g.minute > private.clock() - interval '1 hour'
         and g.call_wei > wei order by g.minute desc offset 2 limit 1),
      private.clock() + interval '1 minute')
    from private.gas_seen(on_chain) s where s.call_wei > wei
$$;

-- As whoever bounds the word of one endpoint takes it.
create function private.gas_seen_json(on_chain bigint) returns jsonb language sql stable as $$
  select jsonb_build_object('max_fee_per_gas', g.max_fee_per_gas::text,
      'max_priority_fee_per_gas', g.max_priority_fee_per_gas::text,
      'data_fee_wei', g.data_fee_wei::text, 'call_wei', g.call_wei::text)
    from private.gas_seen(on_chain) g where g.minute is not null
$$;

-- Keeps what gas costs now, where enough endpoints told it (`agreed`); answers what it cost lately.
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

-- What a call is charged with, and how much more its account may spend.
create function private.charge_json(u private.gas_uses) returns jsonb language sql stable as $$
  select jsonb_build_object('payment', u.payment, 'kind', u.kind, 'account', u.account,
    'charged_wei', u.wei::text, 'left_wei', (private.gas_left(u.account, u.chain)).wei::text)
$$;

-- What is reserved for the calls that are claimed, in their order.
create function private.charges_of(held uuid) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(private.charge_json(u) order by c.id), '[]')
    from private.relay_calls c
      join private.gas_uses u on u.payment = c.payment and u.kind = c.kind and u.slot is null
   where c.claim = held and c.slot is null
$$;

-- Whether one more cancellation of a payment has room, at this price, beside what was spent, what waits to
-- be sent and what is kept for others.
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

-- Whether a payment's cancellation has room. What has kept its place since it was signed has. What was in
-- a block that is gone had given it up, and has room beside all else.
create function private.has_cancel_room(p private.payments) returns boolean
  language sql stable as $$
  select not p.reopened
    or exists (select from private.relay_calls c where c.payment = p.id and c.kind = 'cancel')
    or private.has_room_beside(p, coalesce((select k.wei from private.gas_uses k
      where k.payment = p.id and k.slot is null and k.kind = 'cancel'), 0))
$$;

-- Whether a relayer could cancel what is signed for a payment: Permit2 takes the word of nobody but
-- the wallet's own transaction.
create function private.is_cancellable(p private.payments) returns boolean
  language sql immutable as $$
  select p.terms ->> 'transfer_method' is distinct from 'permit2'
$$;

-- Reserves the gas of a payment that is about to be authorized, under the lock of its account, as
-- custody worked it out for the chain that it names: what a relayer's transaction with one call costs at
-- worst, for the cancellation that a freeze may need and for a transfer itself. A transfer that its
-- wallet pays for is stopped by keeping its transaction back, and bounded in number alone. Nothing is
-- reserved at less than gas was seen to cost in the last hour, whoever tells what it costs now. False when
-- the account is over its budget; what was reserved for the payment before is raised to the price of now.
create function private.reserve_gas(
  p private.payments, gas_from text, gas_chain bigint, cost_wei numeric)
  returns boolean language plpgsql as $$
declare
  g private.gas_standing;
  kept numeric;
  kinds text[] := array['cancel'] || case when p.kind = 'transfer' then array['transfer'] end;
begin
  g := private.gas_left(p.account, p.chain);
  if g.cancels < 1 and p.state <> 'authorized' then
    return false;
  end if;
  -- Nothing is spent to stop a permit; as many may be live as a freeze can name and a watch can follow.
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
  if g.wei + coalesce(kept, 0) < cost_wei * pg_catalog.cardinality(kinds) then
    return false;
  end if;
  if p.kind = 'transfer' and kept is null
    and (p.amount_usd_micros < g.least_usd_micros or g.calls < 1)
  then
    return false;
  end if;
  insert into private.gas_uses as u (account, chain, payment, kind, wei)
  select p.account, p.chain, p.id, k, cost_wei from pg_catalog.unnest(kinds) k
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
  perform private.raise_gas(into_slot, cost_wei, '{}');
end $$;

-- What a transaction of a slot that carries these transfers charges its calls with: equal parts of what
-- it costs. Without any transfer all pay that ever were in the slot.
create function private.gas_parts(of_slot bigint, cost_wei numeric, carries uuid[])
  returns table (id bigint, account uuid, kind text, before numeric, after numeric)
  language sql stable as $$
  select u.id, u.account, u.kind, u.wei,
    greatest(u.wei, pg_catalog.ceil(cost_wei / count(*) over ()))
    from private.gas_uses u
   where u.slot = of_slot and (carries = '{}' or u.kind = 'cancel' or u.payment = any (carries))
$$;

-- Raises the charge of a slot's calls to what the dearest of its transactions costs.
create function private.raise_gas(of_slot bigint, cost_wei numeric, carries uuid[]) returns void
  language sql as $$
  update private.gas_uses u set at = private.clock(), wei = g.after
    from private.gas_parts(of_slot, cost_wei, carries) g where u.id = g.id
$$;

-- Whether the accounts of the transfers in a dearer transaction have gas left for it.
create function private.has_gas(of_slot bigint, cost_wei numeric, carries uuid[]) returns boolean
  language sql stable as $$
  select not exists (
    select from private.gas_parts(of_slot, cost_wei, carries) g
      join private.relay_slots s on s.id = of_slot
     where g.kind = 'transfer' and carries <> '{}'
     group by g.account, s.chain
    having sum(g.after - g.before) > (private.gas_left(g.account, s.chain)).wei)
$$;

-- Takes the lock under which gas is reserved, of every account with a call in a slot: before any other
-- lock, as everywhere.
create function private.lock_accounts_in(of_slot bigint) returns void language plpgsql as $$
begin
  perform from private.accounts a where a.id in (select p.account from private.relay_calls c
    join private.payments p on p.id = c.payment where c.slot = of_slot)
  order by a.id for no key update;
end $$;

-- Gives a call back to the queue. To go into another transaction its gas is reserved once more, at the
-- price of the last one: where its account is over the budget the call stays and waits for its end.
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

-- As a decision about one payment takes it. `cheaper_at`: when what gas cost lately leaves room for it.
create function private.gas_json(p private.payments) returns jsonb
  language plpgsql stable as $$
declare
  g private.gas_standing := private.gas_left(p.account, p.chain);
begin
  return jsonb_build_object('left_wei', g.wei::text, 'left_calls', g.calls,
    'resets_at', g.frees_at, 'least_usd_micros', g.least_usd_micros::text,
    'left_cancels', g.cancels, 'cancels_reset_at', g.cancels_free_at,
    'cheaper_at', private.gas_falls_at(p.chain, div(g.wei, case p.kind when 'transfer' then 2 else 1 end)),
    'seen', private.gas_seen_json(p.chain));
end $$;

-- What relayers still send for an account on each chain that has one in service.
create function private.relayed_json(payer uuid) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('chain', c.chain,
    'calls_per_day', g.calls_per_day, 'left_calls', g.calls, 'left_wei', g.wei::text,
    'resets_at', g.frees_at, 'least_usd_micros', g.least_usd_micros::text) order by c.chain), '[]')
  from (select distinct r.chain from private.relay_lanes r where r.kind = 'relayer') c
    cross join lateral private.gas_left(payer, c.chain) g
$$;

-- Sets the terms of a chain; what is null stays as it was, or as chain 0 has it.
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
