-- Pages of data: the feed, and what a page of the owner shows, in one call instead of one for each part of it.

-- Returns a page of the caller's feed, newest first, from before a position. `hidden` selects the items that
-- are kept out of the feed. Payments and deposits show their current state.
create function api.list_activity(
  credential text, page integer, before bigint default null, only_category text default null,
  hidden boolean default false)
  returns table (id text, at timestamptz, category text, type text, summary text, payment jsonb,
    deposit jsonb, untrusted jsonb, mandate uuid, entry uuid, mail uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select a.id::text, a.at, a.category, a.type, a.summary,
    case when p.id is not null then private.payment_json(p) - array['delivery', 'terms']
      || jsonb_build_object('terms', jsonb_build_object('origin', p.terms ->> 'origin',
        'purpose', p.terms ->> 'purpose')) end,
    -- A join here would have their tables planned anew with each page.
    case when a.deposit is not null then private.deposit_json(a.deposit) end, a.untrusted,
    a.mandate, a.entry, a.mail
  from private.activities a left join private.payments p on p.id = a.payment
  where a.account = caller.account and a.hidden = list_activity.hidden
    and (before is null or a.id < before)
    and (only_category is null or a.category = only_category)
  order by a.id desc limit page;
end $$;

-- Returns what was spent between each two of these times, numbered from 1.
create function private.spent_by_day(spender uuid, bounds timestamptz[]) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('nth', d.nth, 'usd_micros', d.sum::text)), '[]')
  from (select width_bucket(p.authorized_at, bounds) as nth, sum(p.amount_usd_micros)
      from private.payments p
     where p.account = spender and p.counts_until >= bounds[1] and p.authorized_at >= bounds[1]
       and (p.state = 'settled' or p.counts_until > private.clock())
     group by 1) d
$$;

-- Returns by how much each token of the wallet grew or shrank between each two of these times. A deposit counts when
-- it was seen.
create function private.moved_by_day(account uuid, bounds timestamptz[]) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'nth', d.nth, 'chain', d.chain, 'token', d.token, 'atomic', d.sum::text)), '[]')
  from (select width_bucket(m.at, bounds) as nth, m.chain, m.token, sum(m.atomic)
      from (
        select p.settled_at as at, p.chain, p.token,
            -coalesce(p.settled_atomic, p.amount_atomic) as atomic
          from private.payments p
         where p.account = moved_by_day.account and private.is_in_block(p)
           and p.counts_until >= bounds[1] + interval '24 hours' and p.settled_at >= bounds[1]
        union all
        select a.at, t.chain, t.token, t.amount_atomic
          from private.activities a join private.deposits t on t.id = a.deposit
         where a.account = moved_by_day.account and a.category = 'deposit' and a.at >= bounds[1]
           and not t.reorged) m
     group by 1, 2, 3) d
$$;

-- Returns which of an account's first steps are done.
create function private.first_steps(a private.accounts) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'deposited', exists (select from private.activities v where v.account = a.id and v.category = 'deposit'),
    'connected', exists (select from private.credentials k
      where k.account = a.id and k.kind <> 'session' and k.last_used_on is not null),
    'has_passkey', private.has_passkey(a.id),
    'has_codes', exists (select from private.recovery_codes r where r.account = a.id),
    'has_own_limits', exists (select from private.limit_changes(a, to_jsonb(private.limits_of_new())) g
      where g.outcome <> 'same'))
$$;

-- Returns the overview of the account. `bounds` are the beginnings of days; days without an entry are left out.
-- Spending is shown on the day of its authorization, movements on the day on which money moved.
create function api.owner_overview(credential text, bounds timestamptz[])
  returns table (overview jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
  spent private.spending := private.spent(caller.account);
begin
  return query
  select pg_catalog.jsonb_build_object(
    'created_at', a.created_at, 'limits', private.limits_json(a, spent),
    'address', w.address, 'steps', private.first_steps(a),
    'reserved_usd_micros', (select coalesce(sum(p.amount_usd_micros), 0)::text
      from private.payments p
      where p.wallet = w.address and p.state in ('authorized', 'signed') and p.block_hash is null
        and p.counts_until > private.clock()),
    'spent_by_day', private.spent_by_day(a.id, bounds),
    'moved_by_day', private.moved_by_day(a.id, bounds))
  from private.accounts a
  join private.wallets w on w.account = a.id and w.chain_family = 'evm'
  where a.id = caller.account;
end $$;

-- Returns all words of an item that its reader may remember, in one text.
create function private.activity_words(a private.activities, p private.payments) returns text
  language sql stable as $$
  select lower(concat_ws(' ', a.category, a.type, a.summary, a.untrusted, p.payee, p.payee_alias,
    p.memo, p.terms ->> 'origin', p.tx_hash, p.id, a.mandate, (
      select concat_ws(' ', d.sender, d.tx_hash, s.alias) from private.deposits d
      left join private.wallets w on w.address = d.sender
      left join private.accounts s on s.id = w.account where d.id = a.deposit)))
$$;

-- Returns items as api.list_activity does, those that contain these words or are about this entry of the
-- vault. So that a search for a rare word ends, it covers the newest 20,000 items from where the page begins.
create function api.owner_search_activity(
  credential text, page integer, words text, before bigint default null,
  only_category text default null, hidden boolean default false, of_entry uuid default null)
  returns table (id text, at timestamptz, category text, type text, summary text, payment jsonb,
    deposit jsonb, untrusted jsonb, mandate uuid, entry uuid, mail uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select a.id::text, a.at, a.category, a.type, a.summary,
    case when p.id is not null then private.payment_json(p) - 'delivery' end,
    case when a.deposit is not null then private.deposit_json(a.deposit) end, a.untrusted,
    a.mandate, a.entry, a.mail
  from private.activities a left join private.payments p on p.id = a.payment
  where a.id in (select n.id from private.activities n
     where n.account = caller.account and n.hidden = owner_search_activity.hidden
       and (before is null or n.id < before)
       and (only_category is null or n.category = only_category)
       and (of_entry is null or n.entry = of_entry)
     order by n.id desc limit 20000)
    and pg_catalog.strpos(private.activity_words(a, p), pg_catalog.lower(words)) > 0
  order by a.id desc limit page;
end $$;

-- Returns one item of the feed, hidden or not. Returns no row if the account has no such item.
create function api.owner_find_activity(credential text, item bigint)
  returns table (id text, at timestamptz, category text, type text, summary text, payment jsonb,
    deposit jsonb, untrusted jsonb, mandate uuid, entry uuid, mail uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select a.id::text, a.at, a.category, a.type, a.summary,
    case when p.id is not null then private.payment_json(p) end,
    case when a.deposit is not null then private.deposit_json(a.deposit) end,
    a.untrusted, a.mandate, a.entry, a.mail
  from private.activities a
  left join private.payments p on p.id = a.payment
  where a.account = caller.account and a.id = item;
end $$;

-- Returns the account of a session, with what only its owner can decide and has not.
create function api.owner_read_session(credential text)
  returns table (account_id uuid, alias text, frozen boolean, hold_until timestamptz,
    payments_waiting integer, mandates_waiting integer, erases_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select a.id, a.alias, a.frozen_at is not null,
    (select o.hold_until from private.owners o where o.account = a.id),
    (select count(*)::integer from private.waiting_for_owner(a.id) p
      where not exists (select from private.approvals o where o.payment = p.id)),
    (select count(*)::integer from private.mandates m where m.account = a.id
      and m.state = 'pending_approval' and m.expires_at > private.clock()),
    a.erases_at
  from private.accounts a where a.id = caller.account;
end $$;

-- Returns the mandates of a key or app that are not over and its known devices, the newest 20 of each. A key and those
-- that replaced one another are one agent.
create function api.owner_read_agent(credential text, agent uuid) returns table (mandates jsonb, devices jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
  keys uuid[] := array(select k.id from private.credentials k
    where k.account = caller.account and private.budget_of(k) = private.holder_of(agent));
begin
  return query select (
    select coalesce(jsonb_agg(private.mandate_json(m) order by m.number desc), '[]') from private.mandates m
     where m.id in (select o.id from private.mandates o
       where o.account = caller.account and o.key = any (keys) and o.expires_at > private.clock()
         and o.state in ('pending_approval', 'active', 'suspended')
       order by o.number desc limit 20)), (
    select coalesce(jsonb_agg(to_jsonb(d) order by d.known_since desc, d.fingerprint), '[]') from (
      select n.key, n.fingerprint, k.label, k.shown, n.known_since
        from private.known_devices n join private.credentials k on k.id = n.key
       where n.account = caller.account and n.key = any (keys) and private.is_agent_live(k)
       order by n.known_since desc, n.fingerprint limit 20) d);
end $$;

-- Returns payments of the account in this order, at most 50, with what the owner decides from. Payments of
-- other accounts are left out like missing ones.
create function api.owner_read_approvals(credential text, payments uuid[])
  returns table (approval jsonb, facts jsonb, passkeys jsonb, paid_before jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select private.approval_json(p) || jsonb_build_object('is_duplicate',
      (p.chain, p.token, p.payee, p.amount_atomic) in (
        select * from private.repeated_terms(caller.account))),
    private.payment_facts(p, p.key),
    private.passkeys_json(p.account), private.paid_before(p.account, p.payee)
    from unnest(payments[:50]) with ordinality o (id, n)
    join private.payments p on p.id = o.id and p.account = caller.account
   order by o.n;
end $$;

grant execute on function api.list_activity, api.owner_overview, api.owner_search_activity, api.owner_find_activity,
  api.owner_read_session, api.owner_read_agent, api.owner_read_approvals to service_role;
