-- The two functions that custody may call, and nobody else: commit a decision and load what is to
-- be signed in one step, then keep what was signed before anything leaves.

-- Whether a payment fits the limits at this consent level. The decision was taken elsewhere from
-- facts; this is its second path and the one that holds when requests race.
create function private.within_limits(
  a private.accounts, s private.spending, p private.payments, consent text)
  returns boolean language plpgsql stable as $$
begin
  if s.total + p.amount_usd_micros > a.daily_spending_cap_usd_micros
    or private.similar_recipient(p.account, p.payee) is not null then
    return false;
  end if;
  return case consent
    when 'none' then s.automatic + p.amount_usd_micros <= a.automatic_daily_limit_usd_micros
      and private.recipient_known(p.account, p.payee) and private.device_known(p)
    when 'agent_asserted' then
      s.asserted + p.amount_usd_micros <= a.asserted_daily_limit_usd_micros
      and (p.amount_usd_micros <= a.asserted_new_recipient_limit_usd_micros
        or private.recipient_known(p.account, p.payee))
    else false
  end;
end $$;

-- The answer for a payment that is authorized: what to sign, with which sealed keys.
create function private.custody_answer(p private.payments, s private.relay_slots, first boolean)
  returns table (outcome text, first_caller boolean, payment_row jsonb, wallet_envelope jsonb,
    slot jsonb, lane_envelope jsonb, transaction jsonb)
  language plpgsql stable as $$
begin
  return query select 'authorized', first, private.payment_json(p),
    (select k.envelope from private.custody_keys k
      where k.address = p.wallet and k.owner = p.account::text),
    case when s.id is not null then
      jsonb_build_object('id', s.id, 'lane', s.lane, 'nonce', s.nonce) end,
    (select k.envelope from private.custody_keys k
      where k.address = s.lane and k.owner = 'relayer'),
    (select jsonb_build_object('tx_hash', t.tx_hash, 'raw', t.raw)
       from private.relay_transactions t where t.slot = s.id order by t.attempt desc limit 1);
end $$;

-- Reserves a payment and hands it to custody with the sealed keys that sign it. `outcome` tells why
-- not; `first` is true for the one caller that drives the sending until its lease ends.
create function api.custody_authorize(
  credential text, payment uuid, consent_level text, facts_version integer, funds_atomic text,
  seen_block bigint, valid_after bigint, valid_before bigint, lease_seconds integer,
  gas_from text default null, wallet_nonce bigint default null)
  returns table (outcome text, first boolean, payment_row jsonb, wallet_envelope jsonb,
    slot jsonb, lane_envelope jsonb, transaction jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.api_keys := private.recognize(credential, 'pay', true);
  payer private.accounts;
  p private.payments;
  claimed private.relay_slots;
  at timestamptz := private.clock();
  free boolean;
begin
  select a.* into payer from private.accounts a where a.id = caller.account for update;
  -- Asked again under the lock: a freeze that was answered is never followed by a signature.
  if payer.frozen_at is not null then
    perform private.refuse('account_frozen', '403');
  end if;
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account for update;
  if not found then
    outcome := 'not_found';
  elsif p.state in ('authorized', 'signed', 'unknown') then
    free := p.leased_until <= at;
    update private.payments q set leased_until = at + pg_catalog.make_interval(secs => lease_seconds)
     where q.id = p.id and free;
    select s.* into claimed from private.relay_slots s where s.payment = p.id;
    return query select * from private.custody_answer(p, claimed, free);
    return;
  elsif p.state not in ('prepared', 'awaiting_confirmation') then
    outcome := 'closed';
  elsif p.expires_at <= at then
    outcome := 'expired';
  elsif payer.facts_version <> facts_version
    or not private.within_limits(payer, private.spent(payer.id), p, consent_level) then
    outcome := 'stale';
  elsif private.reserved_atomic(p) + p.amount_atomic > funds_atomic::numeric then
    outcome := 'insufficient_funds';
  else
    if p.kind = 'transfer' then
      claimed := private.claim_slot(p, gas_from, wallet_nonce);
      if claimed.id is null then
        outcome := 'no_relayer';
        return next;
        return;
      end if;
    end if;
    update private.payments q set state = 'authorized', finality = 'submitted', authorized_at = at,
      consent_level = custody_authorize.consent_level, authorized_block = seen_block,
      valid_after = custody_authorize.valid_after, valid_before = custody_authorize.valid_before,
      leased_until = at + pg_catalog.make_interval(secs => lease_seconds)
     where q.id = p.id returning * into p;
    perform private.record_payment(p, p.kind || '_authorized');
    return query select * from private.custody_answer(p, claimed, true);
    return;
  end if;
  first := false;
  return next;
end $$;

-- Keeps what custody signed. Answers false when another signature is kept already: then the caller
-- must send that one and never its own.
create function api.custody_record(
  payment uuid, authorization_nonce text default null, signature text default null,
  slot bigint default null, tx_hash text default null, raw text default null,
  max_fee_per_gas text default null, max_priority_fee_per_gas text default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  p private.payments;
begin
  update private.payments q set state = 'signed', tx_hash = custody_record.tx_hash,
    authorization_nonce = custody_record.authorization_nonce, signature = custody_record.signature
   where q.id = payment and q.state = 'authorized' returning * into p;
  if not found then
    return false;
  end if;
  if slot is not null then
    insert into private.relay_transactions (slot, attempt, tx_hash, raw, max_fee_per_gas,
      max_priority_fee_per_gas)
    values (slot, 1, tx_hash, raw, max_fee_per_gas::numeric, max_priority_fee_per_gas::numeric);
  end if;
  return true;
end $$;
grant execute on function api.custody_authorize, api.custody_record to custody;
