-- Freezing an account, cancelling on chain what was signed and is not settled, and what a key could
-- move or a payment would need: the figures behind "how much, by when".

-- Why the authorization of a payment cannot be cancelled on chain; null when it can. Whoever holds
-- it, a merchant or the queue, can use it until it expires.
create function private.obstacle(p private.payments) returns text
  language sql stable as $$
  select case
    when p.authorization_nonce is null then 'wallet_transaction'
    when p.tx_hash is not null or exists (select from private.relay_calls c
      where c.payment = p.id and c.kind = 'transfer' and c.slot is not null) then 'in_transaction'
    when p.valid_before <= extract(epoch from private.clock()) then 'expired'
    -- Permit2 takes the word of nobody but the owner's own transaction (invalidateUnorderedNonces).
    when p.terms ->> 'transfer_method' = 'permit2' then 'permit2'
  end
$$;

-- Freezes the caller's account for good, as far as any key goes; a second call changes nothing and
-- answers the same time. What was reserved and not signed is released: custody keeps a signature
-- only for a payment that is still authorized, so none leaves after this. Answers what is signed
-- and may still settle, uncancelled and large first, and how many more than `listed_max` there are.
create function api.freeze_account(
  credential text, listed_max integer, reason text default null, mail jsonb default null)
  returns table (frozen_since timestamptz, open_payments jsonb, not_listed integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'any');
begin
  -- Locked before the time is read: every reservation is then older than the freeze, or none at all.
  perform from private.accounts a where a.id = caller.account for update;
  update private.accounts a set frozen_at = private.clock(), facts_version = a.facts_version + 1
   where a.id = caller.account and a.frozen_at is null;
  if found then
    update private.payments p set state = 'released',
      failure = 'the account was frozen before anything was signed'
     where p.account = caller.account and p.state = 'authorized';
    -- What is queued was given to nobody: without its call no lane carries it.
    with withdrawn as (
      delete from private.relay_calls c using private.payments p
       where c.payment = p.id and p.account = caller.account and c.kind = 'transfer'
         and c.slot is null and p.state = 'signed' and p.tx_hash is null
      returning c.payment
    )
    update private.payments p set state = 'released',
      failure = 'the account was frozen before it was sent'
     where p.id in (select w.payment from withdrawn w);
    insert into private.activities (account, category, type, summary, untrusted)
    values (caller.account, 'security', 'account_frozen',
      case caller.kind when 'session' then 'The account was frozen by its owner.'
        else pg_catalog.format('The account was frozen with the %s.', private.holder_name(caller)) end,
      case when reason is not null then jsonb_build_object('reason', reason) end);
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return query
  with signed as (
    select p, pg_catalog.row_number() over (order by exists (select from private.relay_calls c
        where c.payment = p.id and c.kind = 'cancel'), p.amount_usd_micros desc, p.id) as place
    from private.payments p where p.account = caller.account and p.state in ('signed', 'unknown')
  )
  select a.frozen_at,
    coalesce((select jsonb_agg(private.payment_json(s.p) - array['delivery', 'terms', 'signature',
          'allowance_signature']
        || jsonb_build_object('obstacle', private.obstacle(s.p)) order by s.place)
      from signed s where s.place <= listed_max), '[]'),
    greatest((select count(*) from signed) - listed_max, 0)::integer
  from private.accounts a where a.id = caller.account;
end $$;

-- Whether custody may cancel an authorization: it is live, and the account is frozen or has the
-- payment released.
create function private.may_cancel(p private.payments) returns boolean
  language sql stable as $$
  select p.state in ('signed', 'unknown', 'released') and private.obstacle(p) is null
    and (p.state = 'released' or exists (select from private.accounts a
      where a.id = p.account and a.frozen_at is not null))
$$;

-- Hands a live authorization to custody for its cancellation, with the sealed key that signs it and
-- the signature that is kept already. No row when there is nothing of the caller's to cancel.
create function api.custody_cancel(credential text, payment uuid)
  returns table (payment_row jsonb, wallet_envelope jsonb, kept text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'any');
begin
  return query
  select private.payment_json(p), k.envelope, c.signature
    from private.payments p
    join private.custody_keys k on k.address = p.wallet and k.owner = p.account::text
    left join private.relay_calls c on c.payment = p.id and c.kind = 'cancel'
   where p.id = custody_cancel.payment and p.account = caller.account and private.may_cancel(p);
end $$;

-- Queues a signed cancellation; false when there is nothing to cancel any more.
create function api.custody_record_cancel(credential text, payment uuid, signature text)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'any');
begin
  insert into private.relay_calls (payment, kind, chain, signature)
  select p.id, 'cancel', p.chain, custody_record_cancel.signature
    from private.payments p
   where p.id = custody_record_cancel.payment and p.account = caller.account
     and private.may_cancel(p)
  on conflict on constraint relay_calls_payment_kind_key do nothing;
  return exists (select from private.relay_calls c
    where c.payment = custody_record_cancel.payment and c.kind = 'cancel'
      and c.signature = custody_record_cancel.signature);
end $$;
grant execute on function api.freeze_account to service_role;
grant execute on function api.custody_cancel, api.custody_record_cancel to custody;

-- What a key could newly move by itself is worked out from this. A payment that is on its way may
-- settle, which makes its recipient and its device known, or be released, which frees its part of
-- the limits: either is taken to happen. What has settled is summed by the whole minutes until it
-- leaves the rolling 24 hours: at most 1,440 rows.
create function private.key_exposure(of_key private.credentials) returns jsonb
  language plpgsql stable as $$
declare
  at timestamptz := private.clock();
  exposure jsonb;
begin
  with counted as (
    select p.key, coalesce(p.budget, p.key) as budget, p.state, p.consent_level,
      p.counted_usd_micros, pg_catalog.floor(extract(
        epoch from p.authorized_at + interval '24 hours' - at) / 60)::integer as minutes
      from private.payments p
     where p.account = of_key.account and p.authorized_at > at - interval '24 hours'
       and p.state in ('authorized', 'signed', 'unknown', 'settled')
  ), coming as (
    select c.key from counted c
     where c.consent_level not in ('none', 'mandate') and c.state <> 'settled'
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
    'recipient_known', exists (select from coming) or exists (
      select from private.known_recipients r where r.account = a.id),
    'device_known', exists (select from coming c where c.key = of_key.id) or exists (
      select from private.known_devices d where d.account = a.id and d.key = of_key.id),
    'leaving', coalesce((select jsonb_agg(l) from (
      select c.minutes,
        coalesce(sum(c.counted_usd_micros) filter (where c.consent_level = 'none'), 0)::text
          as automatic,
        coalesce(sum(c.counted_usd_micros) filter (where c.consent_level = 'agent_asserted'), 0)::text
          as asserted,
        coalesce(sum(c.counted_usd_micros) filter (
          where c.budget = private.budget_of(of_key)), 0)::text as own,
        sum(c.counted_usd_micros)::text as total
      from counted c where c.state = 'settled' group by c.minutes) l), '[]'),
    'mandates', private.exposed_mandates(of_key.account, at))
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

-- When an amount fits into a limit over the rolling 24 hours if nothing else is spent, rounded up to
-- the second; null when it never does. `level`, `mandate` or `budget` picks the payments that the
-- limit counts.
create function private.fits_at(
  spender uuid, amount bigint, cap bigint, level text default null, mandate uuid default null,
  budget uuid default null)
  returns timestamptz language sql stable as $$
  with counted as (
    select p.authorized_at,
      sum(p.counted_usd_micros) over (order by p.authorized_at desc) as not_older
      from private.payments p
     where p.account = spender and p.authorized_at > private.clock() - interval '24 hours'
       and p.state in ('authorized', 'signed', 'unknown', 'settled')
       and (level is null or p.consent_level = level)
       and (fits_at.mandate is null or p.mandate = fits_at.mandate)
       and (fits_at.budget is null or coalesce(p.budget, p.key) = fits_at.budget)
  )
  select case when amount <= cap then coalesce((
    select date_trunc('second', max(c.authorized_at) + interval '24 hours 0.999999 seconds')
      from counted c where c.not_older + amount > cap), private.clock()) end
$$;

-- When a payment of the caller's would fit into each limit, and into the day of each mandate that
-- names its merchant or payee: asked only once it did not fit.
create function api.payment_headroom(credential text, payment uuid)
  returns table (automatic_daily timestamptz, asserted_daily timestamptz,
    daily_spending_cap timestamptz, credential_daily timestamptz, mandates jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay', true);
begin
  return query
  select
    private.fits_at(a.id, p.amount_usd_micros, a.automatic_daily_limit_usd_micros, 'none'),
    private.fits_at(a.id, p.amount_usd_micros, a.asserted_daily_limit_usd_micros,
      'agent_asserted'),
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
