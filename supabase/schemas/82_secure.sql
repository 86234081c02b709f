-- "Secure my account": one act of the owner ends every way in but the one that it was proven with, and everything
-- that waits or is trusted. Nothing is guessed about who made what. What ended is kept as a list, from which the
-- owner makes it again.

-- List of what ended as an account was secured, in the form of private.what_ends.
create table private.secured (
  account uuid primary key references private.accounts,
  at timestamptz not null default private.clock(),
  ended jsonb not null
);
alter table private.secured enable row level security;

-- Ends all keys, apps and other sessions of an account, with what they asked for, and all mandates, links, waiting
-- payments and a change of the mail address. `by` is who ends them: the owner or the service. The caller holds the
-- account's lock.
create function private.end_access(of_account uuid, by text, kept uuid default null) returns void
  language plpgsql as $$
declare
  k private.credentials;
begin
  for k in select x.* from private.credentials x where x.account = of_account
    and x.revoked_at is null and x.id is distinct from kept order by x.id
  loop
    if k.kind = 'oauth' then
      perform private.end_grant(k.id, 'disconnected');
    else
      update private.credentials x set revoked_at = private.clock() where x.id = k.id;
      perform private.close_requests(k, by) where k.kind = 'api_key';
    end if;
  end loop;
  perform private.spend_codes(of_account);
  delete from private.mail_changes m where m.account = of_account;
  update private.mandates m set state = 'revoked', revoked_at = private.clock(), revoked_by = by
   where m.account = of_account and m.state in ('pending_approval', 'active', 'suspended');
  update private.payments p set state = 'expired', finality = null,
    failure = 'all requests of the account were closed'
   where p.account = of_account and p.state in ('prepared', 'awaiting_confirmation');
  update private.hosted_actions h set declined_at = private.clock()
   where h.account = of_account and h.expires_at > private.clock()
     and num_nonnulls(h.declined_at, h.finished_at) = 0;
end $$;

-- Returns what ends if this session secures its account: each with its kind, its name and what its form needs. An
-- account lists at most 200 items, the latest of each kind first.
create function private.what_ends(caller private.credentials) returns jsonb
  language sql stable as $$
  select coalesce(jsonb_agg(e.item order by e.rank, e.at desc), '[]') from (
    select i.item, i.rank, i.at from (
      select 1 as rank, k.created_at as at, jsonb_build_object('kind', k.kind, 'id', k.id, 'name', case k.kind
          when 'oauth' then k.shown else k.label end, 'scope', k.scopes[1],
        'usd_per_payment', private.usd_text(k.max_per_payment_usd_micros),
        'usd_per_day', private.usd_text(k.max_per_day_usd_micros)) as item
        from private.credentials k where k.account = caller.account and private.is_agent_live(k)
          -- Keys that the service acts as for the owner end with their rules.
          and not exists (select from private.mandates m where m.key = k.id and m.purpose is not null)
      union all
      select 2, m.created_at, jsonb_build_object('kind', 'mandate', 'id', m.id, 'name', m.merchant_domain)
        from private.mandates m where m.account = caller.account and m.state in ('active', 'suspended')
          and m.expires_at > private.clock()
      union all
      select 3, r.known_since, jsonb_build_object('kind', 'recipient', 'id', r.address,
          'name', coalesce(a.alias, r.address))
        from private.known_recipients r left join private.wallets w on w.address = r.address
        left join private.accounts a on a.id = w.account where r.account = caller.account
      union all
      select 4, null, jsonb_build_object('kind', 'limit', 'id', l.name, 'name', private.limit_words(l.name),
          'usd', private.usd_text(l.before))
        from private.accounts a
        cross join lateral private.limit_changes(a, to_jsonb(private.limits_of_new())) l
       where a.id = caller.account and l.outcome = 'lowered'
      union all
      select 5, p.created_at, jsonb_build_object('kind', 'passkey', 'id', p.id, 'name', p.label)
        from private.passkeys p where p.account = caller.account
         and p.id is distinct from (select s.proven_by from private.sessions s where s.credential = caller.id)
      union all
      select 6, d.approved_at, jsonb_build_object('kind', 'destination', 'id', e.id, 'name', e.site)
        from private.vault_destinations d join private.vault_entries e on e.id = d.entry
       where d.account = caller.account and d.approved_at is not null
      union all
      select 7, d.created_at, jsonb_build_object('kind', 'push_device', 'id', d.id, 'name', d.label)
        from private.push_devices d where d.account = caller.account
    ) i order by i.rank, i.at desc limit 200) e
$$;

-- Returns what would end now, and what ended when the account was last secured.
create function api.owner_read_secured(credential text)
  returns table (ends jsonb, secured_at timestamptz, ended jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'secure');
begin
  return query select private.what_ends(caller), s.at, s.ended
    from (select) one left join private.secured s on s.account = caller.account;
end $$;

-- Ends trust: limits become those of a new account unless they are lower, and no recipient, device, destination of a
-- secret or browser for notices stays known.
create function private.end_trust(of_account uuid) returns void language sql as $$
  update private.accounts a set facts_version = a.facts_version + 1, shows_codes = false,
    automatic_daily_limit_usd_micros = least(a.automatic_daily_limit_usd_micros, n.automatic_daily),
    asserted_daily_limit_usd_micros = least(a.asserted_daily_limit_usd_micros, n.asserted_daily),
    asserted_new_recipient_limit_usd_micros
      = least(a.asserted_new_recipient_limit_usd_micros, n.asserted_new_recipient),
    daily_spending_cap_usd_micros = least(a.daily_spending_cap_usd_micros, n.daily_spending_cap),
    monthly_spending_cap_usd_micros = least(a.monthly_spending_cap_usd_micros, n.monthly_spending_cap)
    from private.limits_of_new() n where a.id = of_account;
  delete from private.known_recipients r where r.account = of_account;
  delete from private.known_devices d where d.account = of_account;
  delete from private.vault_destinations d where d.account = of_account;
  update private.vault_entries e set takes_codes = false where e.account = of_account and e.takes_codes;
  delete from private.push_devices d where d.account = of_account;
$$;

-- Secures the account, in one transaction: freezes it, ends all access and all trust, every passkey but that of the
-- proof, all recovery codes and the password, in whose place the new one comes. The session goes on under another id.
create function api.owner_secure(
  credential text, session_digest text, password_hash text default null, mail jsonb default null)
  returns table (account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'secure');
  listed jsonb := private.what_ends(caller);
begin
  -- A sign-in with the password that runs now holds this row: its session ends as well.
  update private.owners o set password_hash = owner_secure.password_hash,
    password_set_at = private.clock(), muted = '{}'
   where o.account = caller.account
     and (o.password_hash is null) = (owner_secure.password_hash is null);
  if not found then
    perform private.refuse('invalid_request', '400');
  end if;
  perform private.freeze(caller.account, 'The account was frozen because its owner secured it.');
  perform private.end_access(caller.account, 'owner', caller.id);
  perform private.forget_browsers(caller);
  perform private.end_trust(caller.account);
  delete from private.passkeys p where p.account = caller.account
    and p.id is distinct from (select s.proven_by from private.sessions s where s.credential = caller.id);
  delete from private.recovery_codes r where r.account = caller.account;
  insert into private.secured as s values (caller.account, private.clock(), listed)
  -- Keeps what ended before on the list.
  on conflict (account) do update set at = excluded.at, ended = (select jsonb_agg(e.item order by e.n)
    from jsonb_array_elements(excluded.ended || s.ended) with ordinality e (item, n) where e.n <= 200);
  perform private.erase_site_answers(caller.account);
  perform private.record_change(caller, 'security', 'account_secured',
    'The owner secured the account: all keys, apps, other sessions, mandates and requests ended, and limits and recipients are those of a new account.');
  perform private.enqueue_mail(caller.account, mail);
  return query select * from private.rename_session(caller, session_digest);
end $$;

grant execute on function api.owner_read_secured, api.owner_secure to service_role;
