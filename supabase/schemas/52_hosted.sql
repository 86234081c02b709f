-- Hosted actions: what an agent asks a person to do on a page, by a link that works in one browser. The link
-- does nothing that widens permissions; for that the owner signs in. It can do only what its creator could
-- still ask for, and nothing once the creator's credential has ended.

create table private.hosted_actions (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  credential uuid not null references private.credentials,
  type text not null check (type in ('login', 'deposit', 'walletconnect', 'human_verification',
    'website_login')),
  -- HMAC of the link's token with a pepper that the database never sees.
  token_digest text not null unique check (token_digest ~ '^[0-9a-f]{64}$'),
  -- Chain and tokens that have to arrive; null where the person may choose. One symbol has an address on each
  -- chain.
  chain bigint,
  tokens text[],
  -- The request that the page shows: chain, token, amount, site, username, return_url.
  asked jsonb not null,
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz not null,
  -- The browser that opened it, as a digest of its form cookie: of two people with the link only one uses it.
  browser text check (browser ~ '^[0-9a-f]{64}$'),
  opened_at timestamptz,
  -- The newest deposit in the feed at that time; the deposit that the action waits for comes later.
  opened_after bigint,
  -- For walletconnect: the wallet that the person connected, from which the money has to come.
  wallet text check (wallet ~ '^0x[0-9a-fA-F]{40}$'),
  -- For website_login: what was stored in the vault, {credential_id, site}.
  entered jsonb,
  declined_at timestamptz,
  finished_at timestamptz,
  check ((browser is null) = (opened_at is null)),
  check (num_nonnulls(declined_at, finished_at) <= 1)
);
alter table private.hosted_actions enable row level security;
create index hosted_actions_account on private.hosted_actions (account, expires_at);
create index hosted_actions_age on private.hosted_actions (expires_at);

-- Returns the scope that is needed to create a link of this type.
create function private.hosted_action_scope(type text) returns text language sql immutable as $$
  select case type when 'website_login' then 'vault' else 'read' end
$$;

-- Returns when an action ends: with its key or app at the latest. If that lacks the scope, the action has
-- ended already, and its creation time is returned.
create function private.hosted_action_end(a private.hosted_actions) returns timestamptz
  language sql stable as $$
  select case when private.scope_covers(k.scopes, private.hosted_action_scope(a.type))
    then least(a.expires_at, k.expires_at, k.revoked_at) else a.created_at end
    from private.credentials k where k.id = a.credential
$$;

-- Returns the deposit that an opened action waits for. It is looked up and never stored, so a deposit that
-- the chain took back finishes nothing.
create function private.hosted_action_deposit(a private.hosted_actions) returns uuid
  language sql stable as $$
  select d.id from private.activities v join private.deposits d on d.id = v.deposit
   where a.type in ('deposit', 'walletconnect')
     and v.account = a.account and not v.hidden and v.category = 'deposit'
     and v.id > a.opened_after and v.at <= private.hosted_action_end(a)
     and not d.reorged and (a.chain is null or d.chain = a.chain)
     and (a.tokens is null or d.token = any (a.tokens))
     and (a.type = 'deposit' or lower(d.sender) = lower(a.wallet))
   order by v.id limit 1
$$;

-- Returns when the owner signed in, in any browser, after the link was opened.
create function private.hosted_action_signed_in(a private.hosted_actions) returns timestamptz
  language sql stable as $$
  select min(k.created_at) from private.credentials k
   where a.type = 'login' and k.account = a.account and k.kind = 'session'
     and k.created_at between a.opened_at and private.hosted_action_end(a)
$$;

create function private.hosted_action_status(a private.hosted_actions) returns text
  language sql stable as $$
  select case
    when a.declined_at is not null then 'declined'
    when a.finished_at is not null or private.hosted_action_deposit(a) is not null
      or private.hosted_action_signed_in(a) is not null then 'finished'
    when private.hosted_action_end(a) <= private.clock() then 'expired'
    when a.opened_at is not null then 'opened'
    else 'pending'
  end
$$;

-- Returns an action in the form in which it leaves the database.
create function private.hosted_action_json(a private.hosted_actions) returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'id', a.id, 'type', a.type, 'status', private.hosted_action_status(a), 'asked', a.asked,
    'expires_at', private.hosted_action_end(a), 'wallet', a.wallet,
    'finished_at', coalesce(a.finished_at, private.hosted_action_signed_in(a)),
    'entered', a.entered, 'deposit', private.deposit_json(d.id),
    'sender_known', coalesce(private.recipient_known(a.account, d.sender), false))
  from (select private.hosted_action_deposit(a) as id) found
  left join private.deposits d on d.id = found.id
$$;

-- Creates an action. Returns no row if `pending_max` actions already wait to be opened.
create function api.create_hosted_action(
  credential text, type text, token_digest text, asked jsonb, ttl_seconds integer,
  pending_max integer, chain bigint default null, tokens text[] default null)
  returns table (action_id uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, private.hosted_action_scope(type));
begin
  perform private.ask_for_room(private.budget_of(caller));
  perform pg_catalog.pg_advisory_xact_lock(
    pg_catalog.hashtextextended('hosted_actions:' || caller.account, 0));
  if (select count(*) from private.hosted_actions a
       where a.account = caller.account and a.expires_at > private.clock()
         and a.opened_at is null and a.declined_at is null) >= pending_max then
    return;
  end if;
  return query
  insert into private.hosted_actions as a
    (account, credential, type, token_digest, asked, chain, tokens, expires_at)
  values (caller.account, caller.id, create_hosted_action.type, create_hosted_action.token_digest,
    create_hosted_action.asked, create_hosted_action.chain, create_hosted_action.tokens,
    private.clock() + pg_catalog.make_interval(secs => ttl_seconds))
  returning a.id, private.hosted_action_end(a);
end $$;

-- Returns an action of the caller's account, to a key that reads or could have asked for it.
create function api.hosted_action(credential text, action_id uuid) returns table (action jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'any');
begin
  return query select private.hosted_action_json(a) from private.hosted_actions a
   where a.id = action_id and a.account = caller.account
     and (private.scope_covers(caller.scopes, 'read')
       or private.scope_covers(caller.scopes, private.hosted_action_scope(a.type)));
end $$;

-- Returns what the page of a link may show to a browser. A browser that did not open the link sees only that
-- it is used. Everybody with the link sees the account's alias; its address is shown only to the browser that
-- opened it.
create function private.hosted_action_page(token_digest text, browser text)
  returns table (action jsonb, alias text, address text) language sql stable as $$
  select case when a.browser <> hosted_action_page.browser then null
      else private.hosted_action_json(a) end,
    o.alias, case when a.browser = hosted_action_page.browser then w.address end
  from private.hosted_actions a
  join private.accounts o on o.id = a.account
  join private.wallets w on w.account = a.account and w.chain_family = 'evm'
  where a.token_digest = hosted_action_page.token_digest
$$;

-- Limits the pages behind links per caller, because they act for anybody who has the link.
create function private.limit_link(client text) returns void language sql as $$
  select private.take_of_all('link', client, 120, 10, 1000, 100)
$$;

-- Returns what a link is for, to anybody who has it.
create function api.link_look(token_digest text, browser text, client text)
  returns table (action jsonb, alias text, address text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.limit_link(client);
  return query select * from private.hosted_action_page(token_digest, browser);
end $$;

-- Opens a link for this browser alone, if nobody has opened it. It then lasts one hour, because money takes
-- time to arrive. A link for a site's login can only be opened by the account's owner in a session.
create function api.link_open(
  token_digest text, browser text, client text, credential text default null)
  returns table (action jsonb, alias text, address text)
  language plpgsql security definer set search_path = '' as $$
declare
  visitor private.credentials;
begin
  perform private.limit_link(client);
  if credential is not null then
    visitor := private.admit_owner(credential, 'look');
  end if;
  update private.hosted_actions a set opened_at = private.clock(), browser = link_open.browser,
    expires_at = private.clock() + interval '1 hour', opened_after = coalesce((
      select max(v.id) from private.activities v
       where v.account = a.account and not v.hidden and v.category = 'deposit'), 0)
   where a.token_digest = link_open.token_digest and a.opened_at is null
     and (a.type <> 'website_login' or a.account = visitor.account)
     and private.hosted_action_status(a) = 'pending';
  return query select * from private.hosted_action_page(token_digest, browser);
end $$;

-- Declines an action that is not over, from the browser that opened it or, if none has, from any.
create function api.link_decline(token_digest text, browser text, client text)
  returns table (action jsonb, alias text, address text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.limit_link(client);
  update private.hosted_actions a set declined_at = private.clock()
   where a.token_digest = link_decline.token_digest
     and (a.browser is null or a.browser = link_decline.browser)
     and a.declined_at is null and private.hosted_action_status(a) in ('pending', 'opened');
  return query select * from private.hosted_action_page(token_digest, browser);
end $$;

-- Stores the wallet that the money will come from. This proves nothing; only the transfer counts.
create function api.link_connect(token_digest text, browser text, client text, wallet text)
  returns table (action jsonb, alias text, address text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.limit_link(client);
  update private.hosted_actions a set wallet = link_connect.wallet
   where a.token_digest = link_connect.token_digest and a.browser = link_connect.browser
     and a.type = 'walletconnect' and private.hosted_action_status(a) = 'opened';
  return query select * from private.hosted_action_page(token_digest, browser);
end $$;

-- Records that somebody with the link confirmed to be there. An action is finished here only once.
create function api.link_verify(token_digest text, browser text, client text)
  returns table (action jsonb, alias text, address text)
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.limit_link(client);
  with verified as (
    update private.hosted_actions a set finished_at = private.clock()
     where a.token_digest = link_verify.token_digest and a.browser = link_verify.browser
       and a.type = 'human_verification' and a.finished_at is null
       and private.hosted_action_status(a) = 'opened'
    returning a.account
  )
  insert into private.activities (account, category, type, summary)
  select v.account, 'security', 'human_verified', 'A person confirmed through a link that they are present.'
    from verified v;
  return query select * from private.hosted_action_page(token_digest, browser);
end $$;

-- Finishes a login link that the owner opened while signed in.
create function api.owner_finish_login_link(credential text, token_digest text, browser text)
  returns table (finished boolean) language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  update private.hosted_actions a set finished_at = private.clock()
   where a.token_digest = owner_finish_login_link.token_digest and a.account = caller.account
     and a.browser = owner_finish_login_link.browser and a.type = 'login'
     and a.finished_at is null and private.hosted_action_status(a) = 'opened';
  return query select found;
end $$;

grant execute on function api.create_hosted_action, api.hosted_action, api.link_look, api.link_open,
  api.link_decline, api.link_connect, api.link_verify, api.owner_finish_login_link to service_role;
