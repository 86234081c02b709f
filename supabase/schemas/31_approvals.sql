-- Approvals: what the owner decided about a payment that waited for it. A payment has one decision, which is
-- valid for exactly the terms that were shown, once, and until the payment expires.

create table private.approvals (
  payment uuid primary key references private.payments on delete cascade,
  account uuid not null references private.accounts,
  -- The session in which the owner decided.
  session uuid not null references private.credentials,
  decision text not null check (decision in ('approved', 'declined')),
  level text not null check (level in ('user_session', 'user_passkey')),
  -- Digest of the terms that the owner saw.
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  consent uuid references private.consents,
  decided_at timestamptz not null default private.clock(),
  check (decision = 'declined' or consent is not null)
);
alter table private.approvals enable row level security;

-- True if the owner approved a payment with its present terms at this level.
create function private.owner_approved(p private.payments, at_level text) returns boolean
  language plpgsql stable as $$
begin
  return exists (select from private.approvals o where o.payment = p.id
    and o.decision = 'approved' and o.level = at_level and o.digest = private.terms_digest(p));
end $$;

-- Stores the owner's decision about a payment. Taking an approval back is a decline too, possible until the
-- reserved payment is signed; what the approval made known becomes unknown again.
create function private.enter_decision(
  caller private.credentials, p private.payments, decision text, digest text,
  given private.consents)
  returns void language plpgsql as $$
begin
  insert into private.approvals as o (payment, account, session, decision, level, digest, consent)
  values (p.id, p.account, caller.id, decision, coalesce(given.level, 'user_session'), digest,
    given.id)
  on conflict on constraint approvals_pkey do update
    set decision = excluded.decision, session = excluded.session, digest = excluded.digest,
      decided_at = excluded.decided_at;
  if decision = 'declined' then
    update private.payments q set state = 'declined', finality = null where q.id = p.id;
    delete from private.known_recipients r using private.approvals o
     where o.payment = p.id and r.consent = o.consent;
    delete from private.known_devices d using private.approvals o
     where o.payment = p.id and d.consent = o.consent;
  end if;
  perform private.record_payment(p, 'confirmation_' || decision);
end $$;

-- Stores what the owner ticked beside an approval in the payment's row, and makes known what was ticked.
create function private.enter_ticks(p private.payments, given private.consents)
  returns void language plpgsql as $$
begin
  update private.payments q set for_any_key = p.for_any_key, remembers_payee = p.remembers_payee,
    remembers_device = p.remembers_device, passes_daily_cap = p.passes_daily_cap where q.id = p.id;
  if p.remembers_payee then
    insert into private.known_recipients (account, chain_family, address, session, consent, asked_by)
    values (p.account, 'evm', p.payee, given.session, given.id, p.key) on conflict do nothing;
  end if;
  if p.remembers_device then
    insert into private.known_devices (account, key, fingerprint, session, consent)
    values (p.account, p.key, p.device, given.session, given.id) on conflict do nothing;
  end if;
  if p.remembers_payee or p.remembers_device then
    update private.accounts a set facts_version = a.facts_version + 1 where a.id = p.account;
    insert into private.activities (account, category, type, summary)
    select p.account, 'security', 'remembered', pg_catalog.format('By an approval, %s trusted from now on.',
      case when not p.remembers_device then pg_catalog.format('the recipient %s is', p.payee)
        when not p.remembers_payee then 'the device of the ' || private.holder_name(k) || ' is'
        else pg_catalog.format('the recipient %s and the device of the %s are', p.payee,
          private.holder_name(k)) end)
    from private.credentials k where k.id = p.key;
  end if;
end $$;

-- Returns a digest of the key and the device that asked, by which the page names them.
create function private.asker_of(p private.payments) returns text
  language sql stable as $$
  select encode(sha256(convert_to(concat(p.key, ' ', p.device), 'UTF8')), 'hex')
$$;

-- Returns the payer of a transfer that the owner of this session approved and now sends: the key or app that asked,
-- the newest that took its place, or the owner's own. Refuses any other payment like a missing one.
create function private.asker_approved(caller private.credentials, approved uuid)
  returns private.credentials language plpgsql stable as $$
declare
  asker private.credentials;
begin
  select k.* into asker from private.payments p
    join private.approvals o on o.payment = p.id and o.decision = 'approved'
    join private.credentials k on k.account = p.account
      and private.budget_of(k) = private.holder_of(p.key)
   where p.id = approved and p.account = caller.account and p.kind = 'transfer'
     and private.is_payer_live(k) and private.scope_covers(k.scopes, 'pay')
   order by k.id = p.key desc, k.created_at desc limit 1;
  if not found then
    perform private.refuse('payment_not_found', '404');
  end if;
  return asker;
end $$;

-- Returns the key or app that pays when this credential continues a payment: its own, or the one that asked
-- if it is a session of the owner, who approved the payment.
create function private.recognize_payer(credential text, continued uuid)
  returns private.credentials language plpgsql stable as $$
begin
  return case when private.is_session(credential)
    then private.asker_approved(private.recognize(credential, 'owner', true), continued)
    else private.recognize(credential, 'pay', true) end;
end $$;

-- Returns why a payment cannot be decided about as it was shown, or null if it can. It compares the digest of
-- the terms and, if the page showed it, the requester, because another key or device can take that role until
-- the owner decides. With `declines` an approved payment can be declined until it is signed. A payment of
-- another account is answered like a missing one.
create function private.undecidable(
  p private.payments, digest text, asker text, declines boolean default false) returns text
  language sql stable as $$
  select case
    when p.id is null then 'not_found'
    when p.state = 'expired' or p.expires_at <= private.clock()
      and p.state = 'awaiting_confirmation' then 'expired'
    when p.state <> 'awaiting_confirmation'
      and not (declines and private.is_approved_unsigned(p)) then 'closed'
    when not private.is_holder_live(p.key) then 'closed'
    when digest is distinct from private.terms_digest(p) then 'terms_changed'
    when asker <> private.asker_of(p) then 'asker_changed' end
$$;

-- Locks the caller's account before any payment, in the order of custody_authorize, so that the two never
-- deadlock. With `unfrozen` it refuses a frozen account.
create function private.hold_payer(caller private.credentials, unfrozen boolean)
  returns void language plpgsql as $$
declare
  payer private.accounts := private.hold_live(caller);
begin
  if unfrozen and payer.frozen_at is not null then
    perform private.refuse('account_frozen', '403');
  end if;
end $$;

-- Stores the owner's decision about one payment of the account. An approval needs proven consent and an
-- account that is not frozen; a decline needs neither. `outcome` is the decision or why it does not count.
-- Approving an approved payment again changes nothing. What is ticked is part of the terms, and an approval
-- makes no other payee or device known; `reason` is told to the agent with a decline. An address that looks like a
-- known one never becomes known, so the owner is asked each time.
create function api.owner_decide_payment(
  credential text, payment uuid, decision text, digest text, asker text default null,
  assertion jsonb default null, any_key boolean default false,
  remember_payee boolean default false, remember_device boolean default false,
  pass_daily_cap boolean default false, mail jsonb default null, reason text default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  approves boolean := decision = 'approved';
  caller private.credentials;
  p private.payments;
  given private.consents;
begin
  caller := case when approves then private.admit_consent(credential, assertion)
    else private.admit_owner(credential, 'tighten') end;
  perform private.hold_payer(caller, approves);
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account for update;
  if approves then
    -- A payment of the owner may pass the daily cap, and no agent pays it.
    p.for_any_key := any_key and not private.is_owner_payer(p.key);
    p.remembers_payee := remember_payee;
    p.remembers_device := remember_device;
    p.passes_daily_cap := pass_daily_cap and private.is_owner_payer(p.key);
  end if;
  outcome := coalesce(
    private.undecidable(p, digest, case when approves then asker end, not approves),
    case when approves and p.remembers_payee and private.similar_recipient(p.account, p.payee) is not null
      then 'similar' end, decision);
  if outcome = 'approved' and exists (select from private.approvals o where o.payment = p.id) then
    outcome := case when exists (select from private.approvals o
      where o.payment = p.id and o.digest = owner_decide_payment.digest) then 'approved'
      else 'closed' end;
    return next;
    return;
  end if;
  if outcome = 'approved' then
    given := private.keep_consent(caller, digest, null, assertion, p.created_at);
    if given.id is null then
      outcome := 'closed';
    end if;
  end if;
  if outcome = decision then
    perform private.enter_decision(caller, p, decision, digest, given);
    if approves then
      perform private.enter_ticks(p, given);
      perform private.enqueue_mail(caller.account, mail);
    else
      update private.payments q set decline_reason = nullif(reason, '') where q.id = p.id;
    end if;
  end if;
  return next;
end $$;

-- Approves several payments by one act: all of them as they were shown, each once and with its requester, or
-- none.
create function api.owner_approve_batch(
  credential text, payments uuid[], askers text[], digest text, assertion jsonb default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_consent(credential, assertion);
  leaves text[];
  p private.payments;
  given private.consents;
begin
  perform private.hold_payer(caller, true);
  perform from private.payments q where q.id = any (payments) and q.account = caller.account
   order by q.id for update;
  select array_agg(private.terms_digest(q) order by private.terms_digest(q) collate "C"),
    min(coalesce(private.undecidable(q, private.terms_digest(q), coalesce(g.asker, '')),
      case when exists (select from private.approvals o where o.payment = q.id) then 'closed' end))
   into leaves, outcome
   from unnest(payments, askers) g (id, asker)
   left join private.payments q on q.id = g.id and q.account = caller.account;
  if coalesce(cardinality(leaves), 0) not between 2 and 50
    or cardinality(leaves) <> (select count(distinct l.id) from unnest(payments) l (id)) then
    outcome := 'out_of_bounds';
  end if;
  outcome := coalesce(outcome, case
    when digest is distinct from private.batch_digest(caller.account, leaves) then 'terms_changed'
    else 'approved' end);
  if outcome = 'approved' then
    given := private.keep_consent(caller, digest, leaves, assertion, (
      select min(q.created_at) from private.payments q where q.id = any (payments)));
    outcome := case when given.id is null then 'closed' else 'approved' end;
  end if;
  if outcome = 'approved' then
    for p in select q.* from private.payments q where q.id = any (payments) order by q.id loop
      perform private.enter_decision(caller, p, 'approved', private.terms_digest(p), given);
    end loop;
  end if;
  return next;
end $$;

-- Returns the payments that wait for the owner, and those approved by the owner and not signed yet. What an agent
-- may confirm itself waits for nobody else.
create function private.waiting_for_owner(of_account uuid) returns setof private.payments
  language sql stable as $$
  select q.* from private.payments q where q.account = of_account
    and q.state = 'awaiting_confirmation' and q.expires_at > private.clock()
    and (q.asked_level is distinct from 'agent_asserted'
      or exists (select from private.approvals o where o.payment = q.id))
  union all
  select q.* from private.payments q where q.account = of_account
    and q.state = 'authorized' and private.is_approved_unsigned(q)
$$;

-- Declines the payments that wait, approved or not, and returns their number. It takes at most 2,000 at a
-- time, because an agent can request more than one call can handle; each call leaves fewer.
create function api.owner_decline_all(credential text) returns table (declined integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  p private.payments;
begin
  declined := 0;
  perform private.hold_payer(caller, false);
  for p in select q.* from private.payments q where q.id in (
      select w.id from private.waiting_for_owner(caller.account) w order by w.id limit 2000)
     order by q.id for update
  loop
    perform private.enter_decision(caller, p, 'declined', private.terms_digest(p), null);
    declined := declined + 1;
  end loop;
  return next;
end $$;

-- Returns a payment with its requester and the decision about it, without anything that could pay.
create function private.approval_json(p private.payments) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'payment_row', private.payment_json(p) - array['delivery', 'allowance_signature']
      || jsonb_build_object('signature', null),
    'asked', (select jsonb_build_object('title', private.holder_title(k), 'calls_itself', private.own_name(k),
      'asker', private.asker_of(p), 'device', left(p.device, 8),
      'fingerprint', p.device, 'device_known', private.device_known(p))
      from private.credentials k where k.id = p.key),
    'label', private.label_of(p.account, p.payee), 'decision', o.decision, 'decided_at', o.decided_at)
  from (values (p.id)) v (id) left join private.approvals o on o.payment = v.id
$$;

-- Returns the terms of which more than one payment waits or was authorized within ten minutes, whoever asked.
create function private.repeated_terms(account uuid)
  returns table (chain bigint, token text, payee text, amount_atomic numeric)
  language sql stable as $$
  select p.chain, p.token, p.payee, p.amount_atomic from private.payments p
   -- A payment waits for a day at most.
   where p.account = repeated_terms.account and p.created_at > private.clock() - interval '25 hours'
     and (p.state = 'awaiting_confirmation' and p.expires_at > private.clock()
       or p.state in ('authorized', 'signed', 'settled')
         and p.authorized_at > private.clock() - interval '10 minutes')
   group by 1, 2, 3, 4 having count(*) > 1
$$;

-- Returns the payments that wait for the owner, newest first, including approved ones that are not signed
-- yet, and their total number. Marks those of which an equal one waits or was authorized within ten minutes,
-- whoever asked for it, and the plain ones: transfers without a note, to a recipient and from a device that the
-- owner made known.
create function api.owner_list_approvals(credential text, listed_max integer)
  returns table (approvals jsonb, waiting integer, needs_passkey boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query
  with open as (
    select q, q.created_at from private.waiting_for_owner(caller.account) q
  )
  select coalesce((select jsonb_agg(private.approval_json(n.q) || jsonb_build_object(
        'is_duplicate', ((n.q).chain, (n.q).token, (n.q).payee, (n.q).amount_atomic) in (
          select * from private.repeated_terms(caller.account)),
        'is_plain', (n.q).kind = 'transfer' and (n.q).memo is null and not (n.q).terms ? 'purpose'
          and private.recipient_known(caller.account, (n.q).payee) and private.device_known(n.q))
      order by n.created_at desc)
      from (select * from open order by open.created_at desc limit listed_max) n), '[]'),
    (select count(*)::integer from open), private.has_passkey(caller.account);
end $$;

-- Returns how often an account paid a payee and how much in all. It counts 1,000 at most.
create function private.paid_before(of_account uuid, of_payee text) returns jsonb
  language sql stable as $$
  select jsonb_build_object('count', count(*), 'usd_micros', coalesce(sum(t.usd), 0)::bigint::text)
  from (select p.amount_usd_micros usd from private.payments p where p.account = of_account
      and p.payee = of_payee and (p.state = 'settled' or p.block_hash is not null) limit 1000) t
$$;

-- Resets a reservation that ended unsigned when its payment is asked for again. The payment is then decided
-- anew, as if it had never been reserved.
create function private.reconsider(of_payment uuid, of_account uuid) returns void
  language plpgsql as $$
begin
  update private.payments p set authorized_at = null, consent_level = null, mandate = null,
    budget = null, authorized_block = null, valid_after = null, valid_before = null,
    allowance_nonce = null, leased_until = null, finality = null, relayed_calls = 0,
    state = case when exists (select from private.approvals o where o.payment = p.id)
      then 'awaiting_confirmation' else 'prepared' end
   where p.id = of_payment and p.account = of_account
     and p.state = 'authorized' and p.counts_until <= private.clock();
end $$;

grant execute on function api.owner_decide_payment, api.owner_approve_batch, api.owner_decline_all,
  api.owner_list_approvals to service_role;
