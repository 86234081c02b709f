-- "It was not me": the owner ends everything that was made in the account since a time, by one act. What is
-- older than the owner's proof stays, so somebody who made a way in can end nothing that was there before it.

-- Changes that widened permissions, with the earlier value, so that it can be restored. Kept for 90 days.
create table private.widenings (
  id bigint generated always as identity primary key,
  account uuid not null references private.accounts,
  at timestamptz not null default private.clock(),
  kind text not null check (kind in
    ('limit', 'caps', 'app_scopes', 'reads_secrets', 'shows_codes', 'takes_codes', 'mandate', 'freeze')),
  -- The limit, key, app, login or mandate that was widened.
  subject text not null,
  before jsonb not null,
  summary text not null
);
create index widenings_of_account on private.widenings (account, at);
create index widenings_age on private.widenings (at);
alter table private.widenings enable row level security;

-- Passkeys that somebody removed, so that the owner can restore one. Kept for 90 days.
create table private.removed_passkeys (
  like private.passkeys including defaults,
  removed_at timestamptz not null default private.clock(),
  -- True if it was reported as lost and a password replaced it.
  was_lost boolean not null default false
);
create index removed_passkeys_of_account on private.removed_passkeys (account, removed_at);
create index removed_passkeys_by_id on private.removed_passkeys (id);
create index removed_passkeys_age on private.removed_passkeys (removed_at);
alter table private.removed_passkeys enable row level security;

create function private.note_widening(
  caller private.credentials, kind text, subject text, before jsonb, summary text)
  returns void language sql as $$
  insert into private.widenings (account, kind, subject, before, summary)
  values (caller.account, kind, subject, before, summary)
$$;

create type private.made as (kind text, id text, name text, at timestamptz);

-- Returns everything of an account that lets somebody in or pay, with the time when it was made. It lists
-- what is in force now, without sessions. A name may be chosen by whoever made it.
create function private.list_made(caller private.credentials) returns setof private.made
  language plpgsql stable as $$
begin
  return query
  select 'passkey', p.id, p.label, p.created_at from private.passkeys p
   where p.account = caller.account
  union all
  select k.kind, k.id::text, case k.kind when 'oauth' then k.shown else k.label || ' (' || k.shown || ')' end,
      k.created_at from private.credentials k
   where k.account = caller.account and private.is_agent_live(k)
  union all
  select 'recovery_codes', '', count(*) filter (where r.used_at is null) || ' codes', max(greatest(r.created_at, r.used_at))
    from private.recovery_codes r where r.account = caller.account
  having count(*) filter (where r.used_at is null) > 0
  union all
  select 'password', '', 'Your password', o.password_set_at from private.owners o
   where o.account = caller.account and o.password_hash is not null
  union all
  select 'push_device', d.id::text, d.label, d.created_at from private.push_devices d
   where d.account = caller.account
  union all
  select 'recipient', r.address, r.address, r.known_since from private.known_recipients r
   where r.account = caller.account
  union all
  select 'device', d.key || ' ' || d.fingerprint, left(d.fingerprint, 8) || ' of ' || k.shown,
      d.known_since from private.known_devices d join private.credentials k on k.id = d.key
   where d.account = caller.account
  union all
  select 'mandate', m.id::text, m.merchant_domain, m.decided_at from private.mandates m
   where m.account = caller.account and m.state in ('active', 'suspended')
     and m.expires_at > private.clock()
  union all
  select 'destination', p.id::text, e.site, p.approved_at from private.vault_destinations p
    join private.vault_entries e on e.id = p.entry
   where p.account = caller.account and p.approved_at is not null;
end $$;

-- True if a session was the owner's at a time: it was then proven with a passkey that is older than `since`,
-- when nobody else was in.
create function private.was_owner(session uuid, at timestamptz, since timestamptz)
  returns boolean language sql stable as $$
  select exists (select from private.sessions s
      join private.credentials c on c.id = s.credential
      join private.passkeys p on p.id = s.proven_by and p.account = c.account
    where s.credential = session and p.created_at <= since
      and s.proven_at between at - interval '10 minutes' and at)
$$;

-- True if the owner, as far as they are known, ended a key or app between two times: in this session or in
-- one that was certainly the owner's, because any other may be a thief's. An app that ended by itself counts
-- as ended too.
create function private.is_ended_here(
  caller private.credentials, k private.credentials, since timestamptz, until timestamptz)
  returns boolean language sql stable as $$
  select k.revoked_at > since and k.revoked_at <= until
    and (k.revoked_by is not distinct from caller.id
      or private.was_owner(k.revoked_by, k.revoked_at, since)
      or exists (select from private.oauth_grants g
        where g.credential = k.id and g.ended_because in ('reused', 'revoked by the app')))
$$;

-- True if the owner does not vouch for a key or app: it was made since, or ended by the owner
-- (private.is_ended_here). A reconnected app is ended together with the grant that replaced its earlier one.
create function private.is_disowned(
  caller private.credentials, k private.credentials, since timestamptz, until timestamptz)
  returns boolean language sql stable as $$
  select k.created_at > since or exists (select from private.credentials x
    where x.account = k.account and (x.id = k.id or k.kind = 'oauth' and x.kind = 'oauth'
        and private.budget_of(x) = private.budget_of(k) and x.created_at >= k.created_at)
      and private.is_ended_here(caller, x, since, until))
$$;

-- Returns what was made after `since`. To that list belong logins that were stored in the vault since: by the
-- owner in another session, by a link, or by a key or app that the owner did not vouch for at `until`. For
-- each thing that was widened since, it holds the first change, which has the value from before; of freezes
-- that were lifted, only one that is older than `since`. With the same `until` the list of what was made by
-- then only shrinks: nothing older than the list that was shown enters it later, except what somebody else
-- changed since.
create function private.list_made_since(
  caller private.credentials, since timestamptz, until timestamptz)
  returns setof private.made language sql stable as $$
  select m.* from private.list_made(caller) m where m.at > since
  union all
  select 'entry', e.id::text, pg_catalog.btrim(e.username || ' at ' || e.site), e.created_at
    from private.vault_entries e left join private.credentials k on k.id = e.maker
   where e.account = caller.account and e.created_at > since and case
     when e.session is not null then e.session <> caller.id
     else k.id is null or private.is_disowned(caller, k, since, until) end
  union all
  select 'widening', w.id::text, w.summary, w.at from (
    select distinct on (x.kind, x.subject) x.* from private.widenings x
     where x.account = caller.account and x.at > since
       and (x.kind <> 'freeze' or (x.before ->> 'frozen_at')::timestamptz <= since)
     order by x.kind, x.subject, x.id) w
$$;

-- Returns what was made by `until`, oldest first and as many as a page shows, with the number of further
-- ones.
create function private.made_json(
  caller private.credentials, since timestamptz, until timestamptz)
  returns table (made jsonb, left_out integer) language sql stable as $$
  with all_made as (
    select m.*, row_number() over (order by m.at, m.kind, m.id) as place
      from private.list_made_since(caller, since, until) m where m.at <= until)
  select coalesce(jsonb_agg(jsonb_build_object('kind', m.kind, 'id', m.id, 'name', m.name,
      'at', private.terms_time(m.at)) order by m.place) filter (where m.place <= 500), '[]'),
    greatest(count(*)::integer - 500, 0)
  from all_made m
$$;

-- Returns a digest of the list that the owner sees: of this account alone, and of these two times.
create function private.made_digest(
  caller private.credentials, since timestamptz, until timestamptz) returns text
  language sql stable as $$
  select private.consent_digest(jsonb_build_object('v', 1, 'type', 'not_me',
    'account_id', caller.account, 'since', extract(epoch from since)::text,
    'until', extract(epoch from until)::text))
$$;

-- True if an account had a passkey that makes its password invalid as a proof: one that is older than `since`
-- or than three days, even if it was removed in the last three days.
create function private.had_passkey(of_account uuid, since timestamptz) returns boolean
  language sql stable as $$
  select exists (
    select from (
      select p.account, p.created_at from private.passkeys p
      union all
      select r.account, r.created_at from private.removed_passkeys r
       where r.removed_at > private.clock() - interval '72 hours' and not r.was_lost) k
     where k.account = of_account
       and k.created_at <= greatest(since, private.clock() - interval '72 hours'))
$$;

-- Returns the time since which the owner may end what was made, or refuses. That is never before the passkey
-- of the session's proof was made, or before somebody could prove anything with the password. A password is valid despite passkeys that were all added
-- since, within the last three days: until then, whoever knew the password was the owner. After a recovery a
-- password is not valid, unless the recovery code was made since as well.
create function private.admit_undoing(credential text, since timestamptz)
  returns timestamptz language plpgsql as $$
declare
  caller private.credentials := private.admit_owner(credential);
  o private.owners;
  s private.sessions;
  proof_made timestamptz;
begin
  select x.* into o from private.owners x where x.account = caller.account;
  select x.* into s from private.sessions x where x.credential = caller.id
     and x.proven_at > private.clock() - interval '10 minutes';
  proof_made := case when s.proven_by is null
      then coalesce(o.password_since, caller.created_at)
    else (select p.created_at from private.passkeys p
      where p.id = s.proven_by and private.counts_in(s, p.id)) end;
  if s.credential is null or proof_made is null then
    perform private.refuse('proof_required', '403');
  end if;
  since := greatest(since, proof_made, private.clock() - interval '90 days');
  if s.proven_by is null then
    if private.needs_passkey(caller.account) and private.had_passkey(caller.account, since) then
      perform private.refuse('passkey_required', '403');
    end if;
    if private.is_guarded(caller) and coalesce(o.guarding_since, '-infinity') <= since then
      perform private.refuse('account_guarded', '403');
    end if;
  end if;
  return since;
end $$;

-- Returns what was made since a time, for the owner to end: the time it counts from, up to now, the digest
-- that the form has to send, the number of waiting payments, and the passkeys that were removed since and can
-- be restored.
create function api.owner_list_made(credential text, since timestamptz)
  returns table (counts_from timestamptz, until timestamptz, made jsonb, left_out integer,
    digest text, waiting integer, removed_passkeys jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  counts_from := private.admit_undoing(credential, since);
  until := private.clock();
  select m.made, m.left_out into made, left_out
    from private.made_json(caller, counts_from, until) m;
  digest := private.made_digest(caller, counts_from, until);
  select count(*) into waiting from private.payments p
   where p.account = caller.account and p.state = 'awaiting_confirmation'
     and p.created_at > counts_from and p.expires_at > until;
  select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'label', r.label,
      'created_at', r.created_at, 'removed_at', r.removed_at) order by r.removed_at), '[]')
    into removed_passkeys from private.removed_passkeys r
   where r.account = caller.account and r.created_at <= counts_from and r.removed_at > counts_from;
  return next;
end $$;

-- Ends the ways in that were made since: keys, apps, passkeys and recovery codes, and every other session. A
-- revoked key can freeze the account for three more days; one that was made since cannot.
create function private.end_ways_in(
  caller private.credentials, made private.made[], since timestamptz)
  returns void language plpgsql as $$
declare
  k private.credentials;
begin
  for k in select x.* from private.credentials x join unnest(made) m on m.id = x.id::text
   where m.kind in ('api_key', 'oauth') and x.account = caller.account order by x.id for no key update of x
  loop
    if k.kind = 'oauth' then
      perform private.end_grant(k.id, 'disconnected', caller.id);
    else
      update private.credentials x set revoked_at = private.clock(), revoked_by = caller.id
       where x.id = k.id;
      perform private.close_requests(k, 'owner');
    end if;
  end loop;
  update private.credentials x set expires_at = least(x.expires_at, private.clock()), brakes_until = null
   where x.account = caller.account and x.kind = 'api_key' and x.created_at > since
     and (x.revoked_at is not null or x.brakes_until is not null);
  delete from private.passkeys p using unnest(made) m
   where p.account = caller.account and m.kind = 'passkey' and m.id = p.id;
  delete from private.push_devices d using unnest(made) m
   where d.account = caller.account and m.kind = 'push_device' and m.id = d.id::text;
  delete from private.recovery_codes r where r.account = caller.account
    and exists (select from unnest(made) m where m.kind = 'recovery_codes');
  perform private.end_other_sessions(caller);
end $$;

-- Ends what was trusted since, and closes requests that were made since and wait.
create function private.end_trust(
  caller private.credentials, made private.made[], since timestamptz)
  returns void language plpgsql as $$
begin
  -- By time and not by the list, because there may be very many of these.
  delete from private.known_recipients r where r.account = caller.account and r.known_since > since;
  delete from private.known_devices d where d.account = caller.account and d.known_since > since;
  update private.mandates x set state = 'revoked', revoked_at = private.clock(), revoked_by = 'owner'
    from unnest(made) m where x.account = caller.account and m.kind = 'mandate'
     and m.id = x.id::text and x.state in ('active', 'suspended');
  update private.mandates x set state = 'declined', decided_at = private.clock()
   where x.account = caller.account and x.state = 'pending_approval' and x.created_at > since;
  perform private.release_under(array(select m.id::uuid from unnest(made) m where m.kind = 'mandate'));
  -- Each state by its own index, because a key can enter very many payments that are over.
  update private.payments p set state = 'declined', finality = null
   where p.id in (
       select u.id from private.payments u
        where u.account = caller.account and u.state in ('prepared', 'awaiting_confirmation')
       union all
       select r.id from private.payments r where r.account = caller.account and r.state = 'authorized')
     and p.state in ('prepared', 'awaiting_confirmation', 'authorized')
     and (p.created_at > since or exists (select from private.approvals a
       where a.payment = p.id and a.decision = 'approved' and a.decided_at > since));
  update private.hosted_actions h set declined_at = private.clock()
   where h.account = caller.account and h.created_at > since
     and h.expires_at > private.clock() and num_nonnulls(h.declined_at, h.finished_at) = 0;
  delete from private.vault_destinations p using unnest(made) m
   where p.account = caller.account and m.kind = 'destination' and m.id = p.id::text;
  delete from private.vault_destinations p
   where p.account = caller.account and p.approved_at is null and p.asked_at > since;
  delete from private.vault_entries e using unnest(made) m
   where e.account = caller.account and m.kind = 'entry' and m.id = e.id::text;
  perform private.erase_site_answers(caller.account);
end $$;

-- Restores what was widened since to the first earlier value; what was narrowed meanwhile stays narrower.
create function private.undo_widenings(
  caller private.credentials, made private.made[], since timestamptz)
  returns void language plpgsql as $$
declare
  w private.widenings;
  micros bigint;
begin
  for w in select x.* from private.widenings x
    join unnest(made) m on m.kind = 'widening' and m.id = x.id::text
   where x.account = caller.account order by x.id
  loop
    micros := (w.before ->> 'micros')::bigint;
    case w.kind
    when 'limit' then
      update private.accounts a set
        automatic_daily_limit_usd_micros = least(a.automatic_daily_limit_usd_micros,
          case w.subject when 'automatic_daily' then micros end),
        asserted_daily_limit_usd_micros = least(a.asserted_daily_limit_usd_micros,
          case w.subject when 'asserted_daily' then micros end),
        asserted_new_recipient_limit_usd_micros = least(a.asserted_new_recipient_limit_usd_micros,
          case w.subject when 'asserted_new_recipient' then micros end),
        daily_spending_cap_usd_micros = least(a.daily_spending_cap_usd_micros,
          case w.subject when 'daily_spending_cap' then micros end)
       where a.id = caller.account;
    when 'caps' then
      update private.credentials k set
        max_per_payment_usd_micros =
          least(k.max_per_payment_usd_micros, (w.before ->> 'payment')::bigint),
        max_per_day_usd_micros = least(k.max_per_day_usd_micros, (w.before ->> 'day')::bigint)
       where k.id = w.subject::uuid;
    when 'app_scopes' then
      perform private.give_scopes(k.id, array(select jsonb_array_elements_text(w.before -> 'scopes')))
        from private.credentials k where k.id = w.subject::uuid
         and not private.covers_all(
           array(select jsonb_array_elements_text(w.before -> 'scopes')), k.scopes);
    when 'reads_secrets' then
      update private.credentials k set reads_secrets = false where k.id = w.subject::uuid;
    when 'shows_codes' then
      update private.accounts a set shows_codes = false where a.id = caller.account;
    when 'takes_codes' then
      update private.vault_entries e set takes_codes = false where e.id = w.subject::uuid;
    when 'mandate' then
      update private.mandates x set state = 'suspended'
       where x.id = w.subject::uuid and x.state = 'active';
      perform private.release_under(array[w.subject::uuid]);
    when 'freeze' then
      perform private.freeze(caller.account,
        'The account was frozen again: somebody else had unfrozen it.');
    end case;
  end loop;
  delete from private.widenings x where x.account = caller.account and x.at > since;
end $$;

-- Restores passkeys that were removed since and were created before.
create function private.put_back_passkeys(
  caller private.credentials, put_back text[], since timestamptz)
  returns void language sql as $$
  with taken as (
    delete from private.removed_passkeys r where r.account = caller.account
       and r.id = any (put_back) and r.created_at <= since and r.removed_at > since
    returning r.*)
  insert into private.passkeys (id, account, public_key, counter, transports, label, is_first,
    vouched_since, created_at, last_used_at)
  select distinct on (t.id) t.id, t.account, t.public_key, t.counter, t.transports, t.label,
    t.is_first, t.vouched_since, t.created_at, t.last_used_at from taken t order by t.id, t.removed_at
  on conflict do nothing
$$;

-- Sets the new password, because somebody who knew the old one could otherwise return, and undoes what a
-- thief may have started: a recovery, passkeys reported as lost, and notices that are left out.
create function private.reset_owner(
  caller private.credentials, new_hash text, since timestamptz)
  returns void language plpgsql as $$
begin
  update private.owners o set passkey_until = null, muted = '{}',
    passkeys_lost_at = case when o.passkeys_lost_at <= since then o.passkeys_lost_at end,
    guarded_until = case when o.guarded_until <= since + interval '72 hours' then o.guarded_until end
   where o.account = caller.account and (o.password_hash is null or new_hash is not null);
  if not found then
    perform private.refuse('invalid_request', '400');
  end if;
  if new_hash is not null then
    perform private.keep_password(caller, new_hash);
  end if;
end $$;

-- Ends everything that was made since a time, in one transaction, and restores what can be restored. Nothing
-- happens (`changed`) if the list was shown for another account or for other times. What was made after the
-- list was shown ends as well, and items that are gone meanwhile do not protect others. The session continues
-- under another id.
create function api.owner_end_made(
  credential text, since timestamptz, until timestamptz, digest text,
  session_digest text, put_back text[] default '{}', password_hash text default null,
  mail jsonb default null)
  returns table (outcome text, account_opened uuid, expires_at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
  counts_from timestamptz;
  made private.made[];
  told text;
begin
  perform private.hold_live(caller);
  perform private.spend_codes(caller.account);
  counts_from := private.admit_undoing(credential, since);
  -- A sign-in with the password that runs now holds this row: its session ends as well.
  perform from private.owners o where o.account = caller.account for no key update;
  if owner_end_made.digest is distinct from private.made_digest(caller, since, until) then
    outcome := 'changed';
    return next;
    return;
  end if;
  made := array(select m from private.list_made_since(caller, counts_from, until) m
    where m.kind not in ('recipient', 'device'));
  select string_agg(t.kind || ' ' || t.n, ', ' order by t.kind) into told from (
    select replace(replace(m.kind, '_', ' '), 'oauth', 'app') as kind, count(*) as n
      from private.list_made_since(caller, counts_from, until) m group by 1) t;
  perform private.end_ways_in(caller, made, counts_from);
  perform private.end_trust(caller, made, counts_from);
  perform private.undo_widenings(caller, made, counts_from);
  perform private.put_back_passkeys(caller, put_back, counts_from);
  perform private.reset_owner(caller, password_hash, counts_from);
  update private.accounts a set facts_version = a.facts_version + 1 where a.id = caller.account;
  perform private.record_change(caller, 'security', 'undone', pg_catalog.format(
    'The owner ended what was made in the account since %s UTC: %s.',
    to_char(counts_from at time zone 'UTC', 'YYYY-MM-DD HH24:MI'),
    coalesce(told, 'nothing')));
  perform private.enqueue_mail(caller.account, mail);
  return query select 'ended', n.account_opened, n.expires_at
    from private.rename_session(caller, session_digest) n;
end $$;
grant execute on function api.owner_list_made, api.owner_end_made to service_role;
