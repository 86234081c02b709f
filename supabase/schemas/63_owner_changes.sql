-- The owner's changes to the account. A change that widens permissions needs a fresh proof of the owner; a
-- change that narrows them works at once. Each change appears in the feed.

create function private.usd_text(micros bigint) returns text
  language sql immutable as $$ select trim_scale(micros / 1000000.0)::text $$;

create function private.limit_words(limit_name text) returns text
  language sql immutable as $$
  select case limit_name
    when 'automatic_daily' then 'daily limit for payments without confirmation'
    when 'asserted_daily' then 'daily limit for payments confirmed by the agent'
    when 'asserted_new_recipient' then 'limit for a new recipient confirmed by the agent'
    when 'daily_spending_cap' then 'daily spending cap'
    else '30-day spending cap' end
$$;

-- Returns the freeze that stands, as the number that the owner lifts it by; no row if there is none.
create function api.owner_read_freeze(credential text)
  returns table (freeze integer, since timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select a.freezes, a.frozen_at from private.accounts a
   where a.id = caller.account and a.frozen_at is not null;
end $$;

-- Lifts the freeze that the owner was shown; answers false if it does not stand any more. A later one stays,
-- because the owner has not seen it.
create function api.owner_unfreeze(credential text, freeze integer, mail jsonb default null)
  returns table (unfrozen boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
begin
  update private.accounts a set frozen_at = null, facts_version = a.facts_version + 1
   where a.id = caller.account and a.freezes = owner_unfreeze.freeze and a.frozen_at is not null;
  unfrozen := found;
  if unfrozen then
    perform private.record_change(caller, 'security', 'account_unfrozen',
      'The account was unfrozen by its owner.');
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

-- Returns the limits with what is used of them.
create function api.owner_read_limits(credential text)
  returns table (limits jsonb, asserted_new_recipient_limit text, relayed jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select private.limits_json(a, private.spent(a.id)),
    a.asserted_new_recipient_limit_usd_micros::text, private.relayed_json(a.id)
    from private.accounts a where a.id = caller.account;
end $$;

-- Limits of a new account in micro-USD, as the columns of private.accounts begin.
create function private.limits_of_new(
  out automatic_daily bigint, out asserted_daily bigint, out asserted_new_recipient bigint,
  out daily_spending_cap bigint, out monthly_spending_cap bigint) language sql immutable as $$
  select 200000000, 200000000, 10000000, 1000000000, 30000000000
$$;

-- Returns each wanted limit, named as in the API, with what it is before and what setting it would do.
create function private.limit_changes(a private.accounts, limits jsonb)
  returns table (name text, before bigint, wanted bigint, outcome text) language sql stable as $$
  select w.key, l.now, w.value::bigint, case
    when l.now is null or w.value::bigint not between 0 and 1000000000000 then 'out_of_bounds'
    when w.value::bigint = l.now then 'same' when w.value::bigint > l.now then 'raised' else 'lowered' end
  from jsonb_each_text(limits) w left join (values
    ('automatic_daily', a.automatic_daily_limit_usd_micros),
    ('asserted_daily', a.asserted_daily_limit_usd_micros),
    ('asserted_new_recipient', a.asserted_new_recipient_limit_usd_micros),
    ('daily_spending_cap', a.daily_spending_cap_usd_micros),
    ('monthly_spending_cap', a.monthly_spending_cap_usd_micros)) l (name, now) on l.name = w.key
$$;

-- Sets limits, all or none, and returns for each what it was before and what happened to it. Whether one is raised,
-- which needs a fresh proof, is decided under the lock that every payment of the account takes.
create function api.owner_set_limits(credential text, limits jsonb, mail jsonb default null)
  returns table (name text, before text, outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  a private.accounts := private.hold_live(caller);
  change record;
begin
  return query select g.name, g.before::text, g.outcome from private.limit_changes(a, limits) g order by g.name;
  if exists (select from private.limit_changes(a, limits) g where g.outcome = 'out_of_bounds')
    or not exists (select from private.limit_changes(a, limits) g where g.outcome <> 'same') then
    return;
  end if;
  if exists (select from private.limit_changes(a, limits) g where g.outcome = 'raised') then
    perform private.admit_owner(credential, 'widen');
    perform private.enqueue_mail(caller.account, mail);
  end if;
  for change in select * from private.limit_changes(a, limits) g where g.outcome <> 'same' order by g.name loop
    perform private.record_change(caller, 'security', 'limit_' || change.outcome, pg_catalog.format(
      'The %s was %s from %s to %s USD.', private.limit_words(change.name), change.outcome,
      private.usd_text(change.before), private.usd_text(change.wanted)));
  end loop;
  update private.accounts x set facts_version = x.facts_version + 1,
    automatic_daily_limit_usd_micros =
      coalesce((limits ->> 'automatic_daily')::bigint, x.automatic_daily_limit_usd_micros),
    asserted_daily_limit_usd_micros =
      coalesce((limits ->> 'asserted_daily')::bigint, x.asserted_daily_limit_usd_micros),
    asserted_new_recipient_limit_usd_micros =
      coalesce((limits ->> 'asserted_new_recipient')::bigint, x.asserted_new_recipient_limit_usd_micros),
    daily_spending_cap_usd_micros =
      coalesce((limits ->> 'daily_spending_cap')::bigint, x.daily_spending_cap_usd_micros),
    monthly_spending_cap_usd_micros =
      coalesce((limits ->> 'monthly_spending_cap')::bigint, x.monthly_spending_cap_usd_micros)
   where x.id = a.id;
end $$;

-- Returns the known recipients, the latest first, with what each was paid and which key or app asked for it
-- to become known. With `asked_by` only those of that key or app, and of those that it replaced.
create function api.owner_list_recipients(
  credential text, listed_max integer, asked_by uuid default null)
  returns table (address text, alias text, known_since timestamptz, payments integer,
    paid_usd_micros text, asker text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  with paid as (
    select p.payee, count(*)::integer as payments, sum(p.amount_usd_micros)::text as total
      from private.payments p where p.account = caller.account and (p.state = 'settled' or p.block_hash is not null)
     group by p.payee
  )
  select r.address, a.alias, r.known_since, coalesce(d.payments, 0), coalesce(d.total, '0'),
    private.holder_title(k)
    from private.known_recipients r
    left join private.credentials k on k.id = r.asked_by
    left join private.wallets w on w.address = r.address
    left join private.accounts a on a.id = w.account
    left join paid d on d.payee = r.address
   where r.account = caller.account
     and (owner_list_recipients.asked_by is null
       or private.holder_of(r.asked_by) = private.holder_of(owner_list_recipients.asked_by))
   order by r.known_since desc, r.address limit listed_max;
end $$;

-- Makes an address known, so that it may be paid without asking; otherwise `outcome` says why not. An address
-- that looks like a known one stays unknown, and the owner has to approve each payment to it.
create function api.owner_add_recipient(
  credential text, address text, mail jsonb default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
begin
  update private.accounts a set facts_version = a.facts_version + 1 where a.id = caller.account;
  outcome := case
    when private.recipient_known(caller.account, address) then 'known'
    when private.similar_recipient(caller.account, address) is not null then 'similar'
    when exists (select from private.wallets w where w.account = caller.account
      and w.address = owner_add_recipient.address) then 'own'
    else 'added' end;
  if outcome = 'added' then
    insert into private.known_recipients (account, chain_family, address, session)
    values (caller.account, 'evm', address, caller.id) on conflict do nothing;
    perform private.record_change(caller, 'security', 'recipient_added',
      pg_catalog.format('The recipient %s was added.', address));
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

-- Forgets a recipient, so that payments to it are asked about again.
create function api.owner_forget_recipient(credential text, address text)
  returns table (forgotten boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
begin
  update private.accounts a set facts_version = a.facts_version + 1 where a.id = caller.account;
  delete from private.known_recipients r
   where r.account = caller.account and r.address = owner_forget_recipient.address;
  forgotten := found;
  if forgotten then
    perform private.record_change(caller, 'security', 'recipient_forgotten',
      pg_catalog.format('The recipient %s was removed.', address));
  end if;
  return next;
end $$;

-- Returns the known devices of live keys and apps, the latest first.
create function api.owner_list_devices(credential text, listed_max integer)
  returns table (key uuid, fingerprint text, label text, shown text, known_since timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select d.key, d.fingerprint, k.label, k.shown, d.known_since
    from private.known_devices d join private.credentials k on k.id = d.key
   where d.account = caller.account and private.is_agent_live(k)
   order by d.known_since desc, d.key, d.fingerprint limit listed_max;
end $$;

-- Forgets everything that became known by requests of one key or app, and of those that it replaced. Returns
-- the number of recipients.
create function api.owner_forget_known_by(credential text, key uuid)
  returns table (forgotten integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
begin
  update private.accounts a set facts_version = a.facts_version + 1 where a.id = caller.account;
  delete from private.known_devices d
   where d.account = caller.account
     and private.holder_of(d.key) = private.holder_of(owner_forget_known_by.key);
  delete from private.known_recipients r
   where r.account = caller.account
     and private.holder_of(r.asked_by) = private.holder_of(owner_forget_known_by.key);
  get diagnostics forgotten = row_count;
  if forgotten > 0 then
    perform private.record_change(caller, 'security', 'recipient_forgotten', pg_catalog.format(
      'The recipients trusted at the request of the %s were removed: %s.', private.holder_name(k), forgotten))
      from private.credentials k where k.id = owner_forget_known_by.key;
  end if;
  return next;
end $$;

-- Forgets a device, so that its next payment is asked about.
create function api.owner_forget_device(credential text, key uuid, fingerprint text)
  returns table (forgotten boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
begin
  update private.accounts a set facts_version = a.facts_version + 1 where a.id = caller.account;
  delete from private.known_devices d where d.account = caller.account
    and d.key = owner_forget_device.key and d.fingerprint = owner_forget_device.fingerprint;
  forgotten := found;
  if forgotten then
    perform private.record_change(caller, 'security', 'device_forgotten', pg_catalog.format(
      'A device of the %s was removed.', private.holder_name(k)))
      from private.credentials k where k.id = owner_forget_device.key;
  end if;
  return next;
end $$;

-- True if a cap permits more than another; null permits everything.
create function private.is_wider(cap bigint, than bigint) returns boolean
  language sql immutable as $$ select than is not null and (cap is null or cap > than) $$;

create function private.cap_words(k private.credentials) returns text
  language sql immutable as $$
  select 'The ' || private.holder_name(k) || case
    when k.max_per_payment_usd_micros is null and k.max_per_day_usd_micros is null
      then ' has no caps of its own.'
    else ' may move at most ' || concat_ws(' and ',
      private.usd_text(k.max_per_payment_usd_micros) || ' USD in one payment',
      private.usd_text(k.max_per_day_usd_micros) || ' USD in 24 hours') || '.' end
$$;

-- Sets both caps of a live key or grant; null means no cap. Raising either needs a fresh proof, and so does
-- naming one that does not exist (`missing`).
create function api.owner_set_caps(
  credential text, holder uuid, max_per_payment_usd_micros text default null,
  max_per_day_usd_micros text default null, mail jsonb default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  per_payment bigint := max_per_payment_usd_micros::bigint;
  per_day bigint := max_per_day_usd_micros::bigint;
  usd_micros_max constant bigint := 1000000000000;
  k private.credentials;
begin
  perform private.hold_live(caller);
  -- A code that is not redeemed yet would restore the caps that it was issued with.
  perform private.spend_codes(caller.account, holder);
  select x.* into k from private.credentials x
   where x.id = holder and x.account = caller.account and private.is_agent_live(x) for no key update;
  outcome := case when k.id is null then 'missing'
    when not coalesce(per_payment between 0 and usd_micros_max, true)
      or not coalesce(per_day between 0 and usd_micros_max, true) then 'out_of_bounds'
    when (per_payment, per_day)
      is not distinct from (k.max_per_payment_usd_micros, k.max_per_day_usd_micros) then 'same'
    when private.is_wider(per_payment, k.max_per_payment_usd_micros)
      or private.is_wider(per_day, k.max_per_day_usd_micros) then 'raised'
    else 'lowered' end;
  if outcome in ('missing', 'raised') then
    perform private.admit_owner(credential, 'widen');
  end if;
  if outcome in ('raised', 'lowered') then
    update private.credentials x set max_per_payment_usd_micros = per_payment,
      max_per_day_usd_micros = per_day where x.id = k.id returning * into k;
    update private.accounts a set facts_version = a.facts_version + 1 where a.id = k.account;
    perform private.record_change(caller, 'security', 'caps_' || outcome, private.cap_words(k));
    if outcome = 'raised' then
      perform private.enqueue_mail(caller.account, mail);
    end if;
  end if;
  return next;
end $$;

grant execute on function api.owner_read_freeze, api.owner_unfreeze, api.owner_read_limits, api.owner_set_limits,
  api.owner_list_recipients, api.owner_add_recipient, api.owner_forget_recipient, api.owner_list_devices,
  api.owner_forget_known_by, api.owner_forget_device, api.owner_set_caps to service_role;
