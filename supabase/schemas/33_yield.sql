-- Orders of automated yield. An order is a transfer to a contract that carries it out (terms -> 'carrier'), so its
-- decision, reservation, signature and settlement are those of transfers. Only reading and cancelling are here.

-- Earnings of a position at its first look of each day, in atomic units.
create table private.yield_days (
  account uuid not null references private.accounts,
  chain bigint not null,
  vault text not null,
  at timestamptz not null default private.clock(),
  earned_atomic numeric not null,
  primary key (account, chain, vault, at)
);
alter table private.yield_days enable row level security;

-- A rule of the owner. It orders as a key that nobody has a token of, under a mandate for the gate, which bounds what
-- it may move. Whoever ends either ends the rule. It never changes.
create table private.yield_rules (
  mandate uuid primary key references private.mandates,
  vault text not null,
  -- Atomic units that stay liquid, and above which the rest is moved; null if nothing is moved.
  keep_atomic numeric not null check (keep_atomic >= 0),
  above_atomic numeric check (above_atomic >= keep_atomic),
  -- True if it takes out of the vault what payments lack.
  refills boolean not null,
  looked_at timestamptz not null default '-infinity'
);
alter table private.yield_rules enable row level security;

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

-- Returns what an account's settled orders paid in and got back, for each vault, in atomic units. `is_known` is
-- false until everything that withdrawals brought is in the index of deposits.
create function private.order_totals(of_account uuid)
  returns table (chain bigint, vault text, paid_atomic text, returned_atomic text, is_known boolean)
  language sql stable as $$
  with orders as (
    select p.chain, p.terms ->> 'vault' as vault, p.terms ->> 'operation' as operation,
      p.amount_atomic, p.tx_hash, p.payee, p.token
      from private.payments p
     where p.account = of_account and p.terms ? 'carrier' and private.is_in_block(p)),
  -- Each deposit once, however many orders its transaction carried.
  returned as (
    select d.amount_atomic, d.tx_hash, d.chain, min(o.vault) as vault
      from private.deposits d join orders o on o.chain = d.chain and o.tx_hash = d.tx_hash
        and o.payee = d.sender and o.token = d.token
     where d.account = of_account and not d.reorged group by d.id)
  select o.chain, o.vault, sum(o.amount_atomic)::text,
    coalesce((select sum(r.amount_atomic) from returned r
      where r.chain = o.chain and r.vault = o.vault), 0)::text,
    bool_and(o.operation <> 'withdraw' or exists (select from returned r
      where r.chain = o.chain and r.tx_hash = o.tx_hash))
  from orders o group by 1, 2 limit 1000
$$;

create function api.order_totals(credential text)
  returns table (chain bigint, vault text, paid_atomic text, returned_atomic text, is_known boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select * from private.order_totals(caller.account);
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
      where c.payment = p.id)),
    (5, 'included', case when private.is_in_block(p) then p.settled_at end),
    (6, 'finalized', case when p.state = 'settled' then p.checked_at end),
    (7, 'failed', case when p.state in ('released', 'expired', 'declined')
      then coalesce(p.checked_at, p.authorized_at, p.expires_at) end)
  ) e (stage, event, at) where e.at is not null
$$;

-- Returns the events of the caller's orders and what its positions accrued, the newest first, from before a position.
create function api.list_order_events(
  credential text, page integer, before text default null, only_order uuid default null)
  returns table (id text, order_id uuid, event text, at timestamptz, tx_hash text,
    block_number text, block_hash text, vault text, accrued_atomic text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select concat_ws('-', k.micros, e.stage, e.of), case when e.stage > 0 then e.of end, e.event, e.at, e.tx_hash,
    e.block_number::text, e.block_hash, e.vault, e.accrued
  from (
    select p.id as of, x.*, p.terms ->> 'vault' as vault, null as accrued
      from private.payments p cross join lateral private.order_events(p) x
     where p.account = caller.account and p.terms ? 'carrier'
    union all
    select d.account, 0, 'yield_accrued', d.at, null, null, null, d.vault, d.accrued::text
      from (select y.*, y.earned_atomic - coalesce(lag(y.earned_atomic) over (
              partition by y.chain, y.vault order by y.at), 0) as accrued
              from private.yield_days y where y.account = caller.account) d
     where d.accrued <> 0) e
    cross join lateral (values ((extract(epoch from e.at) * 1000000)::bigint)) k (micros)
   where (only_order is null or e.of = only_order)
     and (list_order_events.before is null or (k.micros, e.stage, e.of) < (
       pg_catalog.split_part(list_order_events.before, '-', 1)::bigint,
       pg_catalog.split_part(list_order_events.before, '-', 2)::integer,
       pg_catalog.right(list_order_events.before, 36)::uuid))
   order by k.micros desc, e.stage desc, e.of desc limit page;
end $$;

-- Returns positions that nobody looked at for a day, with the totals of their orders.
create function api.housekeeping_positions(batch integer)
  returns table (account uuid, wallet text, chain bigint, vault text, paid_atomic text, returned_atomic text)
  language sql security definer set search_path = '' as $$
  select w.account, w.address, t.chain, t.vault, t.paid_atomic, t.returned_atomic
  from (select distinct p.account from private.payments p
     where p.terms ? 'carrier' and private.is_in_block(p)) o
  join private.wallets w on w.account = o.account and w.chain_family = 'evm'
  cross join lateral private.order_totals(o.account) t
   where t.is_known and not exists (select from private.yield_days y where y.account = o.account
     and y.chain = t.chain and y.vault = t.vault and y.at > private.clock() - interval '1 day')
   limit batch
$$;

create function api.housekeeping_keep_yield(
  of_account uuid, of_chain bigint, of_vault text, earned_atomic text)
  returns void language sql security definer set search_path = '' as $$
  insert into private.yield_days (account, chain, vault, earned_atomic)
  select of_account, of_chain, of_vault, housekeeping_keep_yield.earned_atomic::numeric
   where not exists (select from private.yield_days y where y.account = of_account
     and y.chain = of_chain and y.vault = of_vault and y.at > private.clock() - interval '1 day')
$$;

-- Makes a rule with its key and a mandate of 90 days, which the owner then decides about. It needs a fresh proof.
create function api.owner_make_rule(
  credential text, digest text, label text, device text, gate text, chain bigint, token text, vault text,
  keep_atomic text, max_day_usd_micros text, refills boolean, purpose text,
  above_atomic text default null)
  returns table (mandate uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'approve');
  until timestamptz := pg_catalog.date_trunc('milliseconds', private.clock()) + interval '90 days';
  opened uuid;
  made private.mandates;
begin
  perform private.hold_payer(caller, true);
  -- Rules that the owner declined or ended leave no key behind.
  update private.credentials k set revoked_at = private.clock() from private.mandates m
   where m.key = k.id and m.account = caller.account and m.purpose is not null
     and m.state in ('declined', 'revoked') and k.revoked_at is null;
  if (select count(*) from private.yield_rules r join private.mandates m on m.id = r.mandate
     where m.account = caller.account and m.state in ('pending_approval', 'active', 'suspended')
       and m.expires_at > private.clock()) >= 10 then
    perform private.refuse('too_many_mandates', '409');
  end if;
  insert into private.credentials (account, digest, label, shown, scopes, expires_at)
  values (caller.account, digest, label, 'rule', array['pay'], until) returning id into opened;
  insert into private.mandates (account, key, device, by_owner, merchant_domain, include_subdomains,
    max_payment_usd_micros, max_day_usd_micros, chains, tokens, pay_to, expires_at, purpose)
  values (caller.account, opened, device, true, lower(gate), false, max_day_usd_micros::bigint,
    max_day_usd_micros::bigint, array[chain], array[token], array[gate], until,
    owner_make_rule.purpose)
  returning * into made;
  insert into private.yield_rules (mandate, vault, keep_atomic, above_atomic, refills)
  values (made.id, vault, keep_atomic::numeric, above_atomic::numeric, refills);
  perform private.record_mandate(made, 'requested', 'made by the owner');
  return query select made.id;
end $$;

-- Returns the transfers of an account that wait for funds: decided as far as they can be, and not reserved.
create function private.unfunded_atomic(m private.mandates) returns numeric language sql stable as $$
  select coalesce(sum(p.amount_atomic), 0) from private.payments p
   where p.account = m.account and p.kind = 'transfer' and not p.terms ? 'carrier'
     and p.chain = m.chains[1] and p.token = m.tokens[1] and p.expires_at > private.clock()
     and (p.state = 'prepared' and p.created_at > private.clock() - interval '15 minutes'
       or p.state = 'awaiting_confirmation' and exists (select from private.approvals o
         where o.payment = p.id and o.decision = 'approved'))
$$;

-- True if a rule of the owner brings what a transfer lacks.
create function private.is_refilled(p private.payments) returns boolean language plpgsql stable as $$
begin
  return (select p.kind = 'transfer' and exists (select from private.yield_rules r
    join private.mandates m on m.id = r.mandate
     where m.account = p.account and m.state = 'active' and m.expires_at > private.clock()
       and r.refills and m.chains[1] = p.chain and m.tokens[1] = p.token));
end $$;

-- Takes rules without an open order that nobody looked at for a minute, each for one caller.
create function api.housekeeping_rules(batch integer)
  returns table (digest text, device text, wallet text, chain bigint, token text, vault text, keep_atomic text,
    above_atomic text, refills boolean, reserved_atomic text, unfunded_atomic text, mandate_row jsonb)
  language sql security definer set search_path = '' as $$
  with due as (
    select r.mandate from private.yield_rules r
      join private.mandates m on m.id = r.mandate and m.state = 'active' and m.expires_at > private.clock()
      join private.accounts a on a.id = m.account and a.frozen_at is null
     where r.looked_at <= private.clock() - interval '1 minute' and private.is_holder_live(m.key)
       and not exists (select from private.payments p where p.key = m.key
         and (p.state in ('awaiting_confirmation', 'authorized') or p.state = 'signed' and p.block_hash is null
           -- An order that could not be carried out is tried again after an hour.
           or p.state in ('prepared', 'expired') and p.created_at > private.clock() - interval '1 hour'
           -- A vault that takes nothing must not use up the gas that relayers pay for the account.
           or p.state = 'released' and p.authorized_at > private.clock() - interval '1 day'))
     order by r.looked_at limit batch for update of r skip locked), taken as (
    update private.yield_rules r set looked_at = private.clock() from due
     where r.mandate = due.mandate returning r.*)
  select k.digest, m.device, w.address, m.chains[1], m.tokens[1], t.vault, t.keep_atomic::text,
    t.above_atomic::text, t.refills, private.reserved_in(w.address, m.chains[1], m.tokens[1])::text,
    private.unfunded_atomic(m)::text, private.mandate_json(m)
  from taken t join private.mandates m on m.id = t.mandate
    join private.credentials k on k.id = m.key
    join private.wallets w on w.account = m.account and w.chain_family = 'evm'
$$;

-- Returns what a rule would have done in the last 90 days, from what arrived and left by the books: on how many days
-- it would have moved money into the vault and out of it, and how much in all.
create function private.rehearse_rule(
  of_account uuid, on_chain bigint, of_token text, keep numeric, above numeric, refills boolean)
  returns jsonb language plpgsql stable as $$
declare
  liquid numeric := 0;
  inside numeric := 0;
  moved numeric := 0;
  taken numeric := 0;
  ins integer := 0;
  outs integer := 0;
  flow record;
begin
  for flow in
    select greatest(f.day, (private.clock() - interval '90 days')::date) as day, sum(f.amount) as net from (
      select a.at::date as day, d.amount_atomic as amount
        from private.deposits d join private.activities a on a.deposit = d.id
       where d.account = of_account and d.chain = on_chain and d.token = of_token and not d.reorged
      union all
      select p.authorized_at::date, -coalesce(p.settled_atomic, p.amount_atomic) from private.payments p
       where p.account = of_account and p.chain = on_chain and p.token = of_token
         and private.is_in_block(p) and not p.terms ? 'carrier') f
     group by 1 order by 1
  loop
    liquid := liquid + flow.net;
    if liquid > above then
      ins := ins + 1;
      moved := moved + liquid - keep;
      inside := inside + liquid - keep;
      liquid := keep;
    elsif refills and liquid < 0 and inside > 0 then
      outs := outs + 1;
      taken := taken + least(-liquid, inside);
      inside := inside - least(-liquid, inside);
      liquid := 0;
    end if;
  end loop;
  return jsonb_build_object('ins', ins, 'outs', outs, 'moved_atomic', trunc(moved)::text,
    'taken_atomic', trunc(taken)::text);
end $$;

create function api.owner_rehearse_rule(
  credential text, chain bigint, token text, keep_atomic text, refills boolean, above_atomic text default null)
  returns table (rehearsal jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select private.rehearse_rule(caller.account, owner_rehearse_rule.chain,
    owner_rehearse_rule.token, keep_atomic::numeric, above_atomic::numeric, owner_rehearse_rule.refills);
end $$;

-- Returns what the owner's rules for each vault may move in a day, and what is left of that.
create function api.rule_limits(credential text)
  returns table (chain bigint, vault text, limit_usd_micros text, left_usd_micros text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select m.chains[1], r.vault, sum(m.max_day_usd_micros)::text,
    sum(greatest(m.max_day_usd_micros - (private.used_of(m)).day, 0))::text
  from private.yield_rules r join private.mandates m on m.id = r.mandate
   where m.account = caller.account and m.state = 'active' and m.expires_at > private.clock()
   group by 1, 2;
end $$;

-- Returns the rules of the owner's account that are not over, and what its positions had earned each day.
create function api.owner_yield(credential text) returns table (rules jsonb, days jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select
    (select coalesce(jsonb_agg(jsonb_build_object('chain', m.chains[1], 'vault', r.vault,
        'keep_atomic', r.keep_atomic::text, 'above_atomic', r.above_atomic::text, 'refills', r.refills,
        'mandate', private.mandate_json(m)) order by m.number desc), '[]')
      from private.yield_rules r join private.mandates m on m.id = r.mandate
     where m.account = caller.account and m.state in ('pending_approval', 'active', 'suspended')
       and m.expires_at > private.clock()),
    (select coalesce(jsonb_agg(jsonb_build_object('chain', y.chain, 'vault', y.vault, 'at', y.at,
        'earned_atomic', y.earned_atomic::text) order by y.at), '[]')
      from private.yield_days y
     where y.account = caller.account and y.at > private.clock() - interval '90 days');
end $$;

grant execute on function api.order_wallet, api.list_orders, api.cancel_order, api.order_totals,
  api.list_order_events, api.housekeeping_positions, api.housekeeping_keep_yield, api.owner_make_rule,
  api.housekeeping_rules, api.owner_rehearse_rule, api.rule_limits, api.owner_yield to service_role;
