-- Requests to the owner, apart from the decision: how many wait, beside every page, and what follows from one.

-- Returns the account of a session, with what only its owner can decide and has not.
create function api.owner_read_session(credential text)
  returns table (account_id uuid, alias text, frozen boolean, payments_waiting integer,
    mandates_waiting integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  return query
  select a.id, a.alias, a.frozen_at is not null,
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
  caller private.credentials := private.admit_owner(credential, true);
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

-- Asks anew for what waits and no passkey of the account can approve, because all were added later. The request
-- is from now on one of this moment, with the same terms; a payment waits as long again, so that its digest is
-- another one.
create function api.owner_ask_again(
  credential text, payment uuid default null, mandate uuid default null)
  returns void
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
  asked private.payments;
begin
  perform private.hold_payer(caller, false);
  update private.payments p set asked_again = true, created_at = private.clock(),
    expires_at = pg_catalog.date_trunc('milliseconds', p.expires_at + (private.clock() - p.created_at))
   where p.id = payment and p.account = caller.account and p.state = 'awaiting_confirmation'
     and p.expires_at > private.clock() and private.is_before_passkeys(p.account, p.created_at)
  returning * into asked;
  if found then
    perform private.record_payment(asked, 'confirmation_asked_again');
  end if;
  update private.mandates m set created_at = private.clock()
   where m.id = mandate and m.account = caller.account and m.state = 'pending_approval'
     and private.is_before_passkeys(m.account, m.created_at);
end $$;
grant execute on function api.owner_read_session, api.owner_make_mandate, api.owner_ask_again to service_role;
