-- Mail of accounts. Its text is sealed; who wrote, when and how much is not, so that it can be listed.

create table private.mails (
  id uuid primary key,
  -- Order in which mail arrived and left, by which lists are paged.
  number bigint generated always as identity unique,
  account uuid not null references private.accounts,
  direction text not null check (direction in ('in', 'out')),
  at timestamptz not null default private.clock(),
  -- The author that the mail names, in lower case; of sent mail the account's own address.
  from_address text not null check (length(from_address) between 3 and 320),
  -- Registrable domain that the author provably belongs to; null if nothing proves it.
  proven_domain text check (length(proven_domain) between 1 and 253),
  spf text not null default 'absent',
  dkim text not null default 'absent',
  dmarc text not null default 'absent',
  -- Topic of mail from this service itself, whose codes are for the owner. Only the code of a sign-up may be
  -- shown to an agent, if the owner lets agents read codes.
  own_topic text check (own_topic in ('notice', 'sign_up_code')),
  -- Keyed digest that is the same when the same mail arrives again.
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  -- Size in bytes as it arrived, or as it was entered to be sent.
  size integer not null check (size between 1 and 10485760),
  -- Bytes that count against the mailbox: the mail's size or, if sealing takes more, the bytes stored. A text
  -- file is stored twice, as its bytes and as its text.
  room integer not null check (room >= size),
  attachments integer not null default 0 check (attachments between 0 and 100),
  -- Records of shared/vault/envelope.ts with purpose mail and as site the proven domain or nothing: first the
  -- names and subject, then the rest.
  sealed_head jsonb not null,
  sealed_body jsonb not null,
  read_at timestamptz,
  unique (account, digest)
);
create index mails_listed on private.mails (account, number desc);
create index mails_from on private.mails (account, from_address, number desc);
-- For the limits, which count mails with a proven author apart from those that may be imitated.
create index mails_by_proof on private.mails (account, (proven_domain is null), number desc)
  where direction = 'in';
create index mails_by_author on private.mails
  (account, from_address, (proven_domain is null), number desc) where direction = 'in';
alter table private.mails enable row level security;

create table private.mail_attachments (
  mail uuid not null references private.mails on delete cascade,
  number integer not null check (number between 1 and 100),
  sealed jsonb not null,
  primary key (mail, number)
);
alter table private.mail_attachments enable row level security;

-- One-time codes and sign-in links that were found in mails. An agent sees the handle. The value is used
-- once, while it is fresh, at a host that the mail is from or names.
create table private.mail_codes (
  account uuid not null references private.accounts,
  handle text not null check (handle ~ '^c_[0-9a-z]{12}$'),
  mail uuid not null references private.mails on delete cascade,
  kind text not null check (kind in ('code', 'link')),
  -- Hosts where it may be used (shared/mailbox/codes/code-hosts.ts). Empty, so that it is never released, if
  -- nothing proves the sender or the service itself sent it.
  hosts text[] not null check (cardinality(hosts) <= 20),
  -- The value, sealed with purpose mail as the record <mail>/<handle>; its site is the hosts, separated by
  -- spaces.
  sealed jsonb not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- Place among the codes of the mail, the likeliest first.
  rank integer not null default 1 check (rank > 0),
  primary key (account, handle)
);
create index mail_codes_of_mail on private.mail_codes (mail);
create index mail_codes_used on private.mail_codes (account, used_at) where used_at is not null;
alter table private.mail_codes enable row level security;

-- Returns true if mail is accepted for an alias, that is, if an account has it.
create function api.inbound_receives(alias text) returns table (known boolean)
  language sql security definer set search_path = '' as $$
  select exists (select from private.accounts a where a.alias = inbound_receives.alias)
$$;

-- Returns why a mailbox accepts no mail of this size from this author now, or null. The limits are 10,000
-- mails and 100 MB, 500 mails in a day, and 60 in an hour from one author. The last two count mails with a
-- proven author apart from the others, so that somebody who writes in another's name keeps none of theirs
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
  mailbox uuid := (select a.id from private.accounts a where a.alias = inbound_begin.alias);
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
   where a.alias = inbound_holder.alias
$$;

-- Gives an account its key for mail unless it has one, and returns the one that it then has.
create function api.inbound_key(alias text, wrap jsonb) returns table (kept jsonb)
  language sql security definer set search_path = '' as $$
  select private.keep_account_key(a.id, 'mail', wrap) from private.accounts a
   where a.alias = inbound_key.alias
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
  mailbox uuid := (select a.id from private.accounts a where a.alias = inbound_keep.alias);
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
  values (mailbox, 'mail', 'mail_received', 'A mail came in.',
    jsonb_build_object('from', kept.from_address), kept.id);
  return query select 'kept';
end $$;
grant execute on function api.inbound_receives, api.inbound_begin, api.inbound_holder, api.inbound_key,
  api.inbound_keep to vault;
