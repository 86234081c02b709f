-- Mail as its account reads it, and mail that it sends. What is sealed is told to the role `vault`
-- alone, which opens it and puts handles in the places of codes before an agent sees any of it.

alter table private.mails
  -- Mails of the same account that stand before it in its thread, as far as they name each other.
  add column own_before integer not null default 0 check (own_before between 0 and 50),
  -- Of the Idempotency-Key under which a mail that goes out was entered: once.
  add column claim uuid,
  add unique (account, claim);
create index mails_came on private.mails (account, at) where direction = 'in';

alter table private.outbox
  add foreign key (carries) references private.mails on delete cascade;
create index outbox_of_mail on private.outbox (carries) where carries is not null;

-- Who reads, and the key that it takes. `sees` says which codes are shown: `all` to the owner after a
-- fresh proof, `codes` to an agent whose owner allows it, which leaves out those of this service; else,
-- and while the account is frozen, `handles`.
create function private.mail_reader(caller private.credentials) returns jsonb
  language sql stable as $$
  select jsonb_build_object('account', a.id, 'alias', a.alias,
    'wrap', private.account_key(a.id, 'mail'),
    'sees', case when caller.kind = 'session' then
        case when private.is_fresh(caller) then 'all' else 'handles' end
      when a.shows_codes and a.frozen_at is null then 'codes' else 'handles' end)
  from private.accounts a where a.id = caller.account
$$;

-- A mail but for its body and files; times of codes are told, their values are not here at all.
create function private.mail_json(m private.mails) returns jsonb
  language sql stable as $$
  select jsonb_build_object('id', m.id, 'number', m.number, 'direction', m.direction, 'at', m.at,
    'from_address', m.from_address, 'proven_domain', m.proven_domain, 'spf', m.spf, 'dkim', m.dkim,
    'dmarc', m.dmarc, 'own_topic', m.own_topic, 'size', m.size, 'attachments', m.attachments,
    'unread', m.direction = 'in' and m.read_at is null, 'sealed_head', m.sealed_head,
    'codes', (select coalesce(jsonb_agg(jsonb_build_object('handle', c.handle, 'kind', c.kind,
        'hosts', c.hosts, 'expires_at', c.expires_at, 'used', c.used_at is not null)
        order by c.handle), '[]') from private.mail_codes c where c.mail = m.id),
    'deliveries', (select coalesce(jsonb_agg(jsonb_build_object('to', o.to_address,
        'status', case when o.sent_at is not null then 'sent'
          when o.gave_up_at is not null then 'failed' else 'queued' end,
        'reason', case when o.gave_up_at is not null then o.failed_reason end)
        order by o.to_address), '[]') from private.outbox o where o.carries = m.id))
$$;

-- Whether an address is the one that is asked for, or at that domain or below it.
create function private.is_sender(address text, wanted text) returns boolean
  language sql immutable as $$
  select address = wanted
    or right('.' || split_part(address, '@', 2), length(wanted) + 1) = '.' || wanted
$$;

-- A page of the caller's mails, newest first, from before a number.
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

-- Mails that came in from a number on, oldest first: at first those since a time, which is a day ago
-- at most, or none. `newest` is where the next look goes on. Mails of an account are kept one after
-- the other (inbound_keep), so none can come up below it later. Only the first look of a request counts
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

-- One mail of the caller's; no row when there is none. It is unread until an agent has read it: what
-- the owner looks at is still new to the agent.
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

-- A file of a mail that the request has read before.
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

-- What a mail is written with: who writes, and the mail that it answers, if it does and is there.
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

-- When there is room for another mail to these recipients; null when there is now. An account reaches
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

-- Enters a mail and a letter of it to each recipient, all or nothing, and once for a claim. `before`
-- are mails that it says it follows: in a thread of more than 50 of its own an account answers a
-- machine, and it ends with `loop`.
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
  -- One after the other, so that no two find the same room; a freeze waits or was before.
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
grant execute on function api.list_mails, api.mails_after, api.read_mail, api.mail_attachment,
  api.begin_mail, api.send_mail to vault;
