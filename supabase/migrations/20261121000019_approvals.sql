-- Approvals: what the owner said about a payment that waited for it. One word a payment; it is good
-- for exactly the terms that were shown, once, and until the payment expires.

create table private.approvals (
  payment uuid primary key references private.payments,
  account uuid not null references private.accounts,
  -- In which the owner decided.
  session uuid not null references private.credentials,
  decision text not null check (decision in ('approved', 'declined')),
  level text not null default 'user_session' check (level = 'user_session'),
  -- Of the terms that the owner saw.
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  decided_at timestamptz not null default private.clock()
);
alter table private.approvals enable row level security;
create index payments_waiting on private.payments (account, created_at desc)
  where state = 'awaiting_confirmation';

-- SHA-256 over the canonical terms of a payment (RFC 8785), as shared/payments/terms-digest.ts makes
-- it: here it is worked out once more from the row, so that consent is to what is really paid.
create function private.terms_digest(p private.payments) returns text
  language sql stable as $$
  select encode(sha256('aoa-consent-v1\000'::bytea || convert_to(concat(
    '{"amount_atomic":"', p.amount_atomic, '","chain":"eip155:', p.chain,
    '","expires_at":"', to_char(p.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    '"', ',"origin":' || (p.terms -> 'origin')::text,
    ',"pay_to":"', p.payee, '","payment_id":"', p.id,
    '"', ',"request_digest":' || (p.terms -> 'request_digest')::text,
    ',"token":"', p.token, '","v":1}'), 'UTF8')), 'hex')
$$;

-- Whether the owner approved a payment with the terms that it has.
create function private.owner_approved(p private.payments) returns boolean
  language sql stable as $$
  select exists (select from private.approvals o where o.payment = p.id
    and o.decision = 'approved' and o.digest = private.terms_digest(p))
$$;

-- Enters the owner's word for a payment that waits. Taking an approval back is a decline too.
create function private.enter_decision(
  caller private.credentials, p private.payments, decision text, digest text)
  returns void language plpgsql as $$
begin
  insert into private.approvals as o (payment, account, session, decision, digest)
  values (p.id, p.account, caller.id, decision, digest)
  on conflict on constraint approvals_pkey do update
    set decision = excluded.decision, session = excluded.session, digest = excluded.digest,
      decided_at = excluded.decided_at;
  if decision = 'declined' then
    update private.payments q set state = 'declined' where q.id = p.id;
  end if;
  perform private.record_payment(p, 'confirmation_' || decision);
end $$;

-- Stands for the key and the device that asked: once it is paid, the device is known.
create function private.asker_of(p private.payments) returns text
  language sql stable as $$
  select encode(sha256(convert_to(concat(p.key, ' ', p.device), 'UTF8')), 'hex')
$$;

-- The owner decides about one payment of the account, by the digest of the terms that were shown, and
-- by who asked where that was shown too: until then another key or device may take its place.
-- To approve needs a fresh proof and an account that is not frozen; to decline needs neither.
-- `outcome` is the decision or why it does not count; a stranger's payment is answered as none.
create function api.owner_decide_payment(
  credential text, payment uuid, decision text, digest text, asker text default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, decision = 'approved');
  payer private.accounts;
  p private.payments;
begin
  -- In the order in which custody_authorize takes them, so that neither waits for the other.
  select a.* into payer from private.accounts a where a.id = caller.account for update;
  if decision = 'approved' and payer.frozen_at is not null then
    perform private.refuse('account_frozen', '403');
  end if;
  select q.* into p from private.payments q
   where q.id = payment and q.account = caller.account for update;
  outcome := case
    when p.id is null then 'not_found'
    when p.state = 'expired' or p.expires_at <= private.clock()
      and p.state = 'awaiting_confirmation' then 'expired'
    when p.state <> 'awaiting_confirmation' then 'closed'
    when digest is distinct from private.terms_digest(p) then 'terms_changed'
    when decision = 'approved' and asker <> private.asker_of(p) then 'asker_changed'
    else decision
  end;
  if outcome = decision then
    perform private.enter_decision(caller, p, decision, digest);
  end if;
  return next;
end $$;

-- Declines what waits, approved or not; answers how many payments that were. At most 2,000 at a time:
-- an agent can ask for more than one call gets through, and each call has to leave fewer.
create function api.owner_decline_all(credential text) returns table (declined integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
  p private.payments;
begin
  declined := 0;
  perform from private.accounts a where a.id = caller.account for update;
  for p in select q.* from private.payments q
     where q.account = caller.account and q.state = 'awaiting_confirmation'
       and q.expires_at > private.clock()
     order by q.id limit 2000 for update
  loop
    perform private.enter_decision(caller, p, 'declined', private.terms_digest(p));
    declined := declined + 1;
  end loop;
  return next;
end $$;

-- A payment with who asked for it and what was said about it, without anything that could pay.
create function private.approval_json(p private.payments) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'payment_row', private.payment_json(p) - array['delivery', 'allowance_signature']
      || jsonb_build_object('signature', null),
    'asked', (select jsonb_build_object('label', k.label, 'shown', k.shown,
      'asker', private.asker_of(p), 'device', left(p.device, 8), 'device_known', private.device_known(p))
      from private.credentials k where k.id = p.key),
    'decision', o.decision, 'decided_at', o.decided_at)
  from (values (p.id)) v (id) left join private.approvals o on o.payment = v.id
$$;

-- What waits for the owner, newest first, the approved ones that are not paid yet among them, and
-- how many there are in all.
create function api.owner_list_approvals(credential text, listed_max integer)
  returns table (approvals jsonb, waiting integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  return query
  with open as (
    select q, q.created_at from private.payments q
     where q.account = caller.account and q.state = 'awaiting_confirmation'
       and q.expires_at > private.clock()
  )
  select coalesce((select jsonb_agg(private.approval_json(n.q) order by n.created_at desc)
      from (select * from open order by open.created_at desc limit listed_max) n), '[]'),
    (select count(*)::integer from open);
end $$;

-- One payment of the account with what the owner decides from. No row for a stranger's, as for none.
create function api.owner_read_approval(credential text, payment uuid)
  returns table (approval jsonb, facts jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  return query select private.approval_json(p), private.payment_facts(p)
    from private.payments p
   where p.id = owner_read_approval.payment and p.account = caller.account;
end $$;
grant execute on function api.owner_decide_payment, api.owner_decline_all,
  api.owner_list_approvals, api.owner_read_approval to service_role;
