-- Mandates: what an owner allowed to be paid without being asked each time (functions/README.md). The terms
-- never change after approval. Whether a payment fits is decided elsewhere from facts, and here again when it
-- is reserved.

create table private.mandates (
  id uuid primary key default gen_random_uuid(),
  -- Position in the list.
  number bigint not null generated always as identity,
  account uuid not null references private.accounts,
  -- The key or app that asked or that it is for, and its device. The device is empty where the owner wrote the
  -- mandate: then it pays from devices that the owner knows.
  key uuid not null references private.credentials,
  device text not null,
  -- True if the owner made it for this key or app.
  by_owner boolean not null default false,
  -- Service rendered to the owner under it, in words; null for what agents pay.
  purpose text,
  state text not null default 'pending_approval'
    check (state in ('pending_approval', 'active', 'suspended', 'declined', 'revoked')),
  -- Lower-case A-labels; on loopback it may end in a port.
  merchant_domain text not null check (length(merchant_domain) between 1 and 260),
  include_subdomains boolean not null,
  max_payment_usd_micros bigint not null check (max_payment_usd_micros > 0),
  max_day_usd_micros bigint check (max_day_usd_micros > 0),
  max_total_usd_micros bigint check (max_total_usd_micros > 0),
  max_payments integer check (max_payments > 0),
  -- Allowed values, sorted; null where any value is allowed. Tokens and payees are addresses in EIP-55 form.
  chains bigint[] check (cardinality(chains) > 0),
  tokens text[] check (cardinality(tokens) > 0),
  pay_to text[] check (cardinality(pay_to) > 0),
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz not null,
  -- The caps as they were asked for, if the owner narrowed them.
  requested jsonb,
  -- True if the owner allowed any key or app of the account to pay under it.
  for_any_key boolean not null default false,
  consent uuid references private.consents,
  decided_at timestamptz,
  revoked_at timestamptz,
  revoked_by text check (revoked_by in ('agent', 'owner', 'app', 'service')),
  check ((state in ('active', 'suspended')) <= (consent is not null)),
  check ((state = 'revoked') = (revoked_at is not null and revoked_by is not null))
);
alter table private.mandates enable row level security;
create index mandates_of_account on private.mandates (account, number desc);
create index mandates_open on private.mandates (account)
  where state in ('pending_approval', 'active', 'suspended');
create index mandates_of_domain on private.mandates (account, merchant_domain);
create index mandates_of_payee on private.mandates using gin (pay_to) where pay_to is not null;

create type private.mandate_usage as (
  day bigint, total bigint, payments integer, day_resets_at timestamptz
);

alter table private.payments add foreign key (mandate) references private.mandates;

-- Returns what was spent under a mandate or may still be, in micro-USD; the day holds what counts now.
create function private.used_of(m private.mandates) returns private.mandate_usage
  language plpgsql stable as $$
declare
  at constant timestamptz := private.clock();
  near constant timestamptz := private.near();
  u private.mandate_usage;
  f private.settled_use := private.settled_use_of(array[m.id], near);
  ever private.settled_sums;
begin
  select coalesce(sum(p.amount_usd_micros), 0),
    coalesce(sum(p.amount_usd_micros) filter (where p.state <> 'settled'), 0),
    count(*) filter (where p.state <> 'settled'), min(private.leaves_at(p.state, p.counts_until, p.valid_before, at))
  into u.day, u.total, u.payments, u.day_resets_at
  from private.counted_singly(m.account) p where p.mandate = m.id;
  select t.* into ever from private.settled_sums t
   where t.subject = m.id and t.payee = '' and t.leaves_from = 'infinity';
  u.day := u.day + f.total;
  u.total := u.total + coalesce(ever.total, 0);
  u.payments := u.payments + coalesce(ever.payments, 0);
  u.day_resets_at := least(u.day_resets_at,
    private.first_to_leave(m.account, f.total_from, null, mandate => m.id));
  return u;
end $$;

-- Returns the state together with what follows from time and use.
create function private.mandate_status(m private.mandates, u private.mandate_usage) returns text
  language sql stable as $$
  select case
    when m.state in ('declined', 'revoked') then m.state
    when m.expires_at <= private.clock() then 'expired'
    when m.state = 'active' and (u.total >= m.max_total_usd_micros or u.payments >= m.max_payments)
      then 'exhausted'
    else m.state end
$$;

-- Returns the digest of the terms that the owner consents to, as shared/consent/terms.ts builds them.
create function private.mandate_digest(m private.mandates) returns text language sql stable as $$
  select private.consent_digest(jsonb_build_object(
    'v', 1, 'type', 'mandate', 'account_id', m.account, 'mandate_id', m.id,
    'merchant_domain', m.merchant_domain, 'include_subdomains', m.include_subdomains,
    'max_amount_per_payment_usd_micros', m.max_payment_usd_micros::text,
    'max_amount_per_day_usd_micros', m.max_day_usd_micros::text,
    'max_total_usd_micros', m.max_total_usd_micros::text, 'max_payments', m.max_payments,
    'chains', (select jsonb_agg('eip155:' || c.id order by c.n)
      from unnest(m.chains) with ordinality c (id, n)),
    'tokens', to_jsonb(m.tokens), 'pay_to', to_jsonb(m.pay_to),
    'expires_at', private.terms_time(m.expires_at), 'device', m.device,
    'paid_by', case when m.for_any_key then 'any_key' else private.holder_of(m.key)::text end))
$$;

-- Returns a mandate in the form in which it leaves the database: money as text, with what is used of it.
create function private.mandate_json(m private.mandates) returns jsonb language plpgsql stable as $$
declare
  u private.mandate_usage := private.used_of(m);
begin
  return to_jsonb(m) - array['key', 'consent'] || jsonb_build_object(
    'asked_by', private.holder_of(m.key),
    'number', m.number::text, 'status', private.mandate_status(m, u),
    'max_payment_usd_micros', m.max_payment_usd_micros::text,
    'max_day_usd_micros', m.max_day_usd_micros::text,
    'max_total_usd_micros', m.max_total_usd_micros::text,
    'spent_day_usd_micros', u.day::text, 'spent_total_usd_micros', u.total::text,
    'payments', u.payments, 'day_resets_at', u.day_resets_at);
end $$;

-- Returns the host of an origin, with its port if one is named.
create function private.host_of(origin text) returns text language sql immutable as $$
  select substring(origin from '^https?://([^/@]+)$')
$$;

-- Returns a host, the host without its port, and each domain above it.
create function private.domains_above(host text) returns text[] language sql immutable as $$
  select array_agg(array_to_string(labels[n:], '.')) || host
    from string_to_array(split_part(host, ':', 1), '.') labels, generate_subscripts(labels, 1) n
$$;

-- Returns the mandates that name a payment's merchant or its payee, live ones first.
create function private.mandates_concerning(p private.payments) returns setof private.mandates
  language plpgsql stable as $$
declare
  host text := private.host_of(p.terms ->> 'origin');
begin
  return query select m.* from private.mandates m
   where m.account = p.account and m.state <> 'declined'
     and (m.merchant_domain = any (private.domains_above(host)) or m.pay_to @> array[p.payee])
   order by (m.state = 'active' and m.expires_at > private.clock()) desc, m.number desc
   limit 50;
end $$;

-- Returns who pays under a mandate: its requester, the requester from another device, or another key.
create function private.payer_under(m private.mandates, p private.payments, payer uuid) returns text
  language sql stable as $$
  select case when private.holder_of(payer) <> private.holder_of(p.key) then 'other_key'
    when private.holder_of(payer) <> private.holder_of(m.key)
      then case when m.for_any_key then 'other_device' else 'other_key' end
    when m.device <> p.device then 'other_device' else 'asker' end
$$;

-- Decides whether a mandate carries a payment that is about to be reserved. It checks each bound, consent to
-- exactly these terms, and the cases in which the owner must always be asked.
create function private.mandate_carries(m private.mandates, p private.payments, payer uuid)
  returns boolean
  language plpgsql stable as $$
declare
  u private.mandate_usage := private.used_of(m);
  host text := private.host_of(p.terms ->> 'origin');
  pinned boolean := coalesce(p.payee = any (m.pay_to), false);
  loopback boolean := split_part(m.merchant_domain, ':', 1) in ('localhost', '127.0.0.1');
begin
  return m.state = 'active' and m.expires_at > private.clock()
    and p.amount_usd_micros <= m.max_payment_usd_micros
    and (m.max_day_usd_micros is null or u.day + p.amount_usd_micros <= m.max_day_usd_micros)
    and (m.max_total_usd_micros is null or u.total + p.amount_usd_micros <= m.max_total_usd_micros)
    and (m.max_payments is null or u.payments < m.max_payments)
    and case p.kind when 'transfer' then pinned else coalesce(
      host = m.merchant_domain
      or loopback and split_part(host, ':', 1) = m.merchant_domain
      or m.include_subdomains and right(host, length(m.merchant_domain) + 1)
        = '.' || m.merchant_domain, false) and (p.verified_with_merchant or pinned) end
    and (m.chains is null or p.chain = any (m.chains))
    and (m.tokens is null or p.token = any (m.tokens))
    and (m.pay_to is null or pinned)
    and (pinned or private.similar_recipient(p.account, p.payee) is null)
    and case private.payer_under(m, p, payer) when 'asker' then true
      when 'other_device' then private.device_known(p) else false end
    and exists (select from private.consents c
      where c.id = m.consent and c.digest = private.mandate_digest(m));
end $$;

-- Enters an item about a mandate in the feed.
create function private.record_mandate(m private.mandates, type text, words text)
  returns void language sql as $$
  insert into private.activities (account, category, type, summary, mandate)
  values (m.account, 'mandate', 'mandate_' || type,
    pg_catalog.format('The mandate for %s was %s.', m.merchant_domain, words), m.id)
$$;

-- Refuses one more mandate of an account of which 20 wait for the owner. The caller holds the account's lock.
create function private.limit_waiting_mandates(of_account uuid) returns void language plpgsql as $$
begin
  if (select count(*) from private.mandates m where m.account = of_account
    and m.state = 'pending_approval' and m.expires_at > private.clock()) >= 20 then
    perform private.refuse('too_many_mandates', '409');
  end if;
end $$;

-- Asks the owner for a mandate. At most 20 may wait for the owner.
create function api.create_mandate(
  credential text, device text, merchant_domain text, include_subdomains boolean,
  max_payment_usd_micros text, ttl_seconds integer, max_day_usd_micros text default null,
  max_total_usd_micros text default null, max_payments integer default null,
  chains bigint[] default null, tokens text[] default null, pay_to text[] default null,
  mail jsonb default null, new_id uuid default gen_random_uuid())
  returns table (mandate_row jsonb, digest text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
  asked private.mandates;
begin
  perform private.hold_payer(caller, true);
  perform private.limit_waiting_mandates(caller.account);
  perform private.ask_for_room(private.budget_of(caller));
  insert into private.mandates (id, account, key, device, merchant_domain, include_subdomains,
    max_payment_usd_micros, max_day_usd_micros, max_total_usd_micros, max_payments, chains, tokens,
    pay_to, expires_at)
  values (new_id, caller.account, caller.id, create_mandate.device, create_mandate.merchant_domain,
    create_mandate.include_subdomains, create_mandate.max_payment_usd_micros::bigint,
    create_mandate.max_day_usd_micros::bigint, create_mandate.max_total_usd_micros::bigint,
    create_mandate.max_payments, create_mandate.chains, create_mandate.tokens,
    create_mandate.pay_to,
    -- In whole milliseconds, as the terms state it.
    pg_catalog.date_trunc('milliseconds', private.clock())
      + pg_catalog.make_interval(secs => ttl_seconds))
  returning * into asked;
  perform private.record_mandate(asked, 'requested', 'asked for');
  perform private.enqueue_mail(caller.account, mail);
  return query select private.mandate_json(asked), private.mandate_digest(asked);
end $$;

-- Returns mandates of the caller's account, newest first, from before a number; or one of them.
create function api.list_mandates(
  credential text, page integer, before bigint default null, mandate uuid default null,
  status text default null)
  returns table (mandate_row jsonb, digest text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select private.mandate_json(m), private.mandate_digest(m) from private.mandates m
   where m.account = caller.account
     and (list_mandates.mandate is null or m.id = list_mandates.mandate)
     and (before is null or m.number < before)
     -- Use is computed only where it matters, because an agent can ask for any number of mandates and revoke
     -- them.
     and (list_mandates.status is null or private.mandate_status(m, case
       when m.state = 'active' and list_mandates.status in ('active', 'exhausted')
       then private.used_of(m) end) = list_mandates.status)
   order by m.number desc limit page;
end $$;

-- Releases what is reserved and not signed under mandates that stop, temporarily or for good.
create function private.release_under(stopped uuid[]) returns void language sql as $$
  select private.release_unsigned(array(select p.id from private.payments p
    where p.mandate = any (stopped) and p.state = 'authorized'),
    'its mandate was stopped before anything was signed')
$$;

-- Ends a mandate for good, under the lock that every payment of the account takes. Once this has answered,
-- nothing more is authorized or signed under it. What was signed before stays signed.
create function private.revoke_mandate(caller private.credentials, revoked uuid, by text)
  returns void language plpgsql as $$
declare
  m private.mandates;
begin
  perform private.hold_payer(caller, false);
  update private.mandates x set state = 'revoked', revoked_at = private.clock(), revoked_by = by
   where x.id = revoked and x.account = caller.account and x.state not in ('declined', 'revoked')
  returning * into m;
  if found then
    perform private.release_under(array[m.id]);
    perform private.record_mandate(m, 'revoked', 'revoked by the ' || by);
  end if;
end $$;

create function api.revoke_mandate(credential text, mandate uuid)
  returns table (mandate_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay');
begin
  perform private.revoke_mandate(caller, mandate, 'agent');
  return query select private.mandate_json(m) from private.mandates m
   where m.id = mandate and m.account = caller.account;
end $$;

-- Returns payments under one mandate, latest first, from before one of them, with what each uses of the
-- mandate and who paid. The bodies that merchants answered are left out, because they would make a page
-- large.
create function api.list_mandate_payments(
  credential text, mandate uuid, page integer, before uuid default null)
  returns table (payment_row jsonb, amount_usd_micros text, paid_by text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select private.payment_json(p) #- '{delivery,body_base64}',
    case when p.state = 'settled' or p.counts_until > private.clock()
      then p.amount_usd_micros else 0 end::text, private.plain_name(k)
    from private.payments p join private.credentials k on k.id = p.key
   where p.account = caller.account and p.mandate = list_mandate_payments.mandate
     and (before is null or (p.authorized_at, p.id) < (select b.authorized_at, b.id
       from private.payments b where b.id = before and b.account = caller.account))
   order by p.authorized_at desc, p.id desc limit page;
end $$;

-- Returns what the owner consented to, with the row that it is about, for a payment or for a mandate.
create function api.find_consent(
  credential text, payment uuid default null, mandate uuid default null)
  returns table (payment_row jsonb, mandate_row jsonb, consent jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select private.payment_json(p), null::jsonb, private.consent_json(o.consent)
    from private.payments p
    left join private.approvals o on o.payment = p.id and o.decision = 'approved'
   where p.account = caller.account and p.id = find_consent.payment
  union all
  select null::jsonb, private.mandate_json(m), private.consent_json(m.consent)
    from private.mandates m
   where m.account = caller.account and m.id = find_consent.mandate;
end $$;

-- Returns the owner's consent that a payment rests on; null if it rests on none.
create function private.consent_behind(p private.payments) returns jsonb
  language plpgsql stable as $$
begin
  return case
    when p.consent_level in ('user_session', 'user_passkey') then private.consent_json(
      (select o.consent from private.approvals o where o.payment = p.id))
    when p.consent_level = 'mandate' then private.consent_json(
      (select m.consent from private.mandates m where m.id = p.mandate))
  end;
end $$;

grant execute on function api.create_mandate, api.list_mandates, api.revoke_mandate, api.list_mandate_payments,
  api.find_consent to service_role;
