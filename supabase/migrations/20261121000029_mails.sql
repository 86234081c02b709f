-- Mail of accounts. Words are sealed; who wrote, when and how much is kept open, to be listed by.

create table private.mails (
  id uuid primary key,
  -- The order in which mail came and went, by which lists are paged.
  number bigint generated always as identity unique,
  account uuid not null references private.accounts,
  direction text not null check (direction in ('in', 'out')),
  at timestamptz not null default private.clock(),
  -- The author as the mail says, in lower case; of mail that went out the account's own address.
  from_address text not null check (length(from_address) between 3 and 320),
  -- Registrable domain that the author is proven to be of; null when nothing proves it.
  proven_domain text check (length(proven_domain) between 1 and 253),
  spf text not null default 'absent',
  dkim text not null default 'absent',
  dmarc text not null default 'absent',
  -- SHA-256 of what makes it the same mail when it comes again.
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  -- Bytes as it came, or as it was entered to go out.
  size integer not null check (size between 1 and 10485760),
  attachments integer not null default 0 check (attachments between 0 and 100),
  -- Records of shared/vault/envelope.ts, purpose mail, site the proven domain or nothing: names and
  -- subject, then the rest of it.
  sealed_head jsonb not null,
  sealed_body jsonb not null,
  read_at timestamptz,
  unique (account, digest)
);
create index mails_listed on private.mails (account, number desc);
create index mails_from on private.mails (account, from_address, number desc);
alter table private.mails enable row level security;

create table private.mail_attachments (
  mail uuid not null references private.mails on delete cascade,
  number integer not null check (number between 1 and 100),
  sealed jsonb not null,
  primary key (mail, number)
);
alter table private.mail_attachments enable row level security;

-- One-time codes and sign-in links that were found in mails. An agent is told the handle; the value
-- is used once, at the domain that the mail is proven to come from, while it is fresh.
create table private.mail_codes (
  account uuid not null references private.accounts,
  handle text not null check (handle ~ '^c_[0-9a-z]{12}$'),
  mail uuid not null references private.mails on delete cascade,
  kind text not null check (kind in ('code', 'link')),
  -- Null where nothing proves the sender, or the service itself sent it: then it is never released.
  domain text check (length(domain) between 1 and 253),
  -- The value, sealed with purpose mail as the record <mail>/<handle>, site the domain or nothing.
  sealed jsonb not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (account, handle)
);
create index mail_codes_of_mail on private.mail_codes (mail);
alter table private.mail_codes enable row level security;

-- Whether mail is taken for an alias. Nobody's and an unknown one are the same.
create function api.inbound_receives(alias text) returns table (known boolean)
  language sql security definer set search_path = '' as $$
  select exists (select from private.accounts a where a.alias = inbound_receives.alias)
$$;
grant execute on function api.inbound_receives to vault;
