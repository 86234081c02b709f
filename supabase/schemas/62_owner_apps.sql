-- Connected apps, as the owner meets, sees and ends them.

-- Returns what the owner has to know before granting an app access: the limit that the caps start from, and the other
-- apps with the same name, the latest first.
create function api.owner_meet_app(
  credential text, client_id text, name text, redirect_host text)
  returns table (automatic_daily_limit_usd_micros text, namesakes jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select
    a.automatic_daily_limit_usd_micros::text,
    (select coalesce(jsonb_agg(jsonb_build_object('app', k.id, 'since', k.created_at,
        'host', g.client_host, 'redirect_host', g.redirect_host)
        order by k.created_at desc), '[]')
      from private.credentials k join private.oauth_grants g on g.credential = k.id
     where k.account = a.id and private.is_grant_live(k) and lower(k.label) = lower(name)
       and (g.client_id, g.redirect_host)
         is distinct from (owner_meet_app.client_id, owner_meet_app.redirect_host))
    from private.accounts a where a.id = caller.account;
end $$;

-- Returns the apps of the account: connected ones first, then the latest of the others.
create function api.owner_list_apps(credential text, listed_max integer)
  returns table (app uuid, name text, host text, redirect_host text, scopes text[],
    caps jsonb, live boolean, ended_because text, created_at timestamptz,
    expires_at timestamptz, last_used_on date, spent_usd_micros text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select k.id, k.label, g.client_host, g.redirect_host, k.scopes,
    private.caps_json(k.id), private.is_grant_live(k), g.ended_because, k.created_at,
    k.expires_at, k.last_used_on, private.spent_by_agent(k)
    from private.credentials k join private.oauth_grants g on g.credential = k.id
   where k.account = caller.account and k.kind = 'oauth'
   order by private.is_grant_live(k) desc, k.created_at desc, k.id limit listed_max;
end $$;

-- Ends the access of one app, or of all connected ones, at once: each of their tokens is refused at its next
-- call. Returns how many it ended; those that were already ended stay as they are.
create function api.owner_disconnect_apps(credential text, app uuid default null)
  returns table (disconnected integer)
  language plpgsql security definer set search_path = '' as $$
declare
  -- Waits for what is being signed for an app; nothing of it is answered after this.
  caller private.credentials := private.admit_owner(credential, 'end');
  k private.credentials;
begin
  disconnected := 0;
  -- A code that was not redeemed yet would reconnect the app after it was disconnected.
  perform private.spend_codes(caller.account, app);
  for k in select x.* from private.credentials x
   where x.account = caller.account and x.kind = 'oauth' and x.id = coalesce(app, x.id)
   order by x.id for no key update
  loop
    if private.end_grant(k.id, 'disconnected') then
      disconnected := disconnected + 1;
      perform private.record_app(k, 'app_disconnected', 'The app at %s was disconnected.');
    end if;
  end loop;
  return next;
end $$;

-- Gives a grant other scopes and ends its tokens that could do more.
create function private.give_scopes(app uuid, given text[]) returns void language sql as $$
  update private.credentials k set scopes = given where k.id = app;
  delete from private.access_tokens t
   where t.granted = app and not private.covers_all(given, t.scopes)
$$;

-- Changes what a connected app may do. More takes a fresh proof, as naming an app that does not exist does
-- (`missing`), and reaches the app with its next token. Less holds at once: tokens that could do more are refused.
create function api.owner_set_app_scopes(
  credential text, app uuid, scopes text[], mail jsonb default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'tighten');
  k private.credentials;
begin
  if cardinality(scopes) not between 1 and 4 or not scopes <@ array['read', 'vault', 'pay', 'full'] then
    perform private.refuse('invalid_request', '400');
  end if;
  perform private.hold_live(caller);
  -- A code that is not redeemed yet would restore the scopes that it was issued with.
  perform private.spend_codes(caller.account, app);
  select x.* into k from private.credentials x
   where x.id = app and x.account = caller.account and private.is_grant_live(x) for no key update;
  outcome := case when k.id is null then 'missing'
    when k.scopes @> owner_set_app_scopes.scopes and k.scopes <@ owner_set_app_scopes.scopes then 'same'
    when private.covers_all(k.scopes, owner_set_app_scopes.scopes) then 'lowered'
    else 'raised' end;
  if outcome in ('missing', 'raised') then
    perform private.admit_owner(credential, 'widen');
  end if;
  if outcome = 'raised' then
    perform private.hold_unfrozen(caller);
    perform private.enqueue_mail(caller.account, mail);
  end if;
  if outcome in ('raised', 'lowered') then
    perform private.give_scopes(k.id, owner_set_app_scopes.scopes);
    update private.accounts a set facts_version = a.facts_version + 1 where a.id = caller.account;
    perform private.record_app(k, 'app_scopes_' || outcome, 'What the app at %s may do was changed: '
      || pg_catalog.array_to_string(owner_set_app_scopes.scopes, ', ') || '.');
  end if;
  return next;
end $$;

grant execute on function api.owner_meet_app, api.owner_list_apps, api.owner_disconnect_apps,
  api.owner_set_app_scopes to service_role;
