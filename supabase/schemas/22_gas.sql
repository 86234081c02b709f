-- Sponsored gas: relayers carry a bounded number of an account's transfers on a chain in 24 hours, and each costs at
-- most what custody lets a unit of gas cost. A transfer beyond that is paid for by the wallet itself or not sent.

-- Transfers that relayers still carry for an account on a chain. `frees_at` is when the oldest leaves the 24 hours.
create type private.gas_standing as (
  least_usd_micros bigint, calls_per_day integer, calls integer, frees_at timestamptz
);

create function private.sign_up_network_of(of_account uuid) returns text language sql stable as $$
  select n.network from private.sign_up_networks n
   where n.account = of_account and n.opened_at > private.clock() - interval '30 days'
$$;

-- Returns the same and locks it, so that accounts of one network are judged one after the other. The caller
-- holds the account's lock.
create function private.hold_sign_up_network(of_account uuid) returns text language plpgsql as $$
declare
  network constant text := private.sign_up_network_of(of_account);
begin
  perform pg_catalog.pg_advisory_xact_lock(7323, pg_catalog.hashtext(network));
  return network;
end $$;

-- True if a relayed transfer counts. A reservation that was given up unsigned, or that ended before any
-- transaction carried it, does not.
create function private.counts_as_relayed(state text, counts_until timestamptz, tx_hash text)
  returns boolean language sql stable as $$
  select (state <> 'authorized' or counts_until > private.clock())
    and (state <> 'released' or tx_hash is not null)
$$;

-- Returns what is left for an account on a chain; a young account has less. All accounts that were opened from
-- one network in the last 30 days share three times what one of them has.
create function private.gas_left(payer uuid, on_chain bigint) returns private.gas_standing
  language sql stable as $$
  with terms as (
    select t.least_usd_micros, case when a.created_at
        > private.clock() - pg_catalog.make_interval(hours => t.young_hours)
      then t.young_calls_per_day else t.calls_per_day end as calls_per_day
      from private.accounts a cross join lateral (select * from private.gas_terms g
        where g.chain in (0, on_chain) order by g.chain desc limit 1) t
     where a.id = payer
  ), own as (
    select coalesce(sum(p.relayed_calls), 0)::integer as calls, min(p.authorized_at) as since
      from private.payments p
     where p.account = payer and p.chain = on_chain and p.relayed_calls > 0
       and p.authorized_at > (select private.clock()) - interval '24 hours'
       and private.counts_as_relayed(p.state, p.counts_until, p.tx_hash)
  ), shared as (
    select coalesce(sum(p.relayed_calls), 0)::integer as calls, min(p.authorized_at) as since
      from private.payments p
     where p.sign_up_network = (select private.sign_up_network_of(payer))
       and p.chain = on_chain and p.relayed_calls > 0
       and p.authorized_at > (select private.clock()) - interval '24 hours'
       and private.counts_as_relayed(p.state, p.counts_until, p.tx_hash)
  ), unused as (
    select t.least_usd_micros, t.calls_per_day, t.calls_per_day - o.calls as of_own,
        3 * t.calls_per_day - s.calls as of_shared, o.since as own_since, s.since as shared_since
      from terms t cross join own o cross join shared s
  )
  select u.least_usd_micros, u.calls_per_day, greatest(least(u.of_own, u.of_shared), 0),
    case when u.of_shared < u.of_own then u.shared_since else u.own_since end + interval '24 hours'
    from unused u
$$;

-- True if relayers carry this transfer. The caller holds the account's lock. Its own reservation counts once.
create function private.is_relayed(p private.payments) returns boolean language sql stable as $$
  select p.amount_usd_micros >= g.least_usd_micros
      and g.calls + p.relayed_calls >= private.call_units(p)
    from private.gas_left(p.account, p.chain) g
$$;

-- Locks every account with a call in a slot. As everywhere, this lock is taken before any other.
create function private.lock_accounts_in(of_slot bigint) returns void language plpgsql as $$
begin
  perform private.hold_payers(array(
    select c.payment from private.relay_calls c where c.slot = of_slot));
end $$;

-- Gives a call back to the queue, which counts once more. If relayers carry no more for its account, the call
-- stays where it is until it ends.
create function private.requeue_call(c private.relay_calls) returns void
  language plpgsql as $$
begin
  update private.payments p set relayed_calls = p.relayed_calls + private.call_units(p)
   where p.id = c.payment
     and (private.gas_left(p.account, p.chain)).calls >= private.call_units(p);
  if found then
    update private.relay_calls r set slot = null where r.id = c.id;
  end if;
end $$;

-- Returns what relayers still carry, for a decision about one payment.
create function private.gas_json(p private.payments) returns jsonb
  language plpgsql stable as $$
begin
  return (select jsonb_build_object('left_calls', g.calls, 'resets_at', g.frees_at,
      'least_usd_micros', g.least_usd_micros::text)
    from private.gas_left(p.account, p.chain) g);
end $$;

-- Returns what relayers still carry for an account, on each chain that has a relayer.
create function private.relayed_json(payer uuid) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('chain', c.chain,
    'calls_per_day', g.calls_per_day, 'left_calls', g.calls,
    'resets_at', g.frees_at, 'least_usd_micros', g.least_usd_micros::text) order by c.chain), '[]')
  from (select distinct r.chain from private.gas_payers r where r.kind = 'relayer') c
    cross join lateral private.gas_left(payer, c.chain) g
$$;

-- Sets the terms of a chain. A null argument keeps the current value, or takes that of chain 0.
create function private.set_gas_terms(
  on_chain bigint, calls_per_day integer, young_hours integer, young_calls_per_day integer,
  least_usd_micros bigint)
  returns setof private.gas_terms language sql as $$
  insert into private.gas_terms as t
  select on_chain, coalesce(set_gas_terms.calls_per_day, s.calls_per_day),
    coalesce(set_gas_terms.young_hours, s.young_hours),
    coalesce(set_gas_terms.young_calls_per_day,
      least(s.young_calls_per_day, set_gas_terms.calls_per_day)),
    coalesce(set_gas_terms.least_usd_micros, s.least_usd_micros)
  from private.gas_terms s
   where s.chain = (select max(x.chain) from private.gas_terms x where x.chain in (0, on_chain))
  on conflict (chain) do update set calls_per_day = excluded.calls_per_day,
    young_hours = excluded.young_hours, young_calls_per_day = excluded.young_calls_per_day,
    least_usd_micros = excluded.least_usd_micros
  returning t.*
$$;
