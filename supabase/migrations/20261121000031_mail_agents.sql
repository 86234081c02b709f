-- Mail as its account reads it, and mail that it sends. Sealed parts go only to the role `vault`, which opens
-- them and replaces codes by handles before an agent sees anything.

alter table private.mails
  -- Number of mails that the account itself sent before it in its thread, as far as they name each other.
  add column own_before integer not null default 0 check (own_before between 0 and 50),
  -- Claim of the Idempotency-Key that an outgoing mail was entered under, so that it is entered once.
  add column claim uuid,
  add unique (account, claim);
create index mails_came on private.mails (account, at) where direction = 'in';

alter table private.outbox
  add foreign key (carries) references private.mails on delete cascade;
create index outbox_of_mail on private.outbox (carries) where carries is not null;

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
    select m.number, private.mail_json(m) as told from private.mails m
     where m.account = caller.account and m.direction = 'in'
       and case when after is null
         then m.at >= greatest(coalesce(since, 'infinity'), private.clock() - interval '1 day')
         else m.number > after end
       and (sender is null or private.is_sender(m.from_address, sender))
     order by m.number limit page
  )
  select private.mail_reader(caller),
    (select coalesce(jsonb_agg(c.told order by c.number), '[]') from came c),
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
grant execute on function api.list_mails, api.mails_after, api.newest_mails, api.read_mail, api.mail_attachment,
  api.begin_mail, api.send_mail to vault;
