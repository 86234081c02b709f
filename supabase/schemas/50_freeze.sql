-- Freezing an account, which names what is signed and open.

-- Payments that were open when an account was last frozen, in the order in which the answer lists them:
-- unsettled first, then by amount. Whatever became of them since, nothing else can leave. They are one row,
-- because a freeze waits for the insert: ten thousand rows, each with its foreign keys, take seconds.
create table private.frozen_payments (
  account uuid primary key references private.accounts,
  payments uuid[] not null
);
alter table private.frozen_payments enable row level security;

-- Returns the payments of an account that are signed and not decided by a final block.
create function private.open_signatures(of_account uuid) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.account = of_account
     and p.state = 'signed'
$$;

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

-- Returns what can become of a payment that was open when its account was frozen. Its holder, a merchant or
-- whoever saw a transaction that was sent, can use a signature until it ends; nobody has one that never left.
create function private.signed_outcome(p private.payments) returns text
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
          'allowance_signature'] || jsonb_build_object('outcome', private.signed_outcome(l.p)) order by l.place)
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
