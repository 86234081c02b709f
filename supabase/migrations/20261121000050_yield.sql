-- Orders of automated yield. An order is a transfer to a contract that carries it out (terms -> 'carrier'), so its
-- decision, reservation, signature and settlement are those of transfers. Only reading and cancelling are here.

create index payments_orders on private.payments (account, created_at desc, id desc)
  where terms ? 'carrier';

-- Returns the wallet of a caller who may order.
create function api.order_wallet(credential text) returns table (address text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
begin
  return query select w.address from private.wallets w
   where w.account = caller.account and w.chain_family = 'evm';
end $$;

-- Returns the orders of the caller's account, the newest first, or one of them.
create function api.list_orders(
  credential text, page integer, before uuid default null, only_order uuid default null)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select private.payment_json(p) from private.payments p
   where p.account = caller.account and p.terms ? 'carrier'
     and (only_order is null or p.id = only_order)
     and (list_orders.before is null or (p.created_at, p.id) < (select b.created_at, b.id
       from private.payments b where b.id = list_orders.before and b.account = caller.account))
   order by p.created_at desc, p.id desc limit page;
end $$;

-- Cancels an order that is not reserved yet; anything else stays as it is. Returns the order; no row if the caller
-- may not pay it.
create function api.cancel_order(credential text, of_order uuid)
  returns table (payment_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
begin
  update private.payments p set state = 'expired', failure = 'it was cancelled',
    checked_at = private.clock()
   where p.id = of_order and p.account = caller.account and p.terms ? 'carrier'
     and private.may_pay(p, caller.id) and p.state in ('prepared', 'awaiting_confirmation');
  return query select private.payment_json(p) from private.payments p
   where p.id = of_order and p.account = caller.account and p.terms ? 'carrier'
     and private.may_pay(p, caller.id);
end $$;

-- Returns what the account's settled orders paid in and got back, for each vault, in atomic units. `is_known` is
-- false until everything that withdrawals brought is in the index of deposits.
create function api.order_totals(credential text)
  returns table (chain bigint, vault text, paid_atomic text, returned_atomic text, is_known boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select p.chain, p.terms ->> 'vault', sum(p.amount_atomic)::text,
    coalesce(sum(r.amount_atomic), 0)::text,
    bool_and(p.terms ->> 'operation' <> 'withdraw' or r.amount_atomic is not null)
  from private.payments p left join lateral (
    select sum(d.amount_atomic) as amount_atomic from private.deposits d
     where d.account = p.account and d.chain = p.chain and d.tx_hash = p.tx_hash
       and d.sender = p.payee and d.token = p.token and not d.reorged) r on true
   where p.account = caller.account and p.terms ? 'carrier' and p.state = 'settled'
   group by 1, 2 limit 1000;
end $$;

-- Returns what happened to an order, as its row and its transactions have it. A block that is gone takes its event
-- with it.
create function private.order_events(p private.payments)
  returns table (stage integer, event text, at timestamptz, tx_hash text, block_number bigint,
    block_hash text) language sql stable as $$
  select e.stage, e.event, e.at, case when e.stage in (4, 5, 6) then p.tx_hash end,
    case when e.stage in (5, 6) then p.block_number end,
    case when e.stage in (5, 6) then p.block_hash end
  from (values
    (1, 'created', p.created_at),
    (2, 'confirmed', p.authorized_at),
    (3, 'signed', case when p.signature is not null then p.authorized_at end),
    (4, 'submitted', (select min(t.created_at) from private.relay_calls c
      join private.relay_transactions t on t.slot = c.slot
      where c.payment = p.id and c.kind = 'transfer')),
    (5, 'included', case when p.state = 'settled' then p.placed_at end),
    (6, 'finalized', case when p.state = 'settled' and p.finality = 'finalized' then p.checked_at end),
    (7, 'failed', case when p.state in ('released', 'expired', 'declined')
      then coalesce(p.checked_at, p.authorized_at, p.expires_at) end)
  ) e (stage, event, at) where e.at is not null
$$;

-- Returns the events of the caller's orders, the newest first, from before a position.
create function api.list_order_events(
  credential text, page integer, before text default null, only_order uuid default null)
  returns table (id text, order_id uuid, event text, at timestamptz, tx_hash text,
    block_number text, block_hash text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select concat_ws('-', k.micros, e.stage, p.id), p.id, e.event, e.at, e.tx_hash,
    e.block_number::text, e.block_hash
  from private.payments p cross join lateral private.order_events(p) e
    cross join lateral (values ((extract(epoch from e.at) * 1000000)::bigint)) k (micros)
   where p.account = caller.account and p.terms ? 'carrier'
     and (only_order is null or p.id = only_order)
     and (list_order_events.before is null or (k.micros, e.stage, p.id) < (
       pg_catalog.split_part(list_order_events.before, '-', 1)::bigint,
       pg_catalog.split_part(list_order_events.before, '-', 2)::integer,
       pg_catalog.right(list_order_events.before, 36)::uuid))
   order by k.micros desc, e.stage desc, p.id desc limit page;
end $$;
grant execute on function api.order_wallet, api.list_orders, api.cancel_order, api.order_totals,
  api.list_order_events to service_role;
