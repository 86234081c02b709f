-- Entering payments, and reading the facts that decisions about them are made from.

-- Returns the ways to pay for the same resource that its merchant refused in the last 15 minutes. A refusal
-- whose payment settled after all does not count.
create function private.refused_ways(payer uuid, of_resource text) returns jsonb
  language plpgsql stable as $$
begin
  return (select coalesce(jsonb_agg(distinct jsonb_build_object('protocol', r.terms ->> 'protocol',
    'scheme', r.terms ->> 'scheme', 'transfer_method', r.terms ->> 'transfer_method',
    'payment_flow', r.terms #>> '{requirement, extra, paymentFlow}',
    'chain', r.chain, 'token', r.token, 'payee', r.payee,
    'amount_atomic', r.amount_atomic::text)), '[]')
  from (select o.terms, o.chain, o.token, o.payee, o.amount_atomic from private.payments o
     where o.account = payer and o.resource = of_resource and o.state <> 'settled' and o.block_hash is null
       and private.is_refused(o.delivery)
       and o.authorized_at > private.clock() - interval '15 minutes'
     order by o.authorized_at desc limit 20) r);
end $$;

-- Admits who wants to buy, and returns what the choice between a merchant's offers is made from: the wallet, what
-- is reserved in it of each asset, and the ways to pay for the resource that were refused.
create function api.purchase_facts(credential text, resource text)
  returns table (wallet text, reserved jsonb, refused_ways jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
begin
  return query
  select w.address, (select coalesce(jsonb_agg(jsonb_build_object('chain', r.chain, 'token', r.token,
      'reserved_atomic', r.sum::text,
      'open_signatures', private.open_nonces(w.address, r.chain, r.token))), '[]')
    from (select p.chain, p.token, sum(p.amount_atomic) as sum from private.payments p
       where p.wallet = w.address and p.state in ('authorized', 'signed') and p.block_hash is null
         and p.counts_until > private.clock() group by 1, 2) r),
    private.refused_ways(caller.account, purchase_facts.resource)
  from private.wallets w where w.account = caller.account and w.chain_family = 'evm';
end $$;

-- Returns the parts of the terms that make two payments the same wish: of a purchase the request and the way to pay,
-- of a transfer what was asked for, without the call that was made from it for its payee.
create function private.wish_of(terms jsonb) returns jsonb language sql immutable as $$
  select case when terms ? 'protocol'
    then jsonb_build_array(terms -> 'request_digest', terms -> 'protocol', terms -> 'scheme',
      terms -> 'transfer_method')
    else terms - array['carrier', 'request_digest'] end
$$;

-- True if a payment is equal to another one of the same key or app, and neither has an idempotency key. Agents
-- buy the same resource again on purpose, so a purchase counts only if the owner had to approve it.
create function private.is_alike(p private.payments, q private.payments) returns boolean
  language sql stable as $$
  select q.id <> p.id and q.account = p.account and q.kind = p.kind and not q.keyed
    and coalesce(q.budget, q.key) = private.holder_of(p.key)
    and (q.chain, q.token, q.payee, q.amount_atomic) = (p.chain, p.token, p.payee, p.amount_atomic)
    and q.memo is not distinct from p.memo
    and private.wish_of(q.terms) = private.wish_of(p.terms)
    and (q.kind = 'transfer' or q.consent_level in ('user_session', 'user_passkey'))
$$;

-- True if the same key or app sent an equal payment within ten minutes, neither with an idempotency key: it may be
-- the same wish again.
create function private.is_paid_already(p private.payments) returns boolean
  language plpgsql stable as $$
begin
  return (select not p.keyed and (exists (
    select from private.payments q
      -- A payment authorized within ten minutes counts for nearly a day more.
     where q.counts_until > private.clock() + interval '23 hours 50 minutes'
      and q.authorized_at > private.clock() - interval '10 minutes' and private.is_alike(p, q))
    or exists (select from private.payments q
      where q.state = 'authorized' and q.counts_until > private.clock() and private.is_alike(p, q))));
end $$;

-- Returns the payment of the same key or app with these terms that nobody has sent yet, if there is one: the same
-- wish, told again, at once or later. A purchase is continued once it waits for a confirmation. The payment takes
-- the device that asks now and its offer, unless the owner has approved it. A challenge that fixes the nonce stays.
create function private.continue_waiting(
  caller private.credentials, kind text, device text, chain bigint, token text, payee text,
  payee_alias text, amount_atomic numeric, memo text, terms jsonb, verified_with_merchant boolean)
  returns private.payments language plpgsql as $$
declare
  waiting private.payments;
begin
  perform pg_catalog.pg_advisory_xact_lock(7322, pg_catalog.hashtext(caller.id::text));
  select p.* into waiting from private.payments p
   where p.account = caller.account and p.key = caller.id and p.kind = continue_waiting.kind
     and (p.state = 'awaiting_confirmation' or p.state = 'prepared' and p.kind = 'transfer')
     and p.expires_at > private.clock() and not p.keyed
     and (p.chain, p.token, p.payee, p.amount_atomic) = (continue_waiting.chain,
       continue_waiting.token, continue_waiting.payee, continue_waiting.amount_atomic)
     and (p.payee_alias, p.memo) is not distinct from (continue_waiting.payee_alias,
       continue_waiting.memo)
     and private.wish_of(p.terms) = private.wish_of(continue_waiting.terms)
   order by p.created_at desc, p.id desc limit 1 for no key update;
  if not found then
    return null;
  end if;
  update private.payments p set device = continue_waiting.device,
      terms = case when p.fixed_nonce is null then continue_waiting.terms else p.terms end,
      verified_with_merchant = case when p.fixed_nonce is null
        then continue_waiting.verified_with_merchant else p.verified_with_merchant end
   where p.id = waiting.id
     and (p.device, p.terms, p.verified_with_merchant) is distinct from (continue_waiting.device,
       continue_waiting.terms, continue_waiting.verified_with_merchant)
     and not exists (select from private.approvals o where o.payment = p.id);
  select p.* into waiting from private.payments p where p.id = waiting.id;
  return waiting;
end $$;

-- Returns everything that a decision about this payment is made from. The caps are those of `payer`, who is
-- about to pay it.
create function private.payment_facts(p private.payments, payer uuid) returns jsonb
  language plpgsql stable as $$
declare
  a private.accounts;
  s private.spending := private.spent(p.account);
begin
  select * into a from private.accounts where id = p.account;
  return jsonb_build_object(
    'version', a.facts_version,
    'limits', private.limits_json(a, s),
    'caps', private.caps_json(payer),
    'may_pay', private.may_pay(p, payer),
    'asserted_new_recipient', (select jsonb_build_object(
        'limit', a.asserted_new_recipient_limit_usd_micros::text,
        'spent', t.usd_micros::text, 'resets_at', t.resets_at)
      from private.asserted_to(p.account, p.payee) t),
    'recipient_known', private.recipient_known(p.account, p.payee),
    'similar_recipient', private.similar_recipient(p.account, p.payee),
    'is_paid_already', private.is_paid_already(p),
    'device_known', private.device_known(p) and private.holder_of(payer) = private.holder_of(p.key),
    'approval', (select jsonb_build_object('decision', o.decision, 'digest', o.digest,
      'level', o.level) from private.approvals o where o.payment = p.id),
    'has_passkey', private.has_passkey(p.account),
    'mandates', (select coalesce(jsonb_agg(private.mandate_json(m)
        || jsonb_build_object('payer', private.payer_under(m, p, payer))), '[]')
      from private.mandates_concerning(p) m),
    'history', private.resource_history(p),
    'reserved_atomic', private.reserved_atomic(p)::text,
    'open_signatures', private.open_nonces(p.wallet, p.chain, p.token),
    'funds_atomic', private.funds_seen(p)::text,
    'is_refilled', private.is_refilled(p),
    'gas', private.gas_json(p),
    'now', floor(extract(epoch from private.clock()))::bigint,
    'gas_payers', case when p.kind = 'transfer' then (
      select coalesce(jsonb_agg(jsonb_build_object('address', g.address,
        'next_nonce', g.next_nonce)), '[]')
      from private.gas_payers g
       where g.chain = p.chain and g.kind = 'relayer' and g.paused_for is null) else '[]' end);
end $$;

-- Refuses a key or app with 200 payments that it entered and nobody decided, and any of an account with 1,000.
-- The end of a key, and "It was not me", close them in one statement, which has to end in time.
create function private.limit_undecided(caller private.credentials) returns void
  language plpgsql as $$
declare
  of_key_max constant integer := 200;
  of_account_max constant integer := 1000;
begin
  if exists (select from private.payments p
     where p.account = caller.account and p.key = caller.id
       and p.state in ('prepared', 'awaiting_confirmation') offset of_key_max - 1)
    or exists (select from private.payments p where p.account = caller.account
       and p.state in ('prepared', 'awaiting_confirmation') offset of_account_max - 1) then
    perform private.refuse('too_many_payments', '429');
  end if;
end $$;

-- True if the facts of a purchase leave no way without a confirmation, and no cap against it. Then it waits for that
-- of its agent from the start; the decision asks for another one where it needs more.
create function private.is_asked_about(p private.payments, facts jsonb) returns boolean
  language sql immutable as $$
  select not ((facts ->> 'recipient_known')::boolean and (facts ->> 'device_known')::boolean)
    and facts -> 'mandates' = '[]'
    and p.amount_usd_micros <= least((facts #>> '{caps, payment}')::bigint,
      (facts #>> '{caps, daily, limit}')::bigint - (facts #>> '{caps, daily, spent}')::bigint,
      (facts #>> '{limits, daily_spending_cap, limit}')::bigint
        - (facts #>> '{limits, daily_spending_cap, spent}')::bigint,
      (facts #>> '{limits, monthly_spending_cap, limit}')::bigint
        - (facts #>> '{limits, monthly_spending_cap, spent}')::bigint)
$$;

-- Records why a payment was refused, for its owner.
create function api.note_refusal(credential text, payment uuid, reasons text[]) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay');
begin
  update private.payments p set refused_for = reasons, latest_step_at = private.clock()
   where p.id = payment and p.account = caller.account and p.state = 'prepared'
     and p.refused_for is distinct from reasons;
end $$;
grant execute on function api.note_refusal to service_role;

-- Makes a prepared payment wait for a confirmation of this level.
create function private.wait_for(p private.payments, level text) returns private.payments
  language plpgsql as $$
begin
  update private.payments q set state = 'awaiting_confirmation', asked_level = level, refused_for = null
   where q.id = p.id and q.state = 'prepared' returning * into p;
  if found then
    perform private.record_payment(p, 'confirmation_requested');
  end if;
  return p;
end $$;

-- Returns the wallet of the open account with this alias, or refuses.
create function private.address_of(payee_alias text) returns text language plpgsql as $$
declare
  found_address text;
begin
  select w.address into found_address from private.accounts a
    join private.wallets w on w.account = a.id and w.chain_family = 'evm'
   where a.alias = payee_alias and a.closed_at is null;
  if not found then
    perform private.refuse('recipient_not_found', '404');
  end if;
  return found_address;
end $$;

-- Enters a payment and returns it with the facts to decide from. No money is reserved yet. An alias is resolved
-- to its payee. The same claim finds the payment that it entered before, unless the terms fix the nonce and
-- that payment ended unsigned. Without an idempotency key (`keyed`), equal terms find the payment that waits. A
-- nonce fixed by the terms finds the payment that was signed with it, on any chain. Enters nothing and returns no
-- row for a payment to the wallet that would pay it.
create function api.begin_payment(
  credential text, kind text, device text, chain bigint, token text, amount_atomic text,
  amount_usd_micros text, terms jsonb, expires_in_seconds integer, payee text default null,
  payee_alias text default null, memo text default null, claim uuid default null,
  resource text default null, verified_with_merchant boolean default false, nonce text default null,
  keyed boolean default false, funds_atomic text default null)
  returns table (payment_row jsonb, facts jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
  entered private.payments;
  known jsonb;
  payee_address text := payee;
begin
  perform private.hold_credential(caller);
  if payee_alias is not null then
    payee_address := private.address_of(payee_alias);
  end if;
  if nonce is not null then
    update private.payments p set claim = null
     where p.account = caller.account and p.kind = begin_payment.kind
       and p.claim = begin_payment.claim and p.signature is null
       and (p.state in ('expired', 'declined', 'released')
         or p.state in ('prepared', 'awaiting_confirmation') and p.expires_at <= private.clock());
    select p.* into entered from private.payments p
      join private.wallets w on w.account = caller.account and w.address = p.wallet
     where p.fixed_nonce = nonce and p.authorization_nonce is not null;
    if found then
      return query select private.payment_json(entered), private.payment_facts(entered, caller.id);
      return;
    end if;
  end if;
  if not keyed then
    entered := private.continue_waiting(caller, begin_payment.kind, begin_payment.device, chain,
      token, payee_address, payee_alias, amount_atomic::numeric, memo, terms, verified_with_merchant);
    if entered.id is not null then
      return query select private.payment_json(entered), private.payment_facts(entered, caller.id);
      return;
    end if;
  end if;
  if not exists (select from private.payments p where p.account = caller.account
      and p.kind = begin_payment.kind and p.claim = begin_payment.claim) then
    perform private.limit_undecided(caller);
    perform private.ask_for_room(private.budget_of(caller));
  end if;
  insert into private.payments (account, key, device, kind, claim, chain, token, wallet,
    payee, payee_alias, amount_atomic, amount_usd_micros, terms, memo, resource, verified_with_merchant, fixed_nonce,
    keyed, expires_at, funds_atomic, funds_seen_at)
  select caller.account, caller.id, begin_payment.device, begin_payment.kind,
    begin_payment.claim, begin_payment.chain, begin_payment.token, w.address,
    payee_address, begin_payment.payee_alias, begin_payment.amount_atomic::numeric,
    begin_payment.amount_usd_micros::bigint, begin_payment.terms, begin_payment.memo,
    begin_payment.resource, begin_payment.verified_with_merchant, begin_payment.nonce,
    begin_payment.keyed, private.clock() + pg_catalog.make_interval(secs => expires_in_seconds),
    begin_payment.funds_atomic::numeric,
    case when begin_payment.funds_atomic is not null then private.clock() end
  from private.wallets w where w.account = caller.account and w.chain_family = 'evm'
    and w.address <> payee_address
  on conflict on constraint payments_account_kind_claim_key do nothing
  returning * into entered;
  if entered.id is null then
    select p.* into entered from private.payments p where p.account = caller.account
       and p.kind = begin_payment.kind and p.claim = begin_payment.claim;
  end if;
  if entered.id is null then
    return;
  end if;
  known := private.payment_facts(entered, caller.id);
  if entered.state = 'prepared' and entered.kind = 'x402' and private.is_asked_about(entered, known) then
    entered := private.wait_for(entered, 'agent_asserted');
  end if;
  return query select private.payment_json(entered), known;
end $$;

-- Returns a payment of the caller's account with fresh facts; no row if the account has no such payment. The
-- last caller to ask becomes the payer, but what the owner approved stays as it was shown, and a call that
-- expects other terms than the payment's changes nothing. The owner reads a transfer that they approved with the
-- facts of the key or app that asked for it. For keys and apps there are no payments of the owner.
create function api.payment_facts(
  credential text, payment uuid, kind text, device text, expected jsonb default '{}')
  returns table (payment_row jsonb, facts jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := case when private.is_session(credential)
    then private.asker_approved(private.admit(credential, 'owner', true), payment)
    else private.admit(credential, 'pay', true) end;
  entered private.payments;
begin
  if caller.kind <> 'owner' and exists (select from private.payments p
    where p.id = payment_facts.payment and private.is_owner_payer(p.key)) then
    return;
  end if;
  -- Locked before the check for an approval, so that an approval in progress is seen.
  perform from private.payments p
   where p.id = payment_facts.payment and p.account = caller.account for no key update;
  perform private.reconsider(payment, caller.account);
  update private.payments p set device = payment_facts.device, key = caller.id
   where p.id = payment_facts.payment and p.account = caller.account
     and p.kind = payment_facts.kind and p.state in ('prepared', 'awaiting_confirmation')
     and (p.device, p.key) is distinct from (payment_facts.device, caller.id)
     and private.payment_json(p) @> expected
     and not exists (select from private.approvals o where o.payment = p.id);
  select p.* into entered from private.payments p
   where p.id = payment_facts.payment and p.account = caller.account
     and p.kind = payment_facts.kind;
  if entered.id is not null then
    return query select private.payment_json(entered), private.payment_facts(entered, caller.id);
  end if;
end $$;

-- Records that the service itself requested the paid origin and received the challenge from it.
create function api.note_verified_with_merchant(credential text, payment uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay', true);
begin
  update private.payments p set verified_with_merchant = true
   where p.id = payment and p.account = caller.account
     and p.state in ('prepared', 'awaiting_confirmation');
  return found;
end $$;

-- Marks a payment as waiting for a confirmation of this level and enters that in the feed, once. `mail` notifies
-- the owner too, for when only the owner can confirm.
create function api.await_confirmation(
  credential text, payment uuid, asked_level text, mail jsonb default null)
  returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay', true);
begin
  perform private.wait_for(p, await_confirmation.asked_level) from private.payments p
   where p.id = payment and p.account = caller.account;
  update private.payments p set asked_level = await_confirmation.asked_level
   where p.id = payment and p.account = caller.account and p.state = 'awaiting_confirmation'
     and p.asked_level is distinct from await_confirmation.asked_level;
  if exists (select from private.payments p where p.id = payment
    and p.account = caller.account and p.state = 'awaiting_confirmation') then
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return true;
end $$;

-- Returns the payment of an account that a transaction carries, the first if a batch carries several. A
-- transaction that was replaced at higher fees is found too.
create function private.payment_in(hash text, payer uuid) returns uuid
  language plpgsql stable as $$
declare
  found_id uuid;
begin
  select p.id into found_id from private.payments p
   where p.account = payer and p.tx_hash = hash order by p.created_at, p.id limit 1;
  if found_id is null then
    select p.id into found_id from private.relay_transactions t
      join private.relay_calls c on c.slot = t.slot
      join private.payments p on p.id = c.payment and p.account = payer
     where t.tx_hash = hash order by c.id limit 1;
  end if;
  return found_id;
end $$;

-- Returns one payment of the caller's account, by its id or by the hash of a transaction that carried it,
-- whether the caller may see what the merchant answered, and the owner's decision.
create function api.find_payment(
  credential text, payment uuid default null, tx_hash text default null, chain bigint default null)
  returns table (payment_row jsonb, is_own boolean, decision text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query select private.payment_json(p), private.may_pay(p, caller.id),
    (select o.decision from private.approvals o where o.payment = p.id)
   from private.payments p
   where p.account = caller.account
     and (find_payment.chain is null or p.chain = find_payment.chain)
     and case when find_payment.payment is not null then p.id = find_payment.payment
       else p.id = private.payment_in(find_payment.tx_hash, caller.account) end;
end $$;

grant execute on function api.purchase_facts, api.begin_payment, api.payment_facts, api.note_verified_with_merchant,
  api.await_confirmation, api.find_payment to service_role;
