-- Requests to the owner, apart from the decision: how many wait, beside every page, and what follows from one.

-- Returns the account of a session, with what only its owner can decide and has not.
create function api.owner_read_session(credential text)
  returns table (account_id uuid, alias text, frozen boolean, hold_until timestamptz,
    payments_waiting integer, mandates_waiting integer)
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
      and m.state = 'pending_approval' and m.expires_at > private.clock())
  from private.accounts a where a.id = caller.account;
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
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account and private.is_holder_live(q.key);
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

grant execute on function api.owner_read_session, api.owner_make_mandate to service_role;
