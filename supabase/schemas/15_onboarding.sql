-- Onboarding: a code by mail, a link for the code, an account for the link. Codes and links are stored as
-- digests, and a sign-up is forgotten after a day.

create table private.signups (
  id uuid primary key default gen_random_uuid(),
  email text not null check (email = lower(email) and length(email) <= 254),
  -- The alias that was asked for with the address. It reserves nothing.
  wish text,
  -- Network of the caller, and the wider one that it is in.
  network text not null,
  wide_network text not null,
  created_at timestamptz not null default private.clock(),
  -- HMAC of address and code with a pepper that the database never sees.
  code_digest text not null check (code_digest ~ '^[0-9a-f]{64}$'),
  -- Guesses from the network that asked for the code, and from all others.
  tries integer not null default 0 check (tries between 0 and 5),
  tries_elsewhere integer not null default 0 check (tries_elsewhere between 0 and 5),
  -- SHA-256 of the link that the code was exchanged for.
  link_digest text unique check (link_digest ~ '^[0-9a-f]{64}$'),
  confirmed_at timestamptz,
  -- The account that was opened with the link.
  account uuid references private.accounts,
  check ((link_digest is null) = (confirmed_at is null)),
  check (account is null or link_digest is not null)
);
alter table private.signups enable row level security;
create index signups_of_address on private.signups (email, created_at desc);
create index signups_of_mailbox on private.signups (private.mailbox_of(email), created_at desc);
create index signups_of_network on private.signups (network, created_at desc);
create index signups_of_wide_network on private.signups (wide_network, created_at desc);
create index signups_age on private.signups (created_at);

-- Returns for each alias whether it is free, taken, or similar to one that is taken. It is public, so it is
-- limited per caller.
create function api.check_aliases(asked jsonb, client text)
  returns table (alias text, standing text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.take_of_all('alias', client, 300, 5, 1000, 50);
  return query
  select wanted.alias, case when a.alias is null then 'free'
    when a.alias = wanted.alias then 'taken' else 'similar' end
  from jsonb_array_elements_text(asked) with ordinality as wanted (alias, place)
    left join private.accounts a on private.alias_look(a.alias) = private.alias_look(wanted.alias)
  order by wanted.place limit 8;
end $$;

-- Refuses if the sign-up that fills a limit is younger than the limit's window.
create function private.limit_pace(filled_by timestamptz, age interval) returns void
  language plpgsql as $$
declare
  wait interval := filled_by + age - private.clock();
begin
  if wait > interval '0' then
    perform private.refuse('rate_limited', '429', jsonb_build_object(
      'retry_after_seconds', ceil(extract(epoch from wait))));
  end if;
end $$;

-- Limits codes to 3 an hour and 10 a day for a mailbox, 20 an hour for the caller's network, 60 for its wider
-- network, and 3,900 for all together. It counts requests, so a refusal does not reveal whether the address
-- has an account. Requests run one after the other, because two at once would both find the last place free.
create function private.limit_signups(of_mailbox text, of_network text, of_wide_network text)
  returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(17, hashtext(of_mailbox));
  perform pg_advisory_xact_lock(18, hashtext(of_wide_network));
  perform private.limit_pace((select s.created_at from private.signups s
    where private.mailbox_of(s.email) = of_mailbox
    order by s.created_at desc offset 2 limit 1), interval '1 hour');
  perform private.limit_pace((select s.created_at from private.signups s
    where private.mailbox_of(s.email) = of_mailbox
    order by s.created_at desc offset 9 limit 1), interval '1 day');
  perform private.limit_pace((select s.created_at from private.signups s
    where s.network = of_network order by s.created_at desc offset 19 limit 1), interval '1 hour');
  perform private.limit_pace((select s.created_at from private.signups s
    where s.wide_network = of_wide_network
    order by s.created_at desc offset 59 limit 1), interval '1 hour');
  perform private.take_slowly('sign-up', 300, interval '1 second');
end $$;

-- Enters a code and sends it. An address that owns an account gets the other mail and its code is sent to
-- nobody. The rest is the same work, so the answer does not reveal which case it was.
create function api.signup_request(
  email text, code_digest text, client text, code_mail jsonb, known_mail jsonb,
  wish text default null)
  returns boolean language plpgsql security definer set search_path = '' as $$
declare
  asking text := private.network_of(client);
  asking_wide text := private.wide_network_of(client);
begin
  perform private.limit_signups(private.mailbox_of(email), asking, asking_wide);
  insert into private.signups (email, code_digest, network, wide_network, wish)
  values (signup_request.email, signup_request.code_digest, asking, asking_wide,
    signup_request.wish);
  perform private.enqueue_mail(null, case when exists (
    select from private.owners o where o.email = signup_request.email)
    then known_mail else code_mail end);
  return true;
end $$;

-- Exchanges a code for a link that is valid for 30 minutes. A guess counts against every valid code of the
-- address: each takes 5 guesses from the network that asked for it and 5 from all others, so nobody elsewhere
-- uses up the caller's tries. Every failure returns no row.
create function api.signup_confirm(
  email text, code_digest text, link_digest text, client text)
  returns table (expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  at timestamptz := private.clock();
  asking text := private.network_of(client);
  confirmed uuid;
begin
  perform private.take_of_all('confirm', client, 60, 1, 600, 20);
  with tried as (
    update private.signups s set
      tries = s.tries + (s.network = asking)::integer,
      tries_elsewhere = s.tries_elsewhere + (s.network <> asking)::integer
     where s.email = signup_confirm.email and s.link_digest is null
       and case when s.network = asking then s.tries else s.tries_elsewhere end < 5
       and s.created_at > at - interval '10 minutes'
    returning s.id, s.code_digest)
  select t.id into confirmed from tried t
   where t.code_digest = any (string_to_array(signup_confirm.code_digest, ' ')) limit 1;
  return query
  update private.signups s set link_digest = signup_confirm.link_digest, confirmed_at = at
   where s.id = confirmed returning at + interval '30 minutes';
end $$;

-- True if a link can still open an account.
create function private.is_open(s private.signups) returns boolean
  language sql stable as $$
  select s.account is null and s.confirmed_at > private.clock() - interval '30 minutes'
$$;

-- Returns what a link is for; no row if it can no longer open anything. Reading it changes nothing, because
-- programs that check mail open links too.
create function api.signup_read(link_digest text)
  returns table (email text, wish text, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
begin
  return query
  select s.email, s.wish, s.confirmed_at + interval '30 minutes' from private.signups s
   where s.link_digest = signup_read.link_digest and private.is_open(s);
end $$;

-- Opens the account of a link with everything that belongs to it, or nothing of it. `link_closed` ends there;
-- `alias_taken` and `address_known` leave the link valid. Of several uses of one link, the first locks its
-- row and the others find it used. `api_key` and `session` hold digests.
create function api.custody_open_account(
  link_digest text, opened uuid, alias text, address text, envelope jsonb, password_hash text,
  api_key jsonb, session jsonb default null)
  returns table (outcome text) language plpgsql security definer set search_path = '' as $$
declare
  used private.signups;
  broken text;
begin
  select s.* into used from private.signups s
   where s.link_digest = custody_open_account.link_digest for update;
  if not found or not private.is_open(used) then
    return query select 'link_closed';
    return;
  end if;
  perform private.open_account(opened, alias, address, envelope);
  insert into private.owners (account, email, password_hash)
  values (opened, used.email, custody_open_account.password_hash);
  update private.signups s set account = opened where s.id = used.id;
  -- An account that the operator invited has none, nor has one where no proxy names the clients.
  if used.network ~ '^[0-9a-f.:/]+$' then
    insert into private.sign_up_networks values (opened, used.network);
  end if;
  insert into private.credentials (account, digest, label, shown, scopes, expires_at,
    max_per_payment_usd_micros, max_per_day_usd_micros)
  values (opened, api_key ->> 'digest', 'First key', api_key ->> 'shown', array['pay'],
    private.clock() + interval '90 days', 50000000, 200000000);
  if session is not null then
    perform private.open_session(opened, session ->> 'digest', 'sign_up', session ->> 'user_agent',
      session ->> 'client', browser => session ->> 'browser');
  end if;
  insert into private.activities (account, category, type, summary)
  values (opened, 'account', 'account_opened', 'The account was opened, with its first API key.');
  return query select 'opened';
exception when unique_violation then
  get stacked diagnostics broken = constraint_name;
  case broken
    when 'owners_email_key' then return query select 'address_known';
    when 'accounts_alias_key', 'accounts_alias_look' then return query select 'alias_taken';
    else raise;
  end case;
end $$;

grant execute on function api.check_aliases, api.signup_request, api.signup_confirm, api.signup_read to
  service_role;
grant execute on function api.custody_open_account to custody;
