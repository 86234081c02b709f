-- The functions that only custody may call: commit a decision and load what is to be signed in one step,
-- store what was signed before anything leaves, and sign what is already queued.

-- Decides whether a payment fits the limits at this consent level. The decision was made elsewhere from
-- facts; this second check is the one that holds when requests race.
create function private.within_limits(
  a private.accounts, s private.spending, p private.payments, payer uuid, consent text, mandate uuid)
  returns boolean language plpgsql stable as $$
begin
  if s.month + p.amount_usd_micros > a.monthly_spending_cap_usd_micros then
    return false;
  end if;
  -- The owner saw the address and which known address it resembles; the approved terms say whether it may pass the
  -- daily cap.
  if consent in ('user_session', 'user_passkey') and (p.passes_daily_cap
    or s.total + p.amount_usd_micros <= a.daily_spending_cap_usd_micros) then
    return private.owner_approved(p, consent);
  end if;
  if s.total + p.amount_usd_micros > a.daily_spending_cap_usd_micros then
    return false;
  end if;
  if consent = 'mandate' then
    return exists (select from private.mandates m
      where m.id = mandate and m.account = p.account and private.mandate_carries(m, p, payer));
  end if;
  if private.similar_recipient(p.account, p.payee) is not null then
    return false;
  end if;
  return case consent
    when 'none' then s.automatic + p.amount_usd_micros <= a.automatic_daily_limit_usd_micros
      and private.recipient_known(p.account, p.payee) and private.device_known(p)
      and private.holder_of(payer) = private.holder_of(p.key)
    when 'agent_asserted' then
      s.asserted + p.amount_usd_micros <= a.asserted_daily_limit_usd_micros
      and (private.recipient_known(p.account, p.payee)
        or (private.asserted_to(p.account, p.payee)).usd_micros + p.amount_usd_micros
          <= a.asserted_new_recipient_limit_usd_micros)
    else false
  end;
end $$;

-- Returns the transaction that was signed last for a slot; null if it must not be sent.
create function private.latest_transaction(of_slot bigint) returns jsonb
  language plpgsql stable as $$
begin
  return (select case when not private.has_stopped(t.carries) then
      jsonb_build_object('tx_hash', t.tx_hash, 'raw', t.raw) end
    from private.relay_transactions t where t.slot = of_slot order by t.attempt desc limit 1);
end $$;

-- Returns the answer for an authorized payment: what to sign, with which sealed keys and at which nonce of
-- which address; or, once it was signed, the transaction that carries it. Custody verifies the owner's word
-- itself: `consent` is what the owner signed, `mandate` is the mandate that it stands for.
create function private.custody_answer(
  p private.payments, claimed private.relay_claim, first boolean)
  returns table (outcome text, first_caller boolean, payment_row jsonb, wallet_envelope jsonb,
    claim jsonb, transaction jsonb, consent jsonb, mandate jsonb)
  language plpgsql stable as $$
begin
  return query select 'authorized', first, private.payment_json(p),
    (select k.envelope from private.custody_keys k
      where k.address = p.wallet and k.owner = p.account::text),
    case when claimed.lease is not null then to_jsonb(claimed) end,
    (select private.latest_transaction(c.slot) from private.relay_calls c
      where c.payment = p.id),
    private.consent_behind(p),
    (select private.mandate_json(m) from private.mandates m where m.id = p.mandate);
end $$;

-- True if the nonce that its terms fix is signed, or about to be, for another payment of any token and chain.
create function private.is_nonce_taken(p private.payments) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.payments o where o.wallet = p.wallet
      and o.fixed_nonce = p.fixed_nonce and o.authorization_nonce is not null)
    or exists (select from private.payments o where o.wallet = p.wallet
      and o.fixed_nonce = p.fixed_nonce and o.state = 'authorized');
end $$;

-- Returns from when until when, in Unix seconds, both exclusive (EIP-3009), the signature of a purchase is valid: as
-- its terms say, never longer than the end of an MPP challenge. Servers of version 1 check the beginning against
-- their own clock; clients allow them ten minutes.
create function private.validity_of(terms jsonb, at bigint, out good_from bigint, out good_until bigint)
  language sql immutable as $$
  select case when terms ->> 'protocol' = 'x402' and terms ->> 'version' = '1' then at - 600 else 0 end,
    least(at + (terms ->> 'valid_seconds')::integer, (terms ->> 'valid_until')::bigint)
$$;

-- Reserves a payment and returns it to custody with the sealed keys that sign it. Otherwise `outcome` says
-- why not. `first` is true for the one caller that drives the sending until its lease ends.
create function api.custody_authorize(
  credential text, payment uuid, consent_level text, facts_version integer, funds_atomic text,
  valid_after bigint default null, valid_before bigint default null, lease_seconds integer default 45,
  seen_block bigint default null, gas_from text default null, wallet_nonce bigint default null,
  wallet_wei text default null, cost_wei text default null, gas_payers jsonb default '[]',
  allowance_nonce text default null, mandate uuid default null, is_repeat boolean default false)
  returns table (outcome text, first boolean, payment_row jsonb, wallet_envelope jsonb,
    claim jsonb, transaction jsonb, consent jsonb, mandate_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize_payer(credential, payment);
  payer private.accounts;
  p private.payments;
  at timestamptz := private.clock();
  free boolean := true;
  fresh boolean := false;
  claimed private.relay_claim;
  shared_network text;
  good_from bigint := valid_after;
  good_until bigint := valid_before;
begin
  -- Payers queue for a lock of their own, and only the first of them waits for the account. However many
  -- there are, a freeze, or an act that ends the right to decide, waits for at most two of them.
  perform pg_catalog.pg_advisory_xact_lock(7321, pg_catalog.hashtext(caller.account::text));
  payer := private.hold_account(caller.account);
  -- Checked again under the lock: no signature follows an answered freeze or an answered end of the caller's
  -- key or app.
  caller := private.recognize_payer(credential, payment);
  perform private.reconsider(payment, caller.account);
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account for update;
  if not found then
    outcome := 'not_found';
  elsif not private.may_pay(p, caller.id)
    or p.state in ('authorized', 'signed') and private.is_stopped(p) then
    outcome := 'closed';
  elsif p.state in ('authorized', 'signed') or private.is_owed(p) then
    outcome := 'authorized';
    -- A delivered purchase is not requested again.
    free := p.leased_until <= at and not (private.delivered_part(p.delivery) = 2
      and not private.is_postponed(p.delivery));
    update private.payments q set leased_until = at + pg_catalog.make_interval(secs => lease_seconds)
     where q.id = p.id and free;
  elsif p.state not in ('prepared', 'awaiting_confirmation') or private.is_nonce_taken(p) then
    outcome := 'closed';
  elsif p.expires_at <= at then
    outcome := 'expired';
  elsif consent_level in ('none', 'agent_asserted') and not is_repeat and private.is_paid_already(p) then
    -- An equal one was sent since the decision, which asks about it.
    outcome := 'stale';
  elsif payer.facts_version <> facts_version or not private.within_caps(caller.id, p)
    or not private.within_limits(
      payer, private.spent(payer.id), p, caller.id, consent_level, custody_authorize.mandate) then
    outcome := 'stale';
  elsif private.reserved_atomic(p) + p.amount_atomic > funds_atomic::numeric then
    outcome := 'insufficient_funds';
  else
    outcome := 'authorized';
    fresh := true;
  end if;
  if outcome = 'authorized' and p.signature is null and not private.has_caught_up(p.chain) then
    perform private.refuse('unavailable', '503');
  end if;
  if good_until is null then
    select v.good_from, v.good_until into good_from, good_until
      from private.validity_of(p.terms, floor(extract(epoch from at))::bigint) v;
  end if;
  -- Until it ends, a signature counts and cannot be called back.
  if good_until > extract(epoch from at) + 900 then
    raise exception 'a signature that is good for more than 15 minutes';
  end if;
  -- Finds a gas payer: the wallet itself or a relayer. If every relayer is busy, the authorization is signed now
  -- and queued. A busy wallet signs nothing.
  if outcome = 'authorized' and free and p.kind = 'transfer' and p.signature is null then
    if gas_from is distinct from 'wallet' then
      shared_network := private.hold_sign_up_network(payer.id);
    end if;
    if gas_from is distinct from 'wallet' and not private.is_relayed(p) then
      outcome := 'gas_budget';
    elsif gas_from is distinct from 'wallet' then
      claimed := private.claim_gas_payer(p.chain, gas_payers, true, private.call_units(p));
      if not fresh then
        update private.payments q set relayed_calls = private.call_units(p), sign_up_network = shared_network
         where q.id = p.id;
      end if;
    elsif private.is_full(p.chain, p.wallet) then
      outcome := 'gas_payer_full';
    elsif coalesce(wallet_wei::numeric
      < private.own_gas_needed(p.chain, p.wallet, cost_wei::numeric * private.call_units(p)), true)
    then
      outcome := 'insufficient_gas';
    else
      claimed := private.claim_wallet(p, wallet_nonce);
      outcome := case when claimed.lease is null then 'stale' else outcome end;
    end if;
    fresh := fresh and outcome = 'authorized';
  end if;
  if fresh then
    update private.payments q set state = 'authorized', finality = 'submitted', authorized_at = at,
      freezes = payer.freezes,
      budget = nullif(private.budget_of(caller), q.key),
      consent_level = custody_authorize.consent_level, mandate = case
        when custody_authorize.consent_level = 'mandate' then custody_authorize.mandate end,
      -- One of two endpoints may have reported a block that is too low, but no final block read so far is
      -- later than the payment.
      authorized_block = greatest(seen_block, (select c.finalized_through
        from private.transfer_cursors c where c.chain = p.chain)),
      valid_after = good_from, valid_before = good_until,
      allowance_nonce = custody_authorize.allowance_nonce,
      relayed_calls = case when p.kind = 'transfer' and gas_from is distinct from 'wallet'
        then private.call_units(p) else 0 end,
      sign_up_network = shared_network,
      leased_until = at + pg_catalog.make_interval(secs => lease_seconds)
     where q.id = p.id returning * into p;
    perform private.record_payment(p, p.kind || '_authorized');
  end if;
  if outcome = 'authorized' then
    return query select * from private.custody_answer(p, claimed, free);
    return;
  end if;
  first := false;
  return next;
end $$;

-- Does the same for a purchase that waits for its agent's confirmation alone, as the key or app and the device that
-- were asked give it: by the balance that was seen when it was entered. `stale` if any of that is not so.
create function api.custody_confirm(credential text, payment uuid, device text, lease_seconds integer)
  returns table (outcome text, first boolean, payment_row jsonb, wallet_envelope jsonb,
    claim jsonb, transaction jsonb, consent jsonb, mandate_row jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
  p private.payments;
  version integer;
  seen numeric;
begin
  -- The lock of payers, so that what is reserved and what has left are of one moment.
  perform pg_catalog.pg_advisory_xact_lock(7321, pg_catalog.hashtext(caller.account::text));
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account and q.kind = 'x402' and q.key = caller.id
     and q.device = custody_confirm.device and q.state = 'awaiting_confirmation'
     and q.asked_level = 'agent_asserted' and q.expires_at > private.clock()
     and q.terms ->> 'transfer_method' = 'eip3009'
     and not exists (select from private.approvals o where o.payment = q.id);
  seen := private.funds_seen(p);
  if seen is null or exists (select from private.mandates_concerning(p)) then
    outcome := 'stale';
    first := false;
    return next;
    return;
  end if;
  select a.facts_version into version from private.accounts a where a.id = caller.account;
  return query select * from api.custody_authorize(credential, payment, 'agent_asserted', version,
    seen::text, lease_seconds => custody_confirm.lease_seconds, is_repeat => true);
end $$;

-- Releases a payment that custody refuses to sign because what the owner signed does not match it. It can
-- never settle, so nothing stays reserved.
create function api.custody_withdraw(payment uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  withdrawn private.payments;
begin
  update private.payments p set state = 'released', failure = 'its approval did not hold',
    finality = null, relayed_calls = 0
   where p.id = payment and p.state = 'authorized' and p.signature is null
  returning * into withdrawn;
  if not found then
    return false;
  end if;
  perform private.leave_queue(withdrawn.id);
  perform private.record_payment(withdrawn, withdrawn.kind || '_consent_invalid');
  return true;
end $$;

-- Stores what custody signed for a payment and lets it out: its authorization, and with a claim the transaction
-- that carries it together with the waiting calls. Refuses a caller that may no longer pay. `kept` is false if
-- the payment moved on without this signature, a freeze stopped it, it was authorized too long ago to count, or
-- it lost the lease of the paying wallet (`own`). `sent` is false if the transaction must not leave. `queued`
-- is true if more has to be relayed.
create function api.custody_record(
  credential text, payment uuid, authorized_at timestamptz, authorization_nonce text, signature text,
  lease uuid default null, own boolean default false, calls integer default null,
  tx_hash text default null, raw text default null, max_fee_per_gas text default null,
  max_priority_fee_per_gas text default null, cost_wei text default null,
  allowance_signature text default null, gas_payers jsonb default '[]')
  returns table (kept boolean, sent boolean, queued boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  p private.payments;
  relayed boolean;
begin
  select q.* into p from private.payments q where q.id = payment;
  relayed := p.kind = 'transfer';
  sent := false;
  queued := false;
  -- Held until this transaction ends, so that nobody decides about another payment of the account, or freezes
  -- it, while it is undecided whether this one still counts. A freeze names what was let out before it, and
  -- nothing is let out after it.
  perform private.hold_claimed(lease, payment);
  perform private.recognize_payer(credential, payment);
  if relayed then
    perform private.lock_queue(p.chain, lease is not null);
  end if;
  -- Locked before the payment, so that nobody takes the gas payer in between.
  perform from private.gas_payers g where g.lease = custody_record.lease for update;
  kept := found or not own;
  update private.payments q set state = 'signed',
    authorization_nonce = custody_record.authorization_nonce,
    signature = custody_record.signature,
    allowance_signature = custody_record.allowance_signature
   where q.id = payment and q.state = 'authorized' and kept and not private.is_stopped(q)
     and q.authorized_at = custody_record.authorized_at and q.counts_until > private.clock();
  kept := found;
  if kept and relayed then
    perform private.queue_call(p, signature, lease);
  end if;
  if lease is not null then
    sent := private.fill_slot(lease, calls, tx_hash, raw, max_fee_per_gas::numeric,
      max_priority_fee_per_gas::numeric, cost_wei::numeric);
  end if;
  if relayed then
    queued := private.is_relay_needed(p.chain, gas_payers);
  end if;
  return next;
end $$;

-- Claims what is queued on a chain for custody to sign; returns no row if nothing waits or no relayer is free.
create function api.custody_claim(chain bigint, gas_payers jsonb) returns table (claim jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  claimed private.relay_claim := private.claim_gas_payer(chain, gas_payers, false);
begin
  if claimed.lease is not null then
    return query select to_jsonb(claimed);
  end if;
end $$;

-- Sets claimed calls of these payments aside for good, because they cannot be put into a transaction and must hold
-- up no others. Ends the lease with the last of them, unless the caller has a call of its own for it.
create function api.custody_set_aside(lease uuid, payments uuid[], own boolean)
  returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  update private.relay_calls c set refused = true, claim = null, claimed_until = null
   where c.claim = custody_set_aside.lease and c.slot is null and c.payment = any (payments);
  if not own and not exists (select from private.relay_calls c
    where c.claim = custody_set_aside.lease and c.slot is null)
  then
    update private.gas_payers g set lease = null, leased_until = null
     where g.lease = custody_set_aside.lease;
  end if;
  return true;
end $$;

-- Stores the transaction that was signed for a claim and lets it out. `sent` is false if it must not leave; `queued` is true
-- if more has to be relayed.
create function api.custody_record_claim(
  chain bigint, lease uuid, calls integer, tx_hash text, raw text, max_fee_per_gas text,
  max_priority_fee_per_gas text, cost_wei text, gas_payers jsonb)
  returns table (sent boolean, queued boolean)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.hold_claimed(lease);
  perform private.lock_queue(chain, true);
  sent := private.fill_slot(lease, calls, tx_hash, raw, max_fee_per_gas::numeric,
    max_priority_fee_per_gas::numeric, cost_wei::numeric);
  queued := private.is_relay_needed(chain, gas_payers);
  return next;
end $$;

-- Returns an open slot to be signed again at higher fees. It keeps its nonce, so at most one of its
-- transactions is ever mined, and it carries only those of its calls that may still leave. A slot without
-- calls does nothing but use its nonce.
create function api.custody_load_slot(slot bigint) returns table (
  chain bigint, gas_payer text, nonce bigint, attempts integer, held boolean, max_fee_per_gas text,
  max_priority_fee_per_gas text, calls jsonb, envelope jsonb, owner text)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  select s.chain, s.gas_payer, s.nonce, coalesce(t.attempt, 0), private.has_stopped(t.carries),
    t.max_fee_per_gas::text, t.max_priority_fee_per_gas::text,
    (select coalesce(pg_catalog.jsonb_agg(private.call_json(c, p) order by c.id), '[]')
       from private.relay_calls c join private.payments p on p.id = c.payment
       where c.slot = s.id and private.is_live(p)),
    k.envelope, k.owner
  from private.relay_slots s
    join private.custody_keys k on k.address = s.gas_payer
    left join lateral (select * from private.relay_transactions r where r.slot = s.id
      order by r.attempt desc limit 1) t on true
  where s.id = custody_load_slot.slot and s.state = 'open' and private.has_caught_up(s.chain);
end $$;

-- Stores a replacement and lets it out. Answers false if another one was stored first, the slot is over, or a transfer that it
-- carries was stopped by a freeze meanwhile.
create function api.custody_record_replacement(
  slot bigint, attempt integer, tx_hash text, raw text, max_fee_per_gas text,
  max_priority_fee_per_gas text, cost_wei text, carries uuid[])
  returns boolean language plpgsql security definer set search_path = '' as $$
begin
  -- Locked against a freeze that runs at the same time: either it sees this transaction, or this sees the
  -- freeze.
  perform private.lock_accounts_in(slot);
  perform from private.relay_slots s where s.id = slot and s.state = 'open' for update;
  if not found or private.has_stopped(carries) then
    return false;
  end if;
  insert into private.relay_transactions values (slot, attempt, tx_hash, raw,
    max_fee_per_gas::numeric, max_priority_fee_per_gas::numeric, cost_wei::numeric, carries)
    on conflict do nothing;
  if not found then
    return false;
  end if;
  update private.payments p set tx_hash = custody_record_replacement.tx_hash
   where p.id = any (carries) and p.state = 'signed' and p.block_hash is null;
  return true;
end $$;

grant execute on function api.custody_authorize, api.custody_confirm, api.custody_withdraw, api.custody_record,
  api.custody_claim, api.custody_set_aside, api.custody_record_claim, api.custody_load_slot,
  api.custody_record_replacement to custody;
