-- Outflows: every transfer of a token out of a wallet of the service, in final blocks, and the
-- payment that it belongs to. The other way round from settlement: a payment that nobody looked
-- for, or that was given up, is found by the money that left.
--
-- A transfer by EIP-3009 carries its payment's nonce. One by Permit2 names nobody, and is given to
-- a payment of the same wallet, token and payee that it fits.

create table private.outflows (
  chain bigint not null references private.transfer_cursors,
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  log_index integer not null check (log_index >= 0),
  account uuid not null references private.accounts,
  wallet text not null references private.wallets (address),
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  payee text not null check (payee ~ '^0x[0-9a-fA-F]{40}$' and payee <> wallet),
  -- Anybody can make a transfer of nothing in anybody's name.
  amount_atomic numeric(78, 0) not null check (amount_atomic > 0),
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  block_number bigint not null,
  block_hash text not null check (block_hash ~ '^0x[0-9a-f]{64}$'),
  -- When it is looked at (again); null once it is clear what it was.
  due_at timestamptz default private.clock() + interval '2 minutes',
  looks integer not null default 0,
  -- A row stays as long as its payment does: a second transfer must not find the payment free.
  payment uuid unique references private.payments,
  -- Of a payment that was booked so; of one whose booking it corrected; of none.
  verdict text check (verdict in ('booked', 'rebooked', 'unknown')),
  primary key (chain, tx_hash, log_index),
  check ((due_at is null) = (verdict is not null)),
  check ((payment is not null) = (verdict in ('booked', 'rebooked')))
);
create index outflows_due on private.outflows (chain, due_at) where due_at is not null;
create index outflows_of_wallet on private.outflows (wallet, chain, token, block_number);
alter table private.outflows enable row level security;

create index payments_by_permit on private.payments (wallet, chain, token, lower(payee))
  where terms ->> 'transfer_method' = 'permit2';

-- Enters what left wallets of the service.
create function private.enter_outflows(chain bigint, transfers jsonb) returns void
  language sql as $$
  insert into private.outflows (chain, tx_hash, log_index, account, wallet, token, payee,
    amount_atomic, authorization_nonce, block_number, block_hash)
  select enter_outflows.chain, t.tx_hash, t.log_index, w.account, w.address, t.token, t.recipient,
    t.amount_atomic, t.authorization_nonce, t.block_number, t.block_hash
  from jsonb_to_recordset(transfers) as t (tx_hash text, log_index integer, sender text,
    recipient text, token text, amount_atomic numeric, authorization_nonce text,
    block_number bigint, block_hash text)
  join private.wallets w on w.address = t.sender
  where t.sender <> t.recipient and t.amount_atomic > 0
  on conflict do nothing
$$;

-- What an outflow is, with its payment. `booked`: the payment is settled by it. `awaited`: the
-- watch has the next word on one that it fits. `late`: the watch had its time; what counts is
-- enough, and only the place is not booked. `over`: the payment was given up. `short`: it is booked
-- with less than left. `unknown`: no payment accounts for it.
create type private.outflow_match as (standing text, payment uuid);

-- Whether the watch may still book a payment by itself. The transfer stands in a final block, so it
-- has only to look; it need not before the authorization has ended.
create function private.is_watched(p private.payments) returns boolean
  language sql stable as $$
  select private.clock() < to_timestamp(p.valid_before) + interval '10 minutes'
$$;

create function private.match_by_nonce(o private.outflows) returns private.outflow_match
  language sql stable as $$
  select case
    when p.state = 'settled' and (p.tx_hash, p.log_index) = (o.tx_hash, o.log_index) then 'booked'
    when p.state in ('signed', 'unknown', 'settled') then
      case when private.is_watched(p) then 'awaited' else 'late' end
    when p.state = 'released' then 'over'
    else 'unknown' end, p.id
  from (select) one left join private.payments p
    on (p.chain, p.token, p.wallet, p.authorization_nonce)
      = (o.chain, o.token, o.wallet, o.authorization_nonce)
     and lower(p.payee) = lower(o.payee) and p.amount_atomic = o.amount_atomic
$$;

-- The permits that an outflow could be the use of, and that no other one is.
create function private.permits_like(o private.outflows) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.wallet = o.wallet and p.chain = o.chain and p.token = o.token
     and lower(p.payee) = lower(o.payee) and p.terms ->> 'transfer_method' = 'permit2'
     and p.signature is not null
     and p.state in ('signed', 'unknown', 'settled', 'released')
     -- A node that was ahead, or a chain that was cut back, leaves it signed after the block of its use.
     and (p.authorized_block is null or p.authorized_block <= o.block_number + 64
       or (p.tx_hash, p.log_index) = (o.tx_hash, o.log_index))
     and (p.amount_atomic = o.amount_atomic
       or p.terms ->> 'scheme' = 'upto' and p.amount_atomic >= o.amount_atomic)
     and not exists (select from private.outflows other where other.payment = p.id)
$$;

-- Whether a settled payment is booked with a transfer that left its wallet for its payee: `unread`
-- while its block is not, `good` also for what was there before anybody read, else `wrong`. What was
-- authorized since the reading began is in none of the blocks before it, whoever says so.
create function private.place_of(p private.payments) returns text
  language sql stable as $$
  select case
    when p.block_number > c.finalized_through then 'unread'
    when p.block_number <= c.began_after and p.authorized_at <= c.began_at then 'good'
    when exists (select from private.outflows o
      where o.chain = p.chain and o.tx_hash = p.tx_hash and o.wallet = p.wallet
        and o.token = p.token and lower(o.payee) = lower(p.payee)
        and o.log_index = coalesce(p.log_index, o.log_index)
        and o.authorization_nonce is null and o.payment is null) then 'good'
    else 'wrong' end
  from private.transfer_cursors c where c.chain = p.chain
$$;

-- The permit that is booked with this very log. Looked for first: to compare an outflow with every
-- permit that it is like takes the longer the more of them there are.
create function private.match_permit(o private.outflows) returns private.outflow_match
  language plpgsql stable as $$
declare
  booked uuid := (select p.id from private.payments p
    where (p.chain, p.tx_hash, p.log_index) = (o.chain, o.tx_hash, o.log_index)
      and p.wallet = o.wallet and p.token = o.token and lower(p.payee) = lower(o.payee)
      and p.state = 'settled' and p.terms ->> 'transfer_method' = 'permit2'
      and coalesce(p.settled_atomic, p.amount_atomic) >= o.amount_atomic
      and not exists (select from private.outflows other where other.payment = p.id));
begin
  return case when booked is null then private.match_like(o)
    else row('booked', booked)::private.outflow_match end;
end $$;

-- The nearest wins: one that is settled by this log or transaction, then one that is settled in this
-- block and has no log of its own, before any that was not seen used. Of equally near ones wins that
-- which fits the fewest others: an exact one, then that with the least that is enough. So of several
-- transfers each finds its own, in any order.
create function private.match_like(o private.outflows) returns private.outflow_match
  language sql stable as $$
  with fitting as (
    select p.id, p.state, p.log_index,
      coalesce(p.settled_atomic, p.amount_atomic) as booked_atomic,
      coalesce(p.settled_atomic, p.amount_atomic) >= o.amount_atomic as is_enough,
      p.terms ->> 'scheme' = 'upto' as is_upto,
      p.state = 'settled' and p.tx_hash = o.tx_hash
        and coalesce(p.log_index, o.log_index) = o.log_index as is_here,
      p.state = 'settled' and p.block_hash = o.block_hash and p.log_index is null
        and coalesce(p.tx_hash, o.tx_hash) = o.tx_hash as is_in_block,
      p.state in ('signed', 'unknown') as is_open, private.is_watched(p) as is_watched,
      case when p.state = 'settled' then private.place_of(p) end as place, p.finality
    from private.permits_like(o) p
  ), ranked as (
    select f.id, f.is_upto, f.booked_atomic, r.*
    from fitting f cross join lateral (values
      (1, 'booked', f.is_here and f.is_enough and f.log_index is not null),
      (2, 'short', f.is_here and f.log_index is not null),
      (3, 'booked', f.is_here and f.is_enough),
      (4, 'awaited', f.is_in_block and f.finality <> 'finalized' and f.is_watched),
      (5, 'late', f.is_in_block and f.is_enough),
      (6, 'awaited', f.is_open and f.is_watched),
      (7, 'awaited', not f.is_here and (f.place = 'unread'
        or f.place = 'wrong' and f.finality <> 'finalized' and f.is_watched)),
      (8, 'late', f.is_open),
      (9, 'late', f.place = 'wrong' and f.is_enough),
      (10, 'over', f.state = 'released'),
      (11, 'short', f.is_here or f.place = 'wrong')
    ) r (rank, standing, applies) where r.applies
  )
  select coalesce(nearest.standing, 'unknown'), nearest.id
  from (select) one left join (
    select n.standing, n.id from ranked n
     order by n.rank, n.is_upto, n.booked_atomic, n.id limit 1) nearest on true
$$;

create function private.match_outflow(o private.outflows) returns private.outflow_match
  language sql stable as $$
  select m.* from private.match_permit(o) m where o.authorization_nonce is null
  union all
  select m.* from private.match_by_nonce(o) m where o.authorization_nonce is not null
$$;

-- Books a payment with an outflow that settled it, in a final block. Another one that claimed the
-- same log has to do without it.
create function private.book_outflow(o private.outflows, of_payment uuid) returns private.payments
  language plpgsql as $$
declare
  booked private.payments;
begin
  update private.payments p set log_index = null,
    settled_atomic = case p.settled_atomic when p.amount_atomic then p.amount_atomic end
   where p.chain = o.chain and p.tx_hash = o.tx_hash
     and p.log_index = o.log_index and p.state = 'settled' and p.id <> of_payment;
  update private.payments p set state = 'settled', failure = null, finality = 'finalized',
    tx_hash = o.tx_hash, block_number = o.block_number, block_hash = o.block_hash,
    log_index = o.log_index, checked_at = private.clock(),
    -- What was not counted counts from now; so does what was told to be in another block.
    settled_at = case when p.state in ('signed', 'unknown', 'settled') and p.settled_in = o.block_hash
      and coalesce(p.settled_atomic, p.amount_atomic) >= o.amount_atomic
      then private.settles_at(p, o.block_hash, true)
      else private.clock() end,
    placed_at = case when p.settled_in = o.block_hash then p.placed_at else private.clock() end,
    settled_in = o.block_hash,
    settled_atomic = case when p.settled_atomic < o.amount_atomic then o.amount_atomic
      else p.settled_atomic end
   where p.id = of_payment
  returning * into booked;
  perform private.leave_queue(booked.id);
  return booked;
end $$;

-- Looks at what left the wallets on a chain, two minutes after it was read: whoever settles is
-- given the time to book it. What is booked is done with; what the watch has the next word on is
-- put first in its line. Answers the rest, which housekeeping_book_outflow ends one by one.
create function api.housekeeping_judge_outflows(chain bigint, batch integer)
  returns table (standing text, token text, tx_hash text, log_index integer, block_number bigint,
    block_hash text, authorization_nonce text, wallet text, payee text, amount_atomic text)
  language plpgsql security definer set search_path = '' as $$
declare
  o private.outflows;
  m private.outflow_match;
begin
  -- One run at a time: two transfers looked at together must not find the same payment free.
  perform from private.transfer_cursors c
   where c.chain = housekeeping_judge_outflows.chain for no key update;
  for o in
    select * from private.outflows due
     where due.chain = housekeeping_judge_outflows.chain and due.due_at <= private.clock()
     order by due.block_number, due.log_index limit batch
  loop
    -- What was judged is kept, and the next run goes on: a caller that gave up would keep nothing.
    exit when pg_catalog.clock_timestamp() > pg_catalog.statement_timestamp() + interval '3 seconds';
    m := private.match_outflow(o);
    if m.standing = 'booked' then
      update private.outflows t set verdict = 'booked', payment = m.payment, due_at = null
       where (t.chain, t.tx_hash, t.log_index) = (o.chain, o.tx_hash, o.log_index);
      continue;
    end if;
    -- It comes again when the run ends here, and ever more seldom.
    update private.outflows t set looks = t.looks + 1,
      due_at = private.clock()
        + least(interval '30 seconds' * 2 ^ least(t.looks, 5), interval '10 minutes')
     where (t.chain, t.tx_hash, t.log_index) = (o.chain, o.tx_hash, o.log_index);
    if m.standing = 'awaited' then
      update private.payments p set checked_at = null
       where p.id in (select w.id from private.payments w
         where w.id = m.payment for update skip locked);
      continue;
    end if;
    -- What names no nonce is judged once its neighbours have found their payments.
    if o.authorization_nonce is null and o.looks = 0 then
      continue;
    end if;
    return query select m.standing, o.token, o.tx_hash, o.log_index, o.block_number,
      o.block_hash, o.authorization_nonce, o.wallet, o.payee, o.amount_atomic::text;
  end loop;
end $$;

-- Ends what housekeeping_judge_outflows answered, if it still stands so; no row otherwise. Unless
-- it is only late, the account is frozen, the feed has `summary` of what no payment accounts for,
-- and the owner is written to.
create function api.housekeeping_book_outflow(
  chain bigint, tx_hash text, log_index integer, standing text, summary text, mail jsonb)
  returns table (account_id uuid, payment_id uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  o private.outflows;
  m private.outflow_match;
  booked private.payments;
begin
  perform from private.transfer_cursors c
   where c.chain = housekeeping_book_outflow.chain for no key update;
  select * into o from private.outflows t
   where t.chain = housekeeping_book_outflow.chain and t.tx_hash = housekeeping_book_outflow.tx_hash
     and t.log_index = housekeeping_book_outflow.log_index and t.due_at is not null;
  perform private.hold_account(o.account);
  m := private.match_outflow(o);
  if o.chain is null or m.standing is distinct from housekeeping_book_outflow.standing then
    return;
  end if;
  if standing <> 'unknown' then
    booked := private.book_outflow(o, m.payment);
  end if;
  update private.outflows t set due_at = null, payment = booked.id, verdict = case standing
      when 'unknown' then 'unknown' when 'late' then 'booked' else 'rebooked' end
   where (t.chain, t.tx_hash, t.log_index) = (o.chain, o.tx_hash, o.log_index);
  if standing in ('over', 'short') then
    perform private.record_payment(booked, booked.kind || '_rebooked');
  elsif standing = 'unknown' then
    insert into private.activities (account, category, type, summary)
    values (o.account, 'security', 'unknown_transfer', housekeeping_book_outflow.summary);
  end if;
  if standing <> 'late' then
    perform private.freeze(o.account,
      'The account was frozen by the service: money left that its books did not account for.');
    perform private.enqueue_mail(o.account, mail);
  end if;
  return query select o.account, booked.id;
end $$;
grant execute on function api.housekeeping_judge_outflows, api.housekeeping_book_outflow
  to service_role;
