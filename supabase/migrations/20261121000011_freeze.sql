-- Freezing an account, cancelling on chain what was signed and is not settled, and what a key could
-- move or a payment would need: the figures behind "how much, by when".

-- Why the authorization of a payment cannot be cancelled on chain; null when it can. Whoever holds
-- it, a merchant or the queue, can use it until it expires.
create function private.obstacle(p private.payments) returns text
  language sql stable as $$
  select case
    when private.live_until(p) <= private.clock() then 'expired'
    -- Permit2 takes the word of nobody but the owner's own transaction (invalidateUnorderedNonces).
    when p.terms ->> 'transfer_method' = 'permit2' then 'permit2'
  end
$$;

-- What was open when an account was frozen last, in the order in which its answer names it: uncancelled
-- and large first. Whatever it came to since, nothing else can leave. It is one row, since a freeze waits
-- for it: ten thousands of them, each with its foreign keys, take seconds.
create table private.frozen_payments (
  account uuid primary key references private.accounts,
  payments uuid[] not null
);
alter table private.frozen_payments enable row level security;

-- Freezes an account; false when it is frozen already. What was reserved and not signed is released.
-- What is queued goes out of the queue, and is released where no transaction ever carried it. The rest
-- of what is open is kept as it stands now.
create function private.freeze(frozen uuid, summary text, untrusted jsonb default null)
  returns boolean language plpgsql as $$
begin
  -- Locked before the time is read: every reservation is then older than the freeze, or none at all.
  perform private.hold_account(frozen);
  update private.accounts a set frozen_at = private.clock(), facts_version = a.facts_version + 1
   where a.id = frozen and a.frozen_at is null;
  if not found then
    return false;
  end if;
  perform private.release_unsigned(array(select p.id from private.payments p
    where p.account = frozen and p.state = 'authorized'),
    'the account was frozen before anything was signed');
  with withdrawn as (
    delete from private.relay_calls c using private.payments p
     where c.payment = p.id and p.account = frozen and c.kind = 'transfer' and c.slot is null
       and p.state = 'signed'
    returning c.payment, c.tries
  )
  update private.payments p set state = 'released', finality = null,
    failure = 'the account was frozen before it was sent'
   where p.id in (select w.payment from withdrawn w where w.tries = 0);
  insert into private.frozen_payments as f (account, payments)
  select frozen, array(select o.id from private.open_signatures(frozen) o
    order by o.state = 'settled', o.amount_usd_micros desc, o.id)
  on conflict on constraint frozen_payments_pkey do update set payments = excluded.payments;
  delete from private.vault_sessions s where s.account = frozen;
  perform private.erase_site_answers(frozen);
  insert into private.activities (account, category, type, summary, untrusted)
  values (frozen, 'security', 'account_frozen', summary, untrusted);
  return true;
end $$;

-- What of an account may still leave its wallet or come back to leave: what is signed, what is settled in
-- a block that is not final, and, since it is endpoints that say what is final, what has not ended. That
-- counts still (`counts_until`), so neither half looks through what is long over.
create function private.open_signatures(of_account uuid) returns setof private.payments
  language sql stable as $$
  select p.* from private.payments p
   where p.account = of_account
     and (p.state in ('signed', 'unknown') or p.state = 'settled' and p.finality <> 'finalized')
  union all
  select p.* from private.payments p
   where p.account = of_account and p.state = 'settled' and p.finality = 'finalized'
     and p.counts_until > private.clock() and private.live_until(p) > private.clock()
$$;

-- Who may freeze: every credential in service, and for three days a key that was revoked or replaced, for
-- whoever took it out of service may not be the owner.
create function private.admit_brake(credential text) returns private.credentials
  language plpgsql as $$
declare
  revoked private.credentials;
begin
  select k.* into revoked from private.credentials k
   where k.digest = credential and k.kind = 'api_key'
     and case when k.revoked_at is null then k.brakes_until > private.clock()
       else k.revoked_at > private.clock() - interval '72 hours'
         and coalesce(k.brakes_until, k.expires_at, 'infinity') > private.clock() end;
  return case when found then revoked else private.recognize(credential, 'any') end;
end $$;

-- Freezes the caller's account for good, as far as any key goes; a second call changes nothing and
-- answers the same time. Answers what was open at the freeze as it stands now, `listed_max` of it from
-- after a place, whether its cancellation is queued and whether a transaction that carries it may be out,
-- and the last place if more follows. Where this call froze it, the list begins. The brake has a rate of
-- its own: whoever floods the key with other requests does not hold it back.
create function api.freeze_account(
  credential text, listed_max integer, reason text default null, mail jsonb default null,
  after_place bigint default 0)
  returns table (frozen_since timestamptz, open_payments jsonb, next_place integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_brake(credential);
begin
  perform private.take('freeze:' || caller.id, 5, 1);
  -- Further than any list goes, and still a place in an array.
  after_place := least(after_place, 1000000000);
  if private.freeze(caller.account,
    case caller.kind when 'session' then 'The account was frozen by its owner.'
      else pg_catalog.format('The account was frozen with the %s.', private.holder_name(caller)) end,
    case when reason is not null then jsonb_build_object('reason', reason) end)
  then
    after_place := 0;
    perform private.enqueue_mail(caller.account, mail);
  end if;
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
          'allowance_signature']
        || jsonb_build_object('obstacle', private.obstacle(l.p), 'is_cancelled', exists (
            select from private.relay_calls c where c.payment = (l.p).id and c.kind = 'cancel'),
          'is_carried', exists (
          select from private.relay_transactions t join private.relay_slots s on s.id = t.slot
           where s.state = 'open' and (l.p).id = any (t.carries)))
        order by l.place)
      from listed l), '[]'),
    (select (after_place + listed_max)::integer from private.frozen_payments f
      where f.account = caller.account and pg_catalog.cardinality(f.payments) > after_place + listed_max)
  from private.accounts a where a.id = caller.account;
end $$;

-- Whether a stored transaction may be sent: it carries no transfer of a frozen account. Asked right before,
-- whatever was read earlier. Only who sends it within two seconds of asking for it does not ask: that it is
-- stored is what a freeze waits for and names, or what fails after one.
create function api.housekeeping_may_send(tx_hash text) returns boolean
  language plpgsql stable security definer set search_path = '' as $$
begin
  return exists (select from private.relay_transactions t
    where t.tx_hash = housekeeping_may_send.tx_hash and not private.is_held(t));
end $$;

-- Turns away who may not pay any more; asked right before a signature is handed to a merchant.
create function api.confirm_payer(credential text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.recognize(credential, 'pay', true);
  return true;
end $$;

-- Whether custody may cancel an authorization: it is live, there is gas for it, and the account is frozen
-- or has the payment released.
create function private.may_cancel(p private.payments) returns boolean
  language sql stable as $$
  select p.state in ('signed', 'unknown', 'released') and p.signature is not null
    and private.obstacle(p) is null and private.has_cancel_room(p)
    and (p.state = 'released' or exists (select from private.accounts a
      where a.id = p.account and a.frozen_at is not null))
$$;

-- Payments of frozen accounts whose cancellation is not queued yet, the largest first and the accounts in
-- turn: a freeze queues those of the first ones itself, and housekeeping the rest.
create function api.housekeeping_uncancelled(batch integer) returns table (payment uuid)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  select p.id from private.payments p
    join private.accounts a on a.id = p.account and a.frozen_at is not null
   where p.state in ('signed', 'unknown') and private.may_cancel(p)
     and not exists (select from private.relay_calls c where c.payment = p.id and c.kind = 'cancel')
   order by row_number() over (partition by p.account order by p.amount_usd_micros desc, p.id),
     p.amount_usd_micros desc, p.id
   limit batch;
end $$;

-- Hands a live authorization to custody for its cancellation, with the sealed key that signs it and
-- the signature that is kept already. No row when there is nothing to cancel. It needs no credential:
-- it moves nothing, and takes what a freeze or the ledger has given up.
create function api.custody_cancel(payment uuid)
  returns table (payment_row jsonb, wallet_envelope jsonb, kept text)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  select private.payment_json(p), k.envelope, c.signature
    from private.payments p
    join private.custody_keys k on k.address = p.wallet and k.owner = p.account::text
    left join private.relay_calls c on c.payment = p.id and c.kind = 'cancel'
   where p.id = custody_cancel.payment and private.may_cancel(p);
end $$;

-- Queues a signed cancellation; false when there is nothing to cancel any more.
create function api.custody_record_cancel(payment uuid, signature text)
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  -- The gas of those that are queued at once is counted one by one.
  perform from private.accounts a where a.id = (select p.account from private.payments p
    where p.id = custody_record_cancel.payment) for no key update;
  perform private.queue_call(p, 'cancel', custody_record_cancel.signature) from private.payments p
   where p.id = custody_record_cancel.payment and private.may_cancel(p);
  return exists (select from private.relay_calls c
    where c.payment = custody_record_cancel.payment and c.kind = 'cancel'
      and c.signature = custody_record_cancel.signature);
end $$;
grant execute on function api.housekeeping_uncancelled to service_role;
grant execute on function api.freeze_account, api.housekeeping_may_send, api.confirm_payer to service_role;
grant execute on function api.custody_cancel, api.custody_record_cancel to custody;

-- What a key could have leave is worked out from this. What is open may be executed, or be released,
-- which frees its part of the limits, and a block that is not final may be undone. What has settled for good is summed by the whole minutes until it leaves the windows: at most 1,440 rows.
create function private.key_exposure(of_key private.credentials) returns jsonb
  language plpgsql stable as $$
declare
  at timestamptz := private.clock();
  exposure jsonb;
begin
  with counted as (
    select coalesce(p.budget, p.key) = private.budget_of(of_key) as is_own,
      p.finality is not distinct from 'finalized' as is_settled, p.consent_level,
      p.counted_usd_micros as usd,
      case p.finality when 'finalized'
        then pg_catalog.floor(extract(epoch from p.counts_until - at) / 60) end::integer as minutes
      from private.payments p
     where p.account = of_key.account and p.counts_until > at
  ), summed as (
    select c.is_settled, c.minutes, jsonb_build_object(
      'automatic', coalesce(sum(c.usd) filter (where c.consent_level = 'none'), 0)::text,
      'asserted', coalesce(sum(c.usd) filter (where c.consent_level = 'agent_asserted'), 0)::text,
      'own', coalesce(sum(c.usd) filter (where c.is_own), 0)::text,
      'total', sum(c.usd)::text) as sums
    from counted c group by 1, 2
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
    'open', (select s.sums from summed s where not s.is_settled),
    'leaving', coalesce((select jsonb_agg(s.sums || jsonb_build_object('minutes', s.minutes))
      from summed s where s.is_settled), '[]'),
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

-- When an amount fits into a limit at the latest if nothing else is spent, rounded up to the
-- second; null when it never does. `level`, `mandate`, `budget` or `payee` picks the payments that
-- the limit counts.
create function private.fits_at(
  spender uuid, amount bigint, cap bigint, level text default null, mandate uuid default null,
  budget uuid default null, payee text default null)
  returns timestamptz language sql stable as $$
  with counted as (
    select l.leaves_at, sum(p.counted_usd_micros) over (order by l.leaves_at desc) as not_sooner
      from private.payments p,
        private.leaves_at(p.state, p.counts_until, p.valid_before) l (leaves_at)
     where p.account = spender and p.counts_until > private.clock()
       and (level is null or p.consent_level = level)
       and (fits_at.mandate is null or p.mandate = fits_at.mandate)
       and (fits_at.payee is null or p.payee = fits_at.payee)
       and (fits_at.budget is null or coalesce(p.budget, p.key) = fits_at.budget)
  )
  select case when amount <= cap then coalesce((
    select date_trunc('second', max(c.leaves_at) + interval '0.999999 seconds')
      from counted c where c.not_sooner + amount > cap), private.clock()) end
$$;

-- When a payment of the caller's would fit into each limit, and into the day of each mandate that
-- names its merchant or payee: asked only once it did not fit.
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
      budget => private.budget_of(caller)),
    (select coalesce(jsonb_object_agg(m.id, private.fits_at(
        a.id, p.amount_usd_micros, m.max_day_usd_micros, 'mandate', m.id)), '{}')
      from private.mandates_concerning(p) m where m.max_day_usd_micros is not null)
  from private.payments p join private.accounts a on a.id = p.account
   where p.id = payment_headroom.payment and p.account = caller.account;
end $$;
grant execute on function api.account_exposure, api.payment_headroom to service_role;
