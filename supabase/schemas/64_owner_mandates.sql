-- The owner's functions for mandates: read, narrow, approve, decline, suspend, resume and revoke them.

-- Returns the payments of an account in the last 90 days, for a rehearsal: the newest 5,000, oldest first.
create function private.past_payments(payer uuid) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('at', n.at, 'kind', n.kind, 'state', n.reported,
      'amount_usd_micros', n.amount_usd_micros::text, 'origin', n.terms ->> 'origin',
      'resource', n.resource, 'chain', n.chain, 'token', n.token, 'payee', n.payee) order by n.at), '[]')
  from (select coalesce(p.authorized_at, p.created_at) as at, private.reported_state(p) as reported, p.* from private.payments p
     where p.account = payer and p.created_at > private.clock() - interval '90 days'
     order by p.created_at desc limit 5000) n
$$;

-- Returns one mandate with its requester and what the owner decides from. Returns no row if the account has
-- no such mandate.
create function api.owner_read_mandate(credential text, mandate uuid)
  returns table (mandate_row jsonb, digest text, asked jsonb, consent jsonb, past jsonb,
    daily_spending_cap_usd_micros text, passkeys jsonb, payees jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  select private.mandate_json(m), private.mandate_digest(m),
    jsonb_build_object('title', private.holder_title(k),
      'calls_itself', private.own_name(k), 'device', left(m.device, 8),
      'device_known', exists (select from private.known_devices d where d.account = m.account
        and d.key = m.key and d.fingerprint = m.device)),
    private.consent_json(m.consent),
    case m.state when 'pending_approval' then private.past_payments(m.account) else '[]' end,
    a.daily_spending_cap_usd_micros::text, private.passkeys_json(m.account),
    -- A payee that it names is paid by transfer too, even if it looks like another address, without asking
    -- again.
    (select coalesce(jsonb_agg(jsonb_build_object('address', t.address,
        'similar', private.similar_recipient(m.account, t.address)) order by t.n), '[]')
      from unnest(m.pay_to) with ordinality t (address, n))
  from private.mandates m
  join private.credentials k on k.id = m.key
  join private.accounts a on a.id = m.account
  where m.id = owner_read_mandate.mandate and m.account = caller.account;
end $$;

-- Locks and returns a mandate of the caller's account. The account is locked first, as for payments.
create function private.hold_mandate(caller private.credentials, held uuid, unfrozen boolean)
  returns private.mandates language plpgsql as $$
declare
  m private.mandates;
begin
  perform private.hold_payer(caller, unfrozen);
  select x.* into m from private.mandates x
   where x.id = held and x.account = caller.account for update;
  return m;
end $$;

-- Stores the owner's decision about a mandate, given by the digest of the terms that were shown. The mandate
-- is for the key or app that asked and the device it asked from or, if the owner ticked it, for any key; it
-- makes no device known. An approval needs proven consent, a decline does not.
create function api.owner_decide_mandate(
  credential text, mandate uuid, decision text, digest text, assertion jsonb default null,
  mail jsonb default null, any_key boolean default false)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  approves boolean := decision = 'approved';
  caller private.credentials;
  m private.mandates;
  given private.consents;
begin
  caller := case when approves then private.admit_consent(credential, assertion)
    else private.admit_owner(credential, 'tighten') end;
  m := private.hold_mandate(caller, mandate, approves);
  if approves and m.state = 'pending_approval' then
    m.for_any_key := any_key;
  end if;
  outcome := case
    when m.id is null then 'not_found'
    when approves and m.consent is not null and m.state = 'active' then 'approved'
    when m.state <> 'pending_approval' then 'closed'
    when m.expires_at <= private.clock() then 'expired'
    when not private.is_holder_live(m.key) then 'closed'
    when digest is distinct from private.mandate_digest(m) then 'terms_changed'
    else decision end;
  if outcome <> decision or m.state <> 'pending_approval' then
    return next;
    return;
  end if;
  if approves then
    given := private.keep_consent(caller, digest, null, assertion, m.created_at);
    if given.id is null then
      outcome := 'closed';
      return next;
      return;
    end if;
  end if;
  update private.mandates x set decided_at = private.clock(), consent = given.id,
    for_any_key = m.for_any_key,
    state = case when approves then 'active' else 'declined' end where x.id = m.id;
  perform private.record_mandate(m, decision, decision);
  if approves then
    perform private.enqueue_mail(m.account, mail);
  end if;
  return next;
end $$;

-- Narrows a mandate that waits for approval: each cap may only become smaller, and a missing one may be set.
create function api.owner_narrow_mandate(
  credential text, mandate uuid, max_payment_usd_micros text, include_subdomains boolean,
  expires_at timestamptz, max_day_usd_micros text default null,
  max_total_usd_micros text default null, max_payments integer default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  m private.mandates := private.hold_mandate(caller, mandate, false);
  n private.mandates := m;
begin
  n.max_payment_usd_micros := max_payment_usd_micros::bigint;
  n.max_day_usd_micros := max_day_usd_micros::bigint;
  n.max_total_usd_micros := max_total_usd_micros::bigint;
  n.max_payments := owner_narrow_mandate.max_payments;
  n.include_subdomains := owner_narrow_mandate.include_subdomains;
  n.expires_at := pg_catalog.date_trunc('milliseconds', owner_narrow_mandate.expires_at);
  outcome := case
    when m.id is null then 'not_found'
    when m.state <> 'pending_approval' or m.expires_at <= private.clock() then 'closed'
    when n = m then 'same'
    when n.max_payment_usd_micros > m.max_payment_usd_micros
      or m.max_day_usd_micros < coalesce(n.max_day_usd_micros, m.max_day_usd_micros + 1)
      or m.max_total_usd_micros < coalesce(n.max_total_usd_micros, m.max_total_usd_micros + 1)
      or m.max_payments < coalesce(n.max_payments, m.max_payments + 1)
      or n.include_subdomains and not m.include_subdomains
      or n.expires_at > m.expires_at then 'wider'
    when n.expires_at <= private.clock() or n.max_payment_usd_micros <= 0
      or n.max_day_usd_micros < n.max_payment_usd_micros
      or n.max_total_usd_micros < n.max_payment_usd_micros
      or n.max_payments <= 0 then 'out_of_bounds'
    else 'narrowed' end;
  if outcome = 'narrowed' then
    update private.mandates x set max_payment_usd_micros = n.max_payment_usd_micros,
      max_day_usd_micros = n.max_day_usd_micros, max_total_usd_micros = n.max_total_usd_micros,
      max_payments = n.max_payments, include_subdomains = n.include_subdomains,
      expires_at = n.expires_at,
      requested = coalesce(x.requested, jsonb_build_object(
        'max_payment_usd_micros', m.max_payment_usd_micros::text,
        'max_day_usd_micros', m.max_day_usd_micros::text,
        'max_total_usd_micros', m.max_total_usd_micros::text, 'max_payments', m.max_payments,
        'include_subdomains', m.include_subdomains, 'expires_at', m.expires_at))
     where x.id = m.id;
    perform private.record_mandate(m, 'narrowed', 'narrowed by the owner');
  end if;
  return next;
end $$;

-- Suspends a mandate or resumes it. Resuming needs a fresh proof.
create function api.owner_suspend_mandate(credential text, mandate uuid, suspended boolean)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(
    credential, case when suspended then 'tighten' else 'widen' end);
  m private.mandates := private.hold_mandate(caller, mandate, not suspended);
  wanted text := case when suspended then 'suspended' else 'active' end;
begin
  outcome := case when m.id is null then 'not_found' when m.state = wanted then wanted
    when m.state not in ('active', 'suspended') then 'closed' else wanted end;
  if outcome = wanted and m.state <> wanted then
    update private.mandates x set state = wanted where x.id = m.id;
    if suspended then
      perform private.release_under(array[m.id]);
    end if;
    perform private.record_mandate(m, case when suspended then 'suspended' else 'resumed' end,
      case when suspended then 'suspended' else 'resumed' end);
  end if;
  return next;
end $$;

create function api.owner_revoke_mandate(credential text, mandate uuid)
  returns table (mandate_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
begin
  perform private.revoke_mandate(caller, mandate, 'owner');
  return query select private.mandate_json(m) from private.mandates m
   where m.id = mandate and m.account = caller.account;
end $$;

-- Makes a mandate from a payment, which the owner then decides about like one that an agent asked for: for the
-- same key or app, its device, network, token, merchant and payee. The payee of a transfer stands where else the
-- merchant does. Each payment may be as much as this one, for 30 days. It needs a fresh proof.
create function api.owner_make_mandate(
  credential text, payment uuid, max_total_usd_micros text)
  returns table (mandate uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'approve');
  p private.payments;
  made private.mandates;
begin
  perform private.hold_payer(caller, true);
  perform private.limit_waiting_mandates(caller.account);
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account and private.is_holder_live(q.key)
     and not private.is_owner_payer(q.key);
  if not found then
    perform private.refuse('payment_not_found', '404');
  end if;
  insert into private.mandates (account, key, device, by_owner, merchant_domain, include_subdomains,
    max_payment_usd_micros, max_total_usd_micros, chains, tokens, pay_to, expires_at)
  values (p.account, p.key, p.device, true,
    lower(coalesce(private.host_of(p.terms ->> 'origin'), p.payee_alias, p.payee)), false,
    p.amount_usd_micros, greatest(owner_make_mandate.max_total_usd_micros::bigint, p.amount_usd_micros),
    array[p.chain], array[p.token], array[p.payee],
    pg_catalog.date_trunc('milliseconds', private.clock()) + interval '30 days')
  returning * into made;
  perform private.record_mandate(made, 'requested', 'made by the owner');
  return query select made.id;
end $$;

-- Enters a mandate that the owner writes for a key or app of theirs, and then decides about like one that an agent
-- asked for. It is for no device, so it pays from devices that the owner knows. The payee of transfers, an address or
-- alias, stands where else the merchant does, as in one made from a transfer. It needs a fresh proof. Enters nothing
-- and returns no row for the wallet that would pay.
create function api.owner_propose_mandate(
  credential text, agent uuid, days integer, max_payment_usd_micros text, max_day_usd_micros text default null,
  max_total_usd_micros text default null, merchant_domain text default null,
  payee text default null, payee_alias text default null)
  returns table (mandate uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'approve');
  payee_address text := case when merchant_domain is null then coalesce(payee, private.address_of(payee_alias)) end;
  made private.mandates;
begin
  perform private.hold_payer(caller, true);
  perform private.limit_waiting_mandates(caller.account);
  if not exists (select from private.credentials k where k.id = agent and k.account = caller.account
    and private.is_agent_live(k) and private.scope_covers(k.scopes, 'pay')) then
    perform private.refuse('not_found', '404');
  end if;
  if exists (select from private.wallets w where w.account = caller.account and w.address = payee_address) then
    return;
  end if;
  insert into private.mandates (account, key, device, by_owner, merchant_domain, include_subdomains,
    max_payment_usd_micros, max_day_usd_micros, max_total_usd_micros, pay_to, expires_at)
  values (caller.account, agent, '', true,
    coalesce(owner_propose_mandate.merchant_domain, lower(coalesce(payee_alias, payee))),
    false,
    owner_propose_mandate.max_payment_usd_micros::bigint, owner_propose_mandate.max_day_usd_micros::bigint,
    owner_propose_mandate.max_total_usd_micros::bigint, case when payee_address is not null then array[payee_address] end,
    pg_catalog.date_trunc('milliseconds', private.clock()) + pg_catalog.make_interval(days => days))
  returning * into made;
  perform private.record_mandate(made, 'requested', 'made by the owner');
  return query select made.id;
end $$;

grant execute on function api.owner_read_mandate, api.owner_decide_mandate, api.owner_narrow_mandate,
  api.owner_suspend_mandate, api.owner_revoke_mandate, api.owner_make_mandate, api.owner_propose_mandate
  to service_role;
