-- The device authorization grant (RFC 8628): a program without a browser shows a code, and the owner who enters it in
-- a browser decides. What is granted is an authorization code (61_oauth) whose secret is the device code, so that
-- everything which holds for those holds here.

create table private.device_requests (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  -- Keyed hash of the code that the owner enters.
  user_digest text not null unique check (user_digest ~ '^[0-9a-f]{64}$'),
  -- The client's request, as oauth_codes stores it.
  asked jsonb not null,
  asked_scopes text[] not null,
  -- Shown to the owner, who compares: words that the program shows too, its network and its user agent.
  phrase text not null,
  client text not null,
  user_agent text not null,
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz not null,
  -- Least time between two polls, and the time of the last one.
  pause interval not null default '5 seconds',
  polled_at timestamptz,
  decision text check (decision in ('granted', 'denied'))
);
alter table private.device_requests enable row level security;
create index device_requests_age on private.device_requests (expires_at);

-- Stores a request for ten minutes. Their number is limited for each network, and to 4,600 an hour for all.
create function api.oauth_begin_device(
  device_digest text, user_digest text, asked jsonb, asked_scopes text[], phrase text, client text,
  user_agent text)
  returns void language plpgsql security definer set search_path = '' as $$
begin
  perform private.take_slowly_of_networks('device-request', client, 30, interval '20 seconds');
  perform private.take_slowly('device-request', 1000, interval '1 second');
  insert into private.device_requests (digest, user_digest, asked, asked_scopes, phrase, client,
    user_agent, expires_at)
  values (device_digest, user_digest, asked, asked_scopes, phrase, client, user_agent,
    private.clock() + interval '10 minutes');
end $$;

-- Returns the request with this code that nobody decided. A wrong code counts: an account has ten tries and then one a
-- minute, and all accounts together 300 and then one a second.
create function api.owner_find_device(credential text, user_digest text)
  returns table (asked jsonb, asked_scopes text[], phrase text, client text, user_agent text,
    created_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  perform private.take_slowly('device-code:' || caller.account, 10, interval '1 minute');
  perform private.take_slowly('device-code', 300, interval '1 second');
  return query select d.asked, d.asked_scopes, d.phrase, d.client, d.user_agent, d.created_at
    from private.device_requests d
   where d.user_digest = owner_find_device.user_digest and d.decision is null
     and d.expires_at > private.clock();
  if found then
    perform private.give_back('device-code:' || caller.account, interval '1 minute');
    perform private.give_back('device-code', interval '1 second');
  end if;
end $$;

-- Decides a request and returns it; null if there is none to decide.
create function private.decide_device(user_digest text, decision text)
  returns private.device_requests language plpgsql as $$
declare
  decided private.device_requests;
begin
  update private.device_requests d set decision = decide_device.decision
   where d.user_digest = decide_device.user_digest and d.decision is null
     and d.expires_at > private.clock()
  returning * into decided;
  return decided;
end $$;

-- Gives the program what the owner chose, with a fresh proof. `replaces` is another app, which ends with it.
create function api.owner_grant_device(
  credential text, user_digest text, scopes text[], days integer, replaces uuid default null,
  max_per_payment_usd_micros text default null, max_per_day_usd_micros text default null,
  mail jsonb default null)
  returns table (done boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
  d private.device_requests := private.decide_device(user_digest, 'granted');
begin
  done := d.digest is not null;
  if done then
    perform private.issue_code(caller, d.digest, d.asked || jsonb_build_object('replaces', replaces),
      d.asked_scopes, scopes, days, max_per_payment_usd_micros, max_per_day_usd_micros, mail,
      d.expires_at - private.clock() + interval '1 minute');
  end if;
  return next;
end $$;

create function api.owner_deny_device(credential text, user_digest text)
  returns table (done boolean) language plpgsql security definer set search_path = '' as $$
begin
  perform private.admit_owner(credential, 'tighten');
  done := (private.decide_device(user_digest, 'denied')).digest is not null;
  return next;
end $$;

-- Answers a poll: the tokens once the owner allowed it, until then why there are none (RFC 8628 section 3.5).
create function api.oauth_redeem_device(
  device_digest text, client_id text, access_digest text, refresh_digest text,
  dpop_key text default null, proof_digest text default null)
  returns table (outcome text, scopes text[], seconds integer, refreshes boolean, ended uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  d private.device_requests;
begin
  select * into d from private.device_requests x where x.digest = device_digest for no key update;
  if d.digest is null or d.asked ->> 'client_id' is distinct from client_id then
    outcome := private.unknown_grant(client_id);
  elsif d.decision = 'granted' then
    return query select * from api.oauth_redeem_code(device_digest, client_id, null, access_digest,
      refresh_digest, null, dpop_key, proof_digest);
    return;
  elsif d.decision = 'denied' then
    outcome := 'access_denied';
  elsif d.expires_at <= private.clock() then
    outcome := 'expired_token';
  else
    outcome := case when d.polled_at > private.clock() - d.pause then 'slow_down'
      else 'authorization_pending' end;
    update private.device_requests x set polled_at = private.clock(),
      pause = x.pause + case outcome when 'slow_down' then interval '5 seconds' else interval '0' end
     where x.digest = d.digest;
  end if;
  return next;
end $$;

grant execute on function api.oauth_begin_device, api.owner_find_device, api.owner_grant_device,
  api.owner_deny_device, api.oauth_redeem_device to service_role;
