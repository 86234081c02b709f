-- Answers kept for 24 hours under the caller's Idempotency-Key, per key or app and operation. A credential
-- that replaced another continues its claims, so that nothing is done twice, but does not receive its
-- answers.

create table private.idempotent_answers (
  account uuid not null references private.accounts,
  -- The budget of the credential (private.budget_of).
  holder uuid not null references private.credentials,
  -- The credential that is at work or was answered.
  credential uuid not null references private.credentials,
  operation text not null,
  key text not null check (length(key) between 1 and 255),
  -- HMAC-SHA-256 of the request body: the same key with another body is a mistake of the caller. A body may
  -- hold a password that is easy to guess, so the database does not get a plain digest.
  request_digest text not null,
  claimed_until timestamptz not null,
  -- True once a request with a secret left under the claim. Nobody makes it a second time.
  is_sent boolean not null default false,
  -- Claim shared by all who work on this key in turn: what they enter is entered once under it.
  claim uuid not null default gen_random_uuid(),
  created_at timestamptz not null default private.clock(),
  -- 200 with a body; 409 without one if the work was done and no answer could be kept.
  status integer,
  -- Sealed for the claim (shared/http/idempotency.ts), because it may hold the session of a site.
  body text,
  primary key (holder, operation, key)
);
alter table private.idempotent_answers enable row level security;
create index idempotent_answers_age on private.idempotent_answers (created_at);
create index idempotent_answers_of_account on private.idempotent_answers (account);

-- Erases answers that hold what a site returned to a login: its session, a page behind it. The work stays
-- done: a repeated request learns that its answer is lost. They are not touched one by one, because a freeze
-- waits for this and a key can have very many kept.
create function private.erase_site_answers(of_account uuid) returns void language sql as $$
  update private.accounts a set site_answers_erased_at = private.clock() where a.id = of_account
$$;

-- True if an answer was erased, or is erased as soon as it comes.
create function private.is_erased(i private.idempotent_answers) returns boolean
  language sql stable as $$
  select i.operation in ('vault_use', 'vault_login', 'vault_session') and exists (
    select from private.accounts a where a.id = i.account and a.site_answers_erased_at >= i.created_at)
$$;

-- Claims a key or returns its state: claimed, running, answered, lost, mismatch or foreign. A claim whose
-- holder went silent can be taken over, because the payment behind it is the same one; if a request with a
-- secret left under it, its outcome is lost instead. Only the credential
-- that an answer was made for receives it, and not while the account is frozen.
create function api.claim_idempotency(
  credential text, needed text, operation text, key text, request_digest text)
  returns table (outcome text, claim uuid, status integer, body text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, needed);
  at timestamptz := private.clock();
  kept private.idempotent_answers;
begin
  -- More than what is entered may take, so that what has begun can be continued or ended with a key.
  perform private.ask_for_room(private.budget_of(caller), 1.5);
  insert into private.idempotent_answers as i
    (account, holder, credential, operation, key, request_digest, claimed_until)
  values (caller.account, private.budget_of(caller), caller.id, claim_idempotency.operation,
    claim_idempotency.key, claim_idempotency.request_digest, at + interval '60 seconds')
  on conflict on constraint idempotent_answers_pkey do update
    set claimed_until = excluded.claimed_until, request_digest = excluded.request_digest,
      created_at = at, credential = caller.id, status = null, body = null, is_sent = false,
      claim = case when i.status is null and i.request_digest = excluded.request_digest
        then i.claim else excluded.claim end
  where i.created_at <= at - interval '24 hours'
    or (i.status is null and i.claimed_until <= at and not i.is_sent
      and i.request_digest = excluded.request_digest and not private.is_erased(i))
  returning i.claim into claim;
  if found then
    outcome := 'claimed';
    return next;
    return;
  end if;
  select i.* into kept from private.idempotent_answers i where i.holder = private.budget_of(caller)
     and i.operation = claim_idempotency.operation and i.key = claim_idempotency.key;
  outcome := case
    when kept.request_digest <> claim_idempotency.request_digest then 'mismatch'
    when private.is_erased(kept) then 'lost'
    when kept.status is null and kept.is_sent and kept.claimed_until <= at then 'lost'
    when kept.status is null then 'running'
    when kept.body is null then 'lost'
    when kept.credential <> caller.id then 'foreign' else 'answered' end;
  if outcome = 'answered' then
    perform private.recognize(claim_idempotency.credential, needed, true);
  end if;
  return query select claim_idempotency.outcome, kept.claim, kept.status,
    case outcome when 'answered' then kept.body end;
end $$;

-- Gives a key back that no other credential has taken over. What was entered under it and not reserved expires, so that a decision still on its way
-- finds nothing to reserve. What was reserved keeps the key, and the next claim continues that payment,
-- because a holder that lost touch cannot know whether it was paid. The same holds for a mail that was
-- entered to be sent. A request that left with a secret keeps its key for good, because its outcome is
-- unknown.
create function private.release_key(
  caller private.credentials, of_operation text, released text)
  returns void language plpgsql as $$
declare
  of_holder uuid := private.budget_of(caller);
  held uuid;
begin
  update private.idempotent_answers i set status = 409
   where i.holder = of_holder and i.operation = of_operation and i.key = released
     and i.status is null and i.is_sent and i.credential = caller.id;
  update private.idempotent_answers i set claimed_until = private.clock()
   where i.holder = of_holder and i.operation = of_operation and i.key = released
     and i.status is null and i.credential = caller.id returning i.claim into held;
  update private.payments p set state = 'expired' where p.account = caller.account
     and p.kind in ('transfer', 'x402') and p.claim = held
     and p.state in ('prepared', 'awaiting_confirmation');
  delete from private.idempotent_answers i where i.holder = of_holder
     and i.operation = of_operation and i.key = released and i.claim = held
     and not exists (select from private.payments p where p.account = caller.account
       and p.kind in ('transfer', 'x402') and p.claim = held and p.state <> 'expired')
     and not exists (select from private.mails m where m.account = caller.account and m.claim = held);
end $$;

-- Stores the answer of a key that the caller claimed and no other credential took over, or with a null status gives the key back.
create function api.keep_answer(
  credential text, operation text, key text, status integer default null,
  body text default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'any');
begin
  if keep_answer.status is null then
    perform private.release_key(caller, operation, key);
  else
    update private.idempotent_answers i set
      status = case when private.is_erased(i) then 409 else keep_answer.status end,
      body = case when not private.is_erased(i) then keep_answer.body end
     where i.holder = private.budget_of(caller) and i.operation = keep_answer.operation
       and i.key = keep_answer.key and i.status is null and i.credential = caller.id;
  end if;
  return true;
end $$;

grant execute on function api.claim_idempotency, api.keep_answer to service_role;
