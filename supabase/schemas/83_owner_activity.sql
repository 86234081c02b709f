-- The owner's list of activity: one row for each payment, at the time of its latest step, among deposits and other
-- events. Filters and pages of one list, its export and the sums of spending select by the same functions.

-- Filters of the list; null for one that is not set. `words` are in lower case. Amounts of `token_from` to below
-- `token_below` are meant by words that are an amount, in atomic units of tokens with six decimals. `tokens` holds
-- the bounds of `usd_from` and `usd_to` for deposits, which have no value in dollars of their own.
create type private.activity_filter as (
  words text, token_from numeric, token_below numeric, agent uuid, since timestamptz, until timestamptz, state text,
  usd_from bigint, usd_to bigint, tokens jsonb, direction text, category text,
  -- Origin of a merchant, or address of a payee.
  payee text,
  -- Keys and apps of the agent, and those whose name contains the words, which are looked up once.
  keys uuid[], named_keys uuid[]
);

-- Returns a key or app as lists name it. An app's name is its own word, so its host stands behind it.
create function private.agent_name(k private.credentials) returns text language sql immutable as $$
  select case k.kind when 'oauth' then k.label || ' (' || k.shown || ')' when 'api_key' then k.label else 'You' end
$$;

-- Reads filters. Keys and apps of one name are one agent, as a key and its replacement are.
create function private.read_filter(of_account uuid, filter jsonb) returns private.activity_filter
  language plpgsql stable as $$
declare
  f private.activity_filter := jsonb_populate_record(null::private.activity_filter, filter);
begin
  if f.agent is not null then
    f.keys := array(select k.id from private.credentials k where k.account = of_account
      and private.agent_name(k) = (select private.agent_name(n) from private.credentials n
        where n.id = f.agent and n.account = of_account));
  end if;
  if f.words is not null then
    f.named_keys := array(select k.id from private.credentials k where k.account = of_account
      and k.kind <> 'session' and strpos(lower(private.agent_name(k)), f.words) > 0);
  end if;
  return f;
end $$;

-- Returns the group of states that a payment is in, of four.
create function private.outcome_of(p private.payments) returns text language sql immutable as $$
  select case when private.is_in_block(p) then 'paid' when p.state in ('authorized', 'signed') then 'on_its_way'
    when p.state in ('prepared', 'awaiting_confirmation') and p.refused_for is null then 'waiting' else 'not_paid' end
$$;

-- Returns whom a payment is for: the origin of its merchant, or the address of its payee.
create function private.payee_of(p private.payments) returns text language sql immutable as $$
  select coalesce(p.terms ->> 'origin', p.payee)
$$;

-- Returns the value in micro-USD of what the payee took, which may be less than was authorized.
create function private.paid_usd_micros(p private.payments) returns bigint language sql immutable as $$
  select case when p.settled_atomic is null then p.amount_usd_micros
    else ceil(p.amount_usd_micros * p.settled_atomic / p.amount_atomic)::bigint end
$$;

-- True if these words are meant: of an amount, or of text. Addresses, hashes and ids are found by six characters or
-- more, since fewer occur in them by chance.
create function private.says(f private.activity_filter, amount_atomic numeric, spoken text, exact text)
  returns boolean language sql immutable as $$
  select f.words is null or strpos(lower(spoken), f.words) > 0
    or amount_atomic >= f.token_from and amount_atomic < f.token_below
    or f.token_from is null and length(f.words) >= 6 and strpos(lower(exact), f.words) > 0
$$;

-- True if filters select a payment, apart from those of time.
create function private.selects_payment(f private.activity_filter, p private.payments) returns boolean
  language sql stable as $$
  select (f.direction is null or f.direction = 'out')
    and (f.category is null or private.category_of(p) = f.category)
    and (f.state is null or private.outcome_of(p) = f.state)
    and (f.keys is null or p.key = any (f.keys))
    and (f.payee is null or private.payee_of(p) = f.payee)
    and (f.usd_from is null or p.amount_usd_micros >= f.usd_from)
    and (f.usd_to is null or p.amount_usd_micros <= f.usd_to)
    and (f.words is null or p.key = any (f.named_keys) or private.says(f, coalesce(p.settled_atomic, p.amount_atomic),
      concat_ws(' ', private.label_of(p.account, p.payee), p.payee_alias, p.memo, p.terms ->> 'origin'),
      concat_ws(' ', p.payee, p.tx_hash, p.id, p.mandate)))
$$;

-- True if filters select a deposit, apart from those of time.
create function private.selects_deposit(f private.activity_filter, a private.activities, d private.deposits)
  returns boolean language sql stable as $$
  select num_nonnulls(f.keys, f.payee) = 0 and (f.direction is null or f.direction = 'in')
    and (f.category is null or a.category = f.category)
    and (f.state is null or f.state = case when d.reorged then 'not_paid' else 'paid' end)
    and (f.tokens is null or exists (select from jsonb_to_recordset(f.tokens)
        as t (chain bigint, token text, low numeric, high numeric)
      where t.chain = d.chain and lower(t.token) = lower(d.token)
        and d.amount_atomic >= coalesce(t.low, 0) and d.amount_atomic <= coalesce(t.high, 'infinity')))
    and (f.words is null or private.says(f, d.amount_atomic,
      (select s.alias from private.wallets w join private.accounts s on s.id = w.account where w.address = d.sender),
      concat_ws(' ', d.sender, d.tx_hash)))
$$;

-- True if filters select an event that moved nothing, apart from those of time.
create function private.selects_event(f private.activity_filter, a private.activities) returns boolean
  language sql stable as $$
  select num_nonnulls(f.keys, f.payee, f.direction, f.state, f.usd_from, f.usd_to) = 0
    and (f.category is null or a.category = f.category)
    and (f.words is null or private.says(f, null, concat_ws(' ', a.category, a.type, a.summary, a.untrusted),
      a.mandate::text))
$$;

-- True if a row of the list belongs to a page: before a position, and in the time that filters select.
create function private.is_on_page(
  at timestamptz, id text, f private.activity_filter, before_at timestamptz, before_id text)
  returns boolean language sql immutable as $$
  select at <= coalesce(least(before_at, f.until), 'infinity')
    and at >= coalesce(f.since, '-infinity') and at < coalesce(f.until, 'infinity')
    and (before_at is null or at < before_at or id collate "C" < before_id)
$$;

-- Returns where the rows of a page stand, newest first, from before a position. Rows of one time are ordered by id.
-- Those of an agent are read key by key, each in a range of an index, so that what others paid is not.
create function private.listed_activity(
  of_account uuid, f private.activity_filter, page integer, before_at timestamptz, before_id text, hidden boolean,
  is_money boolean)
  returns table (at timestamptz, id text, payment uuid, item bigint) language plpgsql stable as $$
begin
  if f.keys is not null then
    return query select r.* from unnest(f.keys) k (key), lateral (
      select p.latest_step_at, p.id::text, p.id, null::bigint from private.payments p
       where p.key = k.key and not listed_activity.hidden
         and private.is_on_page(p.latest_step_at, p.id::text, f, before_at, before_id)
         and private.selects_payment(f, p)
       order by p.latest_step_at desc, p.id::text collate "C" desc limit page) r (at, id, payment, item)
     order by r.at desc, r.id collate "C" desc limit page;
    return;
  end if;
  return query select * from (
  (select p.latest_step_at, p.id::text, p.id, null::bigint from private.payments p
    where p.account = of_account and not listed_activity.hidden
      and private.is_on_page(p.latest_step_at, p.id::text, f, before_at, before_id)
      and private.selects_payment(f, p)
    order by p.latest_step_at desc, p.id::text collate "C" desc limit page)
  union all
  (select a.at, a.id::text, null, a.id from private.activities a left join private.deposits d on d.id = a.deposit
    where a.account = of_account and a.payment is null and a.hidden = listed_activity.hidden
      and private.is_on_page(a.at, a.id::text, f, before_at, before_id)
      and case when a.deposit is not null then private.selects_deposit(f, a, d)
        else not is_money and private.selects_event(f, a) end
    order by a.at desc, a.id::text collate "C" desc limit page)
  ) r (at, id, payment, item) order by r.at desc, r.id collate "C" desc limit page;
end $$;

-- Returns a page of the list. `is_money` leaves out what is neither a payment nor a deposit.
create function api.owner_list_activity(
  credential text, page integer, filter jsonb default '{}', before_at timestamptz default null,
  before_id text default null, hidden boolean default false, is_money boolean default false)
  returns table (id text, at timestamptz, category text, type text, summary text, payment jsonb,
    deposit jsonb, untrusted jsonb, mandate uuid, entry uuid, mail uuid, agent text, is_approved boolean, label text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select l.id, l.at, coalesce(a.category, private.category_of(p)), coalesce(a.type, 'payment'), a.summary,
    case when p.id is not null then private.payment_json(p) - 'delivery' end,
    case when a.deposit is not null then private.deposit_json(a.deposit) end, a.untrusted,
    coalesce(a.mandate, p.mandate), a.entry, a.mail, case when k.id is not null then private.agent_name(k) end,
    coalesce((select o.decision = 'approved' from private.approvals o where o.payment = p.id), false),
    private.label_of(caller.account, p.payee)
  from private.listed_activity(caller.account, private.read_filter(caller.account, filter), page, before_at, before_id,
    owner_list_activity.hidden, is_money) l
  left join private.payments p on p.id = l.payment
  left join private.activities a on a.id = l.item
  left join private.credentials k on k.id = p.key
  order by l.at desc, l.id collate "C" desc;
end $$;

-- Returns keys and apps of the account by name, live or not, the newest 200.
create function api.owner_list_agents(credential text) returns table (id uuid, name text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select n.id, n.name from (
    select distinct on (private.agent_name(k)) k.id, private.agent_name(k) as name, k.created_at
      from private.credentials k where k.account = caller.account and k.kind <> 'session'
     order by private.agent_name(k), k.created_at desc) n
  order by n.created_at desc limit 200;
end $$;

-- Returns one payment with its steps in the order of time: those that the feed holds, and since when it is final.
-- Returns no row if the account has no such payment.
create function api.owner_find_payment(credential text, payment uuid)
  returns table (payment_row jsonb, agent text, steps jsonb, authorized_at timestamptz, latest_step_at timestamptz,
    settled_at timestamptz, final_at timestamptz, approved_with text, label text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select private.payment_json(p), private.agent_name(k),
    (select coalesce(jsonb_agg(jsonb_build_object('type', a.type, 'at', a.at) order by a.id), '[]')
      from private.activities a where a.payment = p.id),
    p.authorized_at, p.latest_step_at, case when private.is_in_block(p) then p.settled_at end,
    case when p.state = 'settled' then p.checked_at end,
    (select o.level from private.approvals o where o.payment = p.id and o.decision = 'approved'),
    private.label_of(p.account, p.payee)
  from private.payments p join private.credentials k on k.id = p.key
  where p.id = owner_find_payment.payment and p.account = caller.account;
end $$;

-- Returns what was paid from the first to below the last of these times, in all, by payee, by agent and for each part
-- between two times that has any, numbered from 1. Of payees and agents, the 50 that got or paid most are listed.
create function api.owner_read_spending(credential text, bounds timestamptz[])
  returns table (spending jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  with paid as materialized (
    select private.paid_usd_micros(p) as usd_micros, private.payee_of(p) as payee, p.payee_alias, p.key,
      width_bucket(p.latest_step_at, bounds) as part
      from private.payments p
     where p.account = caller.account and private.is_in_block(p)
       and p.latest_step_at >= bounds[1] and p.latest_step_at < bounds[cardinality(bounds)]
  ), agents as (
    select min(k.id::text) as id, private.agent_name(k) as name, sum(s.usd_micros) as sum, sum(s.count) as count
      from (select d.key, sum(d.usd_micros) as usd_micros, count(*) as count from paid d group by 1) s
      join private.credentials k on k.id = s.key group by 2
  ), payees as (
    select d.payee, max(d.payee_alias) as alias, sum(d.usd_micros) as sum, count(*) as count from paid d group by 1
  )
  select jsonb_build_object(
    'usd_micros', (select coalesce(sum(d.usd_micros), 0)::text from paid d),
    'payments', (select count(*) from paid),
    'payees', (select coalesce(jsonb_agg(jsonb_build_object('payee', t.payee,
        'alias', coalesce(private.label_of(caller.account, t.payee), t.alias),
        'usd_micros', t.sum::text, 'payments', t.count) order by t.sum desc, t.payee), '[]')
      from (select * from payees y order by y.sum desc, y.payee limit 50) t),
    'agents', (select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name,
        'usd_micros', t.sum::text, 'payments', t.count) order by t.sum desc, t.name), '[]')
      from (select * from agents a order by a.sum desc, a.name limit 50) t),
    'parts', (select coalesce(jsonb_agg(jsonb_build_object('nth', t.part, 'usd_micros', t.sum::text,
        'payments', t.count) order by t.part), '[]')
      from (select d.part, sum(d.usd_micros) as sum, count(*) as count from paid d group by 1) t));
end $$;

grant execute on function api.owner_read_spending, api.owner_list_activity, api.owner_list_agents, api.owner_find_payment to service_role;
