-- Mail of accounts: how it arrives, how its account reads it, and what it sends. Sealed parts go only to the
-- role `vault`, which opens them and replaces codes by handles before an agent sees anything.

-- Returns the account that takes mail for an alias; null if none has it, or it is closed.
create function private.receiver_of(alias text) returns uuid language sql stable as $$
  select a.id from private.accounts a where a.alias = receiver_of.alias and a.closed_at is null
$$;

-- Returns true if mail is accepted for an alias, that is, if an open account has it.
create function api.inbound_receives(alias text) returns table (known boolean)
  language sql security definer set search_path = '' as $$
  select private.receiver_of(inbound_receives.alias) is not null
$$;

-- Returns why a mailbox accepts no mail of this size from this author now, or null. The limits are 10,000
-- mails and 100 MB, 500 mails in a day, and 60 in an hour from one author. The last two count mails with a
-- proven author apart from the others, so that somebody who writes in another's name cannot keep theirs
-- out. The mail that fills a limit is found by the order of arrival, so no limit costs more than the mails
-- that it allows.
create function private.mailbox_problem(
  mailbox uuid, author text, unproven boolean, room integer) returns text
  language sql stable as $$
  with held as (select count(*) as mails, coalesce(sum(m.room), 0) as bytes
    from private.mails m where m.account = mailbox)
  select case
    when held.mails >= 10000 or held.bytes + mailbox_problem.room > 104857600 then 'mailbox_full'
    when (select m.at from private.mails m where m.account = mailbox and m.direction = 'in'
        and (m.proven_domain is null) = unproven
        order by m.number desc offset 499 limit 1) > private.clock() - interval '1 day'
      or (select m.at from private.mails m where m.account = mailbox and m.direction = 'in'
        and m.from_address = author and (m.proven_domain is null) = unproven
        order by m.number desc offset 59 limit 1) > private.clock() - interval '1 hour'
      then 'too_many'
  end from held
$$;

-- Decides whether a mail may be read now, which costs up to a second of CPU: 120 at once and one each half
-- minute for a mailbox, counted separately for mails with a proven author and others.
create function private.may_read(mailbox uuid, unproven boolean) returns boolean
  language plpgsql as $$
begin
  perform private.take_slowly(
    'mail:' || mailbox || ':' || unproven, 120, interval '30 seconds');
  return true;
exception when sqlstate 'PT429' then
  return false;
end $$;

-- Checks whether a mail would be stored, before more than its headers are read: `open`; `kept` if it is
-- stored already; or why it is refused. `message` is the id of a mail of the service that this one claims to
-- be; if the account sent that itself, it came back in a loop. A site is in use for 30 minutes after a login
-- there was used or a page of its session was opened.
create function api.inbound_begin(
  alias text, author text, unproven boolean, size integer, digest text,
  message uuid default null)
  returns table (outcome text, sites_in_use text[])
  language plpgsql security definer set search_path = '' as $$
declare
  mailbox uuid := private.receiver_of(inbound_begin.alias);
begin
  outcome := case
    when mailbox is null then 'unknown_recipient'
    when exists (select from private.mails m where m.account = mailbox
      and m.digest = inbound_begin.digest) then 'kept'
    when exists (select from private.mails m where m.account = mailbox
      and m.id = message and m.direction = 'out') then 'loop'
    else coalesce(private.mailbox_problem(mailbox, author, unproven, inbound_begin.size), 'open')
  end;
  if outcome = 'open' and not private.may_read(mailbox, unproven) then
    outcome := 'too_many';
  end if;
  sites_in_use := array(select distinct e.site from private.vault_entries e
    where e.account = mailbox and (e.last_used_at > private.clock() - interval '30 minutes'
      or exists (select from private.vault_sessions s
        where s.entry = e.id and s.expires_at > private.clock() + interval '30 minutes'))
    limit 100);
  return next;
end $$;

-- Returns the account that a mail is sealed for, and its key if it has one.
create function api.inbound_holder(alias text) returns table (account uuid, wrap jsonb)
  language sql security definer set search_path = '' as $$
  select a.id, private.account_key(a.id, 'mail') from private.accounts a
   where a.id = private.receiver_of(inbound_holder.alias)
$$;

-- Gives an account its key for mail unless it has one, and returns the one that it then has.
create function api.inbound_key(alias text, wrap jsonb) returns table (kept jsonb)
  language sql security definer set search_path = '' as $$
  select private.keep_account_key(a.id, 'mail', wrap) from private.accounts a
   where a.id = private.receiver_of(inbound_key.alias)
$$;

-- Returns the topic of a mail that this service sent, as the outbox remembers it for a month.
create function private.own_topic(message uuid) returns text
  language sql stable as $$
  select case when exists (select from private.outbox o
    where o.id = message and o.topic = 'sign_up_code') then 'sign_up_code' else 'notice' end
$$;

-- Stores a mail with its files and codes, all or nothing, and once: `kept`, or why it is refused. Mails of
-- one account are stored one after the other, so that two at once do not exceed a limit, and a reader that
-- continues from a number misses none.
create function api.inbound_keep(
  alias text, mail jsonb, is_own boolean, attachments jsonb, codes jsonb,
  message uuid default null)
  returns table (outcome text)
  language plpgsql security definer set search_path = '' as $$
declare
  problem text;
  mailbox uuid := private.receiver_of(inbound_keep.alias);
  kept private.mails := jsonb_populate_record(null::private.mails, mail);
begin
  kept.room := greatest(kept.size, octet_length(kept.sealed_head::text)
    + octet_length(kept.sealed_body::text) + octet_length(inbound_keep.attachments::text)
    + octet_length(codes::text));
  perform pg_advisory_xact_lock(29, hashtext(mailbox::text));
  if exists (select from private.mails m where m.account = mailbox
    and m.digest = kept.digest) then
    return query select 'kept';
    return;
  end if;
  problem := private.mailbox_problem(
    mailbox, kept.from_address, kept.proven_domain is null, kept.room);
  if problem is not null then
    return query select problem;
    return;
  end if;
  insert into private.mails (id, account, direction, from_address, proven_domain, spf, dkim, dmarc,
    own_topic, digest, size, room, attachments, sealed_head, sealed_body)
  values (kept.id, mailbox, 'in', kept.from_address, kept.proven_domain, kept.spf,
    kept.dkim, kept.dmarc, case when is_own then private.own_topic(message) end, kept.digest,
    kept.size, kept.room, jsonb_array_length(inbound_keep.attachments), kept.sealed_head, kept.sealed_body);
  insert into private.mail_attachments (mail, number, sealed)
  select kept.id, file.number, file.sealed
    from jsonb_array_elements(inbound_keep.attachments) with ordinality as file (sealed, number);
  insert into private.mail_codes (account, handle, mail, kind, hosts, sealed, expires_at, rank)
  select mailbox, code.handle, kept.id, code.kind,
    case when is_own or kept.proven_domain is null then '{}' else code.hosts end, code.sealed,
    private.clock() + interval '15 minutes', code.rank
    from rows from (jsonb_to_recordset(codes) as (handle text, kind text, hosts text[], sealed jsonb))
      with ordinality as code (handle, kind, hosts, sealed, rank);
  -- The subject is sealed, so the feed can show only who wrote.
  insert into private.activities (account, category, type, summary, untrusted, mail)
  values (mailbox, 'mail', 'mail_received', 'A mail arrived.',
    jsonb_build_object('from', kept.from_address), kept.id);
  return query select 'kept';
end $$;

-- Returns the reader and the key that reading takes. `sees` says which codes are shown: `all` to the owner
-- after a fresh proof; `codes`, which excludes those of this service, to an agent whose owner allows it;
-- otherwise, and while the account is frozen, `handles`. A session that was ended sees nothing.
create function private.mail_reader(caller private.credentials) returns jsonb
  language plpgsql as $$
begin
  if caller.kind = 'session' then
    perform private.hold_live(caller);
  end if;
  return (select jsonb_build_object('account', a.id, 'alias', a.alias,
    'wrap', private.account_key(a.id, 'mail'),
    'sees', case when caller.kind = 'session' then
        case when private.refusal_of(caller, 'reveal') is null then 'all' else 'handles' end
      when a.shows_codes and a.frozen_at is null then 'codes' else 'handles' end)
    from private.accounts a where a.id = caller.account);
end $$;

-- Returns a mail without its body and files. It includes the times of codes, but not their values.
create function private.mail_json(m private.mails) returns jsonb
  language sql stable as $$
  select jsonb_build_object('id', m.id, 'number', m.number, 'direction', m.direction, 'at', m.at,
    'from_address', m.from_address, 'proven_domain', m.proven_domain, 'spf', m.spf, 'dkim', m.dkim,
    'dmarc', m.dmarc, 'own_topic', m.own_topic, 'size', m.size, 'attachments', m.attachments,
    'unread', m.direction = 'in' and m.read_at is null, 'sealed_head', m.sealed_head,
    'codes', (select coalesce(jsonb_agg(jsonb_build_object('handle', c.handle, 'kind', c.kind,
        'hosts', c.hosts, 'expires_at', c.expires_at, 'used', c.used_at is not null)
        order by c.rank, c.handle), '[]') from private.mail_codes c where c.mail = m.id),
    'deliveries', (select coalesce(jsonb_agg(jsonb_build_object('to', o.to_address,
        'status', case when o.sent_at is not null then 'sent'
          when o.gave_up_at is not null then 'failed' else 'queued' end,
        'reason', case when o.gave_up_at is not null then o.failed_reason end)
        order by o.to_address), '[]') from private.outbox o where o.carries = m.id))
$$;

-- True if an address is the wanted one, or is at the wanted domain or below it.
create function private.is_sender(address text, wanted text) returns boolean
  language sql immutable as $$
  select address = wanted
    or right('.' || split_part(address, '@', 2), length(wanted) + 1) = '.' || wanted
$$;

-- Returns a page of the caller's mails, newest first, from before a number.
create function api.list_mails(
  credential text, page integer, before bigint default null, sender text default null,
  since timestamptz default null, until timestamptz default null,
  only_unread boolean default false, only_direction text default null)
  returns table (reader jsonb, mails jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select private.mail_reader(caller), coalesce(jsonb_agg(private.mail_json(listed.m)
    order by (listed.m).number desc), '[]')
  from (select m from private.mails m
    where m.account = caller.account and (before is null or m.number < before)
      and (sender is null or private.is_sender(m.from_address, sender))
      and (since is null or m.at >= since) and (until is null or m.at < until)
      and (not only_unread or m.direction = 'in' and m.read_at is null)
      and (only_direction is null or m.direction = only_direction)
    order by m.number desc limit page) as listed;
end $$;

-- Returns mails that arrived after a number, oldest first; on the first look those since a time, which is a
-- day ago at most, or none. `newest` is where the next look continues. Mails of an account are stored one
-- after the other (inbound_keep), so none can appear below it later. Only the first look of a request counts
-- against the rate.
create function api.mails_after(
  credential text, page integer, after bigint default null, sender text default null,
  since timestamptz default null)
  returns table (reader jsonb, mails jsonb, newest bigint)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := case when after is null then private.admit(credential, 'read')
    else private.recognize(credential, 'read') end;
begin
  return query
  with came as (
    select m.number, private.mail_json(m) as described from private.mails m
     where m.account = caller.account and m.direction = 'in'
       and case when after is null
         then m.at >= greatest(coalesce(since, 'infinity'), private.clock() - interval '1 day')
         else m.number > after end
       and (sender is null or private.is_sender(m.from_address, sender))
     order by m.number limit page
  )
  select private.mail_reader(caller),
    (select coalesce(jsonb_agg(c.described order by c.number), '[]') from came c),
    case when (select count(*) from came) = page then (select max(c.number) from came c)
      else (select coalesce(max(m.number), 0) from private.mails m
        where m.account = caller.account) end;
end $$;

-- Returns the number of the newest mail for each credential, for all callers that wait in one isolate: one
-- query a second, however many they are. A credential that is not live is left out. The answer only shows
-- that there is newer mail; each caller reads it with its own query.
create function api.newest_mails(credentials text[]) returns jsonb
  language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_object_agg(w.credential,
      (select coalesce(max(m.number), 0) from private.mails m where m.account = k.account)), '{}')
    from unnest(credentials) w (credential)
      cross join lateral private.find_caller(w.credential) k
   where k.id is not null
$$;

-- Returns one mail of the caller's account; no row if there is none. It stays unread until an agent has read
-- it, because what the owner looks at is still new to the agent.
create function api.read_mail(credential text, mail uuid)
  returns table (reader jsonb, mail_row jsonb, sealed_body jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  if caller.kind <> 'session' then
    update private.mails m set read_at = private.clock()
     where m.id = read_mail.mail and m.account = caller.account and m.direction = 'in'
       and m.read_at is null;
  end if;
  return query select private.mail_reader(caller), private.mail_json(m), m.sealed_body
    from private.mails m where m.id = read_mail.mail and m.account = caller.account;
end $$;

-- Returns a file of a mail that the same request has already read.
create function api.mail_attachment(credential text, mail uuid, file integer)
  returns table (sealed jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'read');
begin
  return query select f.sealed from private.mail_attachments f
    join private.mails m on m.id = f.mail
   where f.mail = mail_attachment.mail and f.number = file and m.account = caller.account;
end $$;

-- Returns what a mail is written with: the sender, and the mail that it answers, if there is one.
create function api.begin_mail(credential text, answered uuid default null)
  returns table (reader jsonb, mail_row jsonb, sealed_body jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'pay', true);
begin
  perform private.ask_for_room(private.budget_of(caller));
  return query select private.mail_reader(caller),
      case when m.id is not null then private.mail_json(m) end, m.sealed_body
    from (select) as always
    left join private.mails m on m.id = begin_mail.answered and m.account = caller.account;
end $$;

-- Returns when there is room for another mail to these recipients; null if there is now. An account reaches
-- 100 recipients a day, and each of them with 20 mails an hour.
create function private.mail_room_at(sender uuid, recipients text[]) returns timestamptz
  language sql stable as $$
  select greatest(
    (select o.created_at + interval '1 day' from private.outbox o
      where o.account = sender and o.topic = 'agent_mail'
        and o.created_at > private.clock() - interval '1 day'
      order by o.created_at desc offset 100 - cardinality(recipients) limit 1),
    (select max(full_until.at) from unnest(recipients) as r (address),
      lateral (select o.created_at + interval '1 hour' as at from private.outbox o
        where o.account = sender and o.topic = 'agent_mail' and o.to_address = r.address
          and o.created_at > private.clock() - interval '1 hour'
        order by o.created_at desc offset 19 limit 1) as full_until))
$$;

-- Enters a mail and a letter of it to each recipient, all or nothing, and once for a claim. `before` lists
-- mails that it claims to follow. After more than 50 of its own mails in a thread, the account is answering a
-- machine, and the outcome is `loop`.
create function api.send_mail(
  credential text, mail jsonb, letters jsonb, before uuid[], claim uuid default null)
  returns table (outcome text, id uuid, at timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.recognize(credential, 'pay', true);
  entered private.mails := jsonb_populate_record(null::private.mails, mail);
  recipients text[] := array(select l ->> 'to' from jsonb_array_elements(letters) l);
  sender private.accounts;
  room_at timestamptz;
begin
  -- One after the other, so that no two find the same room. A freeze waits or came before.
  sender := private.hold_live(caller);
  if sender.frozen_at is not null then
    perform private.refuse('account_frozen', '403');
  end if;
  return query select 'sent', m.id, m.at from private.mails m
   where m.account = caller.account and m.claim = send_mail.claim;
  if found then
    return;
  end if;
  room_at := private.mail_room_at(caller.account, recipients);
  if room_at is not null then
    perform private.refuse('mail_limit_reached', '429', jsonb_build_object('retry_after_seconds',
      greatest(pg_catalog.ceil(extract(epoch from room_at - private.clock())), 1)));
  end if;
  select coalesce(max(m.own_before) + 1, 0) into entered.own_before from private.mails m
   where m.account = caller.account and m.direction = 'out' and m.id = any (before);
  if entered.own_before > 50 then
    return query select 'loop', null::uuid, null::timestamptz;
    return;
  end if;
  insert into private.mails (id, account, direction, from_address, digest, size, room, sealed_head,
    sealed_body, own_before, claim)
  values (entered.id, caller.account, 'out', entered.from_address, entered.digest, entered.size,
    greatest(entered.size, octet_length(entered.sealed_head::text)
      + octet_length(entered.sealed_body::text)), entered.sealed_head, entered.sealed_body, entered.own_before, send_mail.claim);
  insert into private.outbox (id, account, to_address, topic, carries, sent_by, to_owner, sealed)
  select (l ->> 'id')::uuid, caller.account, l ->> 'to', 'agent_mail', entered.id, caller.id,
    private.is_owner_mailbox(l ->> 'to'), l ->> 'sealed'
    from jsonb_array_elements(letters) l;
  insert into private.activities (account, category, type, summary, untrusted, mail)
  values (caller.account, 'mail', 'mail_sent',
    pg_catalog.format('A mail was sent with the %s.', private.holder_name(caller)),
    jsonb_build_object('to', pg_catalog.array_to_string(recipients, ', ')), entered.id);
  return query select 'sent', m.id, m.at from private.mails m where m.id = entered.id;
end $$;

grant execute on function api.inbound_receives, api.inbound_begin, api.inbound_holder, api.inbound_key,
  api.inbound_keep, api.list_mails, api.mails_after, api.newest_mails, api.read_mail, api.mail_attachment,
  api.begin_mail, api.send_mail to vault;
