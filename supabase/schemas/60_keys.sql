-- API keys, as the owner creates, ends and replaces them. A key is generated outside and shown once; the
-- database receives only its digest.

-- Returns what each live key and app that may pay could move by itself.
create function api.owner_list_exposures(credential text)
  returns table (key uuid, label text, shown text, exposure jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select k.id, k.label, k.shown, private.key_exposure(k)
    from private.credentials k
   where k.account = caller.account and private.is_agent_live(k)
     and private.scope_covers(k.scopes, 'pay') order by k.created_at, k.id;
end $$;

-- Returns the API keys of the account: live ones first, then the latest of the others.
create function api.owner_list_keys(credential text, listed_max integer)
  returns table (key uuid, label text, shown text, scopes text[], live boolean,
    created_at timestamptz, expires_at timestamptz, revoked_at timestamptz, last_used_on date,
    reads_secrets boolean, caps jsonb, spent_usd_micros text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select k.id, k.label, k.shown, k.scopes, private.is_key_live(k), k.created_at,
    k.expires_at, k.revoked_at, k.last_used_on, k.reads_secrets,
    private.caps_json(k.id), private.spent_by_agent(k)
    from private.credentials k where k.account = caller.account and k.kind = 'api_key'
   order by private.is_key_live(k) desc, k.created_at desc, k.id limit listed_max;
end $$;

-- Counts one more key or app of an account: 100 at once and one each quarter of an hour.
create function private.limit_new_agents(of_account uuid) returns void language sql as $$
  select private.take_slowly('new-agents:' || of_account, 100, interval '15 minutes')
$$;

-- Creates a key unless the account has the largest number of live ones; returns null in that case. It locks
-- the account, so that two calls at once cannot both create the last one.
create function private.place_key(
  caller private.credentials, digest text, label text, shown text, scopes text[],
  expires_in_days integer, burst integer default 600, per_second integer default 100,
  per_payment bigint default null, per_day bigint default null, shares_budget_of uuid default null)
  returns uuid language plpgsql as $$
declare
  live_max constant integer := 20;
  placed uuid;
begin
  perform private.hold_account(caller.account);
  if (select count(*) from private.credentials k
    where k.account = caller.account and private.is_key_live(k)) < live_max then
    perform private.limit_new_agents(caller.account);
    insert into private.credentials as k
      (account, digest, label, shown, scopes, expires_at, burst, per_second,
       max_per_payment_usd_micros, max_per_day_usd_micros, shares_budget_of)
    values (caller.account, digest, label, shown, scopes,
      private.clock() + pg_catalog.make_interval(days => expires_in_days), burst, per_second,
      per_payment, per_day, place_key.shares_budget_of)
    returning k.id into placed;
  end if;
  return placed;
end $$;

-- Creates an API key with one scope and optional caps. The key itself never reaches the database. Returns
-- null if the account has too many.
create function api.owner_create_key(
  credential text, digest text, label text, shown text, scope text, expires_in_days integer,
  mail jsonb default null, max_per_payment_usd_micros text default null,
  max_per_day_usd_micros text default null)
  returns table (key uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
begin
  key := private.place_key(caller, digest, label, shown, array[scope], expires_in_days,
    per_payment => max_per_payment_usd_micros::bigint, per_day => max_per_day_usd_micros::bigint);
  if key is not null then
    perform private.record_change(caller, 'security', 'api_key_created', pg_catalog.format(
      'The API key %s was created with the scope %s, valid for %s days.', shown, scope,
      expires_in_days));
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

-- Closes what a revoked key or app had asked for; the caller holds the account's lock. That is: waiting
-- payments that no other key may pay, mandates, links, and destinations of secrets that were not approved. An
-- active mandate of a replaced key stays with its successor. What is reserved and not signed against its
-- budget, by itself or by one that shares it, is released. `by` is who ended it: the owner, the app itself or
-- the service.
create function private.close_requests(revoked private.credentials, by text) returns void
  language plpgsql as $$
declare
  holder uuid := private.budget_of(revoked);
  is_last boolean := not private.is_holder_live(revoked.id);
  askers uuid[] := array(select k.id from private.credentials k where k.account = revoked.account
    and (k.id = revoked.id or is_last and private.budget_of(k) = holder));
  payments integer;
  mandates uuid[];
  links integer;
  destinations integer;
begin
  perform private.release_unsigned(array(select p.id from private.payments p
    where p.account = revoked.account and p.state = 'authorized'
      and coalesce(p.budget, p.key) = holder),
    'the key or app that paid was revoked before anything was signed');
  update private.payments p set state = 'expired',
      failure = 'the key or app that asked for it was revoked'
   where p.account = revoked.account and p.state in ('prepared', 'awaiting_confirmation')
     and p.key = any (askers) and not p.for_any_key;
  get diagnostics payments = row_count;
  with ended as (
    update private.mandates m set state = 'revoked', revoked_at = private.clock(), revoked_by = by
     where m.account = revoked.account and m.state in ('pending_approval', 'active', 'suspended')
       and m.key = any (askers) and (is_last or m.state = 'pending_approval')
       and not m.for_any_key
    returning m.id
  )
  select coalesce(array_agg(e.id), '{}') into mandates from ended e;
  perform private.release_under(mandates);
  update private.hosted_actions h set expires_at = private.clock()
   where h.account = revoked.account and h.credential = revoked.id
     and h.expires_at > private.clock() and num_nonnulls(h.declined_at, h.finished_at) = 0;
  get diagnostics links = row_count;
  delete from private.vault_sessions s where s.credential = revoked.id;
  delete from private.vault_destinations w
   where w.account = revoked.account and w.approved_at is null and w.asked_by = any (askers);
  get diagnostics destinations = row_count;
  if payments + cardinality(mandates) + links + destinations > 0 then
    insert into private.activities (account, category, type, summary)
    values (revoked.account, 'security', 'requests_closed', pg_catalog.format(
      'What the %s had asked for was closed: payments %s, mandates %s, links %s, destinations of secrets %s.',
      private.holder_name(revoked), payments, cardinality(mandates), links, destinations));
  end if;
end $$;

-- Revokes an API key at once; a second call changes nothing. Returns no row if the account has no such key.
create function api.owner_revoke_key(credential text, key uuid) returns table (label text)
  language plpgsql security definer set search_path = '' as $$
declare
  -- Waits for what is being signed for the key; nothing of it is answered after this.
  caller private.credentials := private.admit_owner(credential, 'end');
begin
  update private.credentials k set revoked_at = private.clock()
   where k.id = owner_revoke_key.key and k.account = caller.account and private.is_key_live(k);
  if found then
    perform private.record_change(caller, 'security', 'api_key_revoked', pg_catalog.format(
      'The API key %s was revoked.', k.shown)), private.close_requests(k, 'owner')
      from private.credentials k where k.id = key;
  end if;
  return query select k.label from private.credentials k
   where k.id = owner_revoke_key.key and k.account = caller.account and k.kind = 'api_key';
end $$;

-- Creates a key that replaces another one: it has the same label, scope, rate, caps, known devices and rights
-- in the vault, and takes over its entries. Both count against the caps of both. The old key stays valid for
-- `overlap_hours`, but not longer than before. Returns no row if there is no such live key, and null if the
-- account has too many.
create function api.owner_rotate_key(
  credential text, key uuid, digest text, shown text, expires_in_days integer,
  overlap_hours integer, mail jsonb default null)
  returns table (placed uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
  old private.credentials;
begin
  select k.* into old from private.credentials k
   where k.id = owner_rotate_key.key and k.account = caller.account and private.is_key_live(k)
     -- Nobody may have a token of a key that the service acts as for the owner.
     and not exists (select from private.mandates m where m.key = k.id and m.purpose is not null)
     for no key update;
  if not found then
    return;
  end if;
  placed := private.place_key(caller, digest, old.label, shown, old.scopes, expires_in_days,
    old.burst, old.per_second, old.max_per_payment_usd_micros, old.max_per_day_usd_micros,
    private.budget_of(old));
  if placed is not null then
    insert into private.known_devices (account, key, fingerprint, session, consent)
    select d.account, placed, d.fingerprint, caller.id, d.consent from private.known_devices d
     where d.account = caller.account and d.key = old.id;
    update private.credentials k set reads_secrets = old.reads_secrets where k.id = placed;
    update private.vault_entries e set created_by = placed where e.created_by = old.id;
    update private.credentials k set
      expires_at = least(
        k.expires_at, private.clock() + pg_catalog.make_interval(hours => overlap_hours))
     where k.id = old.id;
    perform private.record_change(caller, 'security', 'api_key_rotated', pg_catalog.format(
      'The API key %s replaces %s, which stays valid for %s hours.', shown, old.shown,
      overlap_hours));
    perform private.enqueue_mail(caller.account, mail);
  end if;
  return next;
end $$;

grant execute on function api.owner_list_exposures, api.owner_list_keys, api.owner_create_key, api.owner_revoke_key,
  api.owner_rotate_key to service_role;
