-- Outflows: every transfer of a token out of a wallet of the service, in final blocks, and the payment that
-- it belongs to. This is the reverse of settlement: a payment that nobody looked for, or that was given up,
-- is found by the money that left.
--
-- A transfer by EIP-3009 carries its payment's nonce. One by Permit2 names no payment, and is assigned to a
-- payment of the same wallet, token and payee that it fits.

create table private.outflows (
  chain bigint not null references private.transfer_cursors,
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  log_index integer not null check (log_index >= 0),
  account uuid not null references private.accounts,
  wallet text not null references private.wallets (address),
  token text not null check (token ~ '^0x[0-9a-fA-F]{40}$'),
  payee text not null check (payee ~ '^0x[0-9a-fA-F]{40}$' and payee <> wallet),
  -- Anybody can make a transfer of zero in anybody's name.
  amount_atomic numeric(78, 0) not null check (amount_atomic > 0),
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  block_number bigint not null,
  block_hash text not null check (block_hash ~ '^0x[0-9a-f]{64}$'),
  -- Time of the next look; null once it is clear what the transfer was.
  due_at timestamptz default private.clock() + interval '2 minutes',
  looks integer not null default 0,
  -- A row stays as long as its payment does, so that a second transfer does not find the payment free.
  payment uuid unique references private.payments,
  -- It belongs to a payment that was booked with it, to one whose booking it corrected, or to none.
  verdict text check (verdict in ('booked', 'rebooked', 'unknown')),
  primary key (chain, tx_hash, log_index),
  check ((due_at is null) = (verdict is not null)),
  check ((payment is not null) = (verdict in ('booked', 'rebooked')))
);
create index outflows_due on private.outflows (chain, due_at) where due_at is not null;
create index outflows_of_wallet on private.outflows (wallet, chain, token, block_number);
alter table private.outflows enable row level security;

create index payments_by_permit on private.payments
  (wallet, chain, token, lower(payee), state, coalesce(authorized_block, 0))
  where terms ->> 'transfer_method' = 'permit2' and not has_outflow;

create function private.mark_payment() returns trigger language plpgsql as $$
begin
  -- Nothing waits for a payment while it holds an outflow.
  update private.payments p set has_outflow = true where p.id in (
    select w.id from private.payments w where w.id = new.payment for update skip locked);
  return null;
end $$;

create trigger outflow_matched after insert or update of payment on private.outflows
  for each row when (new.payment is not null) execute function private.mark_payment();

-- Enters the transfers that left wallets of the service.
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

-- Classification of an outflow, with its payment. `booked`: the payment is settled by it. `awaited`: the
-- watch decides first about a payment that it fits. `behind`: an earlier transfer chooses first. `late`: the
-- watch had its time; the payment counts enough, and only its place is not booked. `over`: the payment was
-- given up. `short`: the payment is booked with less than left. `unknown`: no payment accounts for it.
create type private.outflow_match as (standing text, payment uuid);

-- True if the watch may still book a payment by itself. The transfer is in a final block, so the watch only
-- has to look, but it need not before the authorization has ended. After the service was down, it looks first.
create function private.is_watched(p private.payments) returns boolean
  language sql stable as $$
  select coalesce(p.checked_at, '-infinity') < to_timestamp(p.valid_before) + interval '10 minutes'
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

-- Returns the permits that an outflow could be the use of and that no other outflow uses. A node that was ahead
-- can make the block of a use older than its authorization by some blocks; a chain that was cut back, by any
-- number, and then only a permit counts that is settled in this very transaction. Of each state only the thousand
-- that were signed last before are looked at, because permits cost nothing, and those of one account must not
-- delay what is judged of others.
create function private.permits_like(o private.outflows) returns setof private.payments
  language sql stable as $$
  select p.* from (
    (select n.* from (values ('signed'), ('unknown'), ('settled'), ('released')) s (state)
      cross join lateral (select l.* from private.payments l
         where l.wallet = o.wallet and l.chain = o.chain and l.token = o.token
           and lower(l.payee) = lower(o.payee) and l.state = s.state
           and l.terms ->> 'transfer_method' = 'permit2' and not l.has_outflow
           and coalesce(l.authorized_block, 0) <= o.block_number + 64
         order by coalesce(l.authorized_block, 0) desc limit 1000) n)
    union all
    (select l.* from private.payments l
      where l.account = o.account and l.tx_hash = o.tx_hash and l.state = 'settled' and l.chain = o.chain
        and l.wallet = o.wallet and l.token = o.token and lower(l.payee) = lower(o.payee)
        and l.terms ->> 'transfer_method' = 'permit2' and not l.has_outflow
        and l.authorized_block > o.block_number + 64 limit 1000)) p
   where p.signature is not null and (p.amount_atomic = o.amount_atomic
       or p.terms ->> 'scheme' = 'upto' and p.amount_atomic >= o.amount_atomic)
     and not exists (select from private.outflows other where other.payment = p.id)
$$;

-- Returns how a settled payment is booked against a transfer that left its wallet for its payee: `unread`
-- while its block is not read, `good` also for what was there before the reading began, else `wrong`. What
-- was authorized since the reading began cannot be in an earlier block, whatever an endpoint says.
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

-- True if an earlier transfer to the same payee has not found its permit yet. It fits no permit that was signed
-- later, so it chooses first.
create function private.has_earlier(o private.outflows) returns boolean
  language sql stable as $$
  select exists (select from private.outflows e
    where e.wallet = o.wallet and e.chain = o.chain and e.token = o.token
      and lower(e.payee) = lower(o.payee) and e.authorization_nonce is null and e.due_at is not null
      and (e.block_number, e.log_index) < (o.block_number, o.log_index))
$$;

-- Returns the permit that is booked with this very log, or else the best match. The log is looked up first,
-- because comparing an outflow with every similar permit takes longer the more there are.
create function private.match_permit(o private.outflows) returns private.outflow_match
  language plpgsql stable as $$
declare
  booked uuid := (select p.id from private.payments p
    where (p.chain, p.tx_hash, p.log_index) = (o.chain, o.tx_hash, o.log_index)
      and p.wallet = o.wallet and p.token = o.token and lower(p.payee) = lower(o.payee)
      and p.state = 'settled' and p.finality = 'finalized' and p.terms ->> 'transfer_method' = 'permit2'
      and case p.terms ->> 'scheme' when 'exact' then p.amount_atomic = o.amount_atomic
        else coalesce(p.settled_atomic, p.amount_atomic) >= o.amount_atomic end
      and not exists (select from private.outflows other where other.payment = p.id));
begin
  return case when booked is null then private.match_like(o)
    when private.has_earlier(o) then row('behind', booked)::private.outflow_match
    else row('booked', booked)::private.outflow_match end;
end $$;

-- Returns the best match among permits that are not booked with this very log, or with too little. Only a permit
-- whose use is final can have a transfer; one whose use is not decided is awaited. A place that is not final is
-- no evidence, since one endpoint can show another. First come the permits that may have been used for it: of
-- them the one that fits the fewest other outflows, which is an exact one, then the one with the smallest
-- sufficient amount. A larger one, even if it is known to be used here, could take the outflow of a smaller one
-- whose use is not known yet, and its own would fit none. Among equal ones, the nearest wins: one that is settled
-- in this transaction, then in this block without a log of its own, then any that was not seen used. Last comes
-- one that is settled elsewhere in this block, which may be the place of another. So several transfers find their
-- own permits, if the earlier ones are booked first.
create function private.match_like(o private.outflows) returns private.outflow_match
  language sql stable as $$
  with fitting as (
    select p.id, p.state, p.log_index,
      coalesce(p.settled_atomic, p.amount_atomic) as booked_atomic,
      coalesce(p.settled_atomic, p.amount_atomic) >= o.amount_atomic as is_enough,
      p.terms ->> 'scheme' = 'upto' as is_upto,
      u.is_used, u.is_used and p.tx_hash = o.tx_hash
        and coalesce(p.log_index, o.log_index) = o.log_index as is_here,
      u.is_used and p.block_hash = o.block_hash as is_same_block,
      u.is_used and p.block_hash = o.block_hash and p.log_index is null
        and coalesce(p.tx_hash, o.tx_hash) = o.tx_hash as is_in_block,
      u.is_used and p.block_hash is null and p.tx_hash is null as is_nowhere,
      p.state <> 'released' and not u.is_used as is_open,
      case when u.is_used then private.place_of(p) end as place
    from private.permits_like(o) p
      cross join lateral (values (p.state = 'settled' and p.finality = 'finalized')) u (is_used)
  ), ranked as (
    select f.id, f.is_enough, f.is_upto, f.booked_atomic, r.*
    from fitting f cross join lateral (values
      (1, 1, 'booked', f.is_here and f.is_enough and f.log_index is not null),
      (1, 2, 'short', f.is_here and f.log_index is not null),
      (2, 1, 'booked', f.is_here and f.is_enough),
      (2, 2, 'late', f.is_in_block and f.is_enough),
      (2, 3, 'late', f.is_nowhere and f.is_enough),
      (2, 4, 'late', f.place = 'wrong' and f.is_enough),
      (2, 5, 'awaited', f.is_open),
      (2, 6, 'awaited', not f.is_here and f.place = 'unread'),
      (3, 1, 'late', f.place = 'good' and f.is_same_block and not f.is_here and f.is_enough),
      (4, 1, 'over', f.state = 'released'),
      (5, 1, 'short', f.is_here or f.place = 'wrong')
    ) r (class, nearness, standing, applies) where r.applies
  )
  select case when nearest.class <= 3 and private.has_earlier(o) then 'behind'
    else coalesce(nearest.standing, 'unknown') end, nearest.id
  from (select) one left join (
    select n.class, n.standing, n.id from ranked n
     order by n.class, n.is_enough desc, n.is_upto, n.booked_atomic, n.nearness, n.id limit 1
  ) nearest on true
$$;

-- Makes the first transfer due that waits for permits of a payee.
create function private.hasten_first(wallet text, chain bigint, token text, payee text) returns void
  language sql as $$
  update private.outflows t set due_at = private.clock()
   where (t.chain, t.tx_hash, t.log_index) = (
     select n.chain, n.tx_hash, n.log_index from private.outflows n
      where n.wallet = hasten_first.wallet and n.chain = hasten_first.chain
        and n.token = hasten_first.token and lower(n.payee) = lower(hasten_first.payee)
        and n.authorization_nonce is null and n.due_at is not null
      order by n.block_number, n.log_index limit 1)
     and t.looks > 0 and t.due_at > private.clock()
$$;

create function private.permit_decided() returns trigger language plpgsql as $$
begin
  perform private.hasten_first(new.wallet, new.chain, new.token, new.payee);
  return null;
end $$;

create trigger permit_decided after update on private.payments
  for each row when (new.terms ->> 'transfer_method' = 'permit2'
    and (new.state = 'released' or new.state = 'settled' and new.finality = 'finalized')
    and (new.state, new.finality) is distinct from (old.state, old.finality))
  execute function private.permit_decided();

create function private.match_outflow(o private.outflows) returns private.outflow_match
  language sql stable as $$
  select m.* from private.match_permit(o) m where o.authorization_nonce is null
  union all
  select m.* from private.match_by_nonce(o) m where o.authorization_nonce is not null
$$;

-- Books a payment with the outflow that settled it, in a final block. Another payment that claimed the same
-- log loses it.
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
    -- An amount not counted before counts from now, and so does one that was booked in another block.
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

-- Judges what left the wallets on a chain, two minutes after it was read, so that the settling side has time
-- to book it. A booked outflow is done; a payment that the watch decides next about moves to the front of its
-- queue. Returns the others, which housekeeping_book_outflow ends one by one.
create function api.housekeeping_judge_outflows(chain bigint, batch integer)
  returns table (standing text, token text, tx_hash text, log_index integer, block_number bigint,
    block_hash text, authorization_nonce text, wallet text, payee text, amount_atomic text)
  language plpgsql security definer set search_path = '' as $$
declare
  o private.outflows;
  m private.outflow_match;
  is_any_booked boolean := true;
begin
  -- One run at a time: two transfers judged together must not find the same payment free.
  perform from private.transfer_cursors c
   where c.chain = housekeeping_judge_outflows.chain for no key update;
  -- A transfer that found its payment may let the next one be judged.
  while is_any_booked loop
    is_any_booked := false;
    for o in
      select * from private.outflows due
       where due.chain = housekeeping_judge_outflows.chain and due.due_at <= private.clock()
       order by due.block_number, due.log_index limit batch
    loop
      -- The call ends in time, because a caller that gave up would keep nothing. What was judged is kept, and
      -- the next run continues.
      exit when pg_catalog.clock_timestamp() > pg_catalog.statement_timestamp() + interval '3 seconds';
      m := private.match_outflow(o);
      if m.standing = 'booked' then
        is_any_booked := true;
        update private.outflows t set verdict = 'booked', payment = m.payment, due_at = null
         where (t.chain, t.tx_hash, t.log_index) = (o.chain, o.tx_hash, o.log_index);
        perform private.hasten_first(o.wallet, o.chain, o.token, o.payee)
          where o.authorization_nonce is null;
        continue;
      end if;
      -- It comes again if the run ends here, at growing intervals.
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
      continue when m.standing = 'behind';
      -- An outflow without a nonce is judged once its neighbours have found their payments.
      if o.authorization_nonce is null and o.looks = 0 then
        continue;
      end if;
      return query select m.standing, o.token, o.tx_hash, o.log_index, o.block_number,
        o.block_hash, o.authorization_nonce, o.wallet, o.payee, o.amount_atomic::text;
    end loop;
  end loop;
end $$;

-- Ends what housekeeping_judge_outflows returned, if it is still in that state; returns no row otherwise.
-- Unless it is only late, the account is frozen and the owner is notified by mail. If no payment accounts for
-- it, `summary` appears in the feed.
create function api.housekeeping_book_outflow(
  chain bigint, tx_hash text, log_index integer, standing text, summary text, mail jsonb)
  returns table (account_id uuid, payment_id uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  o private.outflows;
  m private.outflow_match;
  booked private.payments;
  cursor_row private.transfer_cursors;
begin
  select * into cursor_row from private.transfer_cursors c
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
  perform private.hasten_first(o.wallet, o.chain, o.token, o.payee)
    where o.authorization_nonce is null;
  if standing in ('over', 'short') then
    perform private.record_payment(booked, booked.kind || '_rebooked');
  elsif standing = 'unknown' then
    insert into private.activities (account, category, type, summary)
    values (o.account, 'security', 'unknown_transfer', housekeeping_book_outflow.summary);
  end if;
  -- Its owner was told of the restore, by which the account is frozen.
  if standing <> 'late' and not private.is_before_restore(cursor_row, o.block_number) then
    perform private.freeze(o.account,
      'The account was frozen by the service: money left that its books did not account for.');
    perform private.enqueue_mail(o.account, mail);
  end if;
  return query select o.account, booked.id;
end $$;
grant execute on function api.housekeeping_judge_outflows, api.housekeeping_book_outflow
  to service_role;
