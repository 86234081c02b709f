-- Rows with sealed parts: the keys of accounts, entries of the vault, mail and its codes. Sealed parts go only
-- to the role `vault`, that of the function that holds the roots. What is not sealed can be listed: of a mail,
-- who wrote, when and how much.

-- One key for each account and purpose, wrapped under a root. Deleting the row shreds what it sealed.
create table private.account_keys (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  purpose text not null check (purpose in ('vault', 'mail')),
  -- The value that shared/sealing/wrap.ts made: {kekVersion, nonce, ciphertext}.
  wrap jsonb not null,
  kek_version integer not null generated always as ((wrap ->> 'kekVersion')::integer) stored
    check (kek_version > 0),
  unique (account, purpose)
);
alter table private.account_keys enable row level security;
create index account_keys_age on private.account_keys (kek_version);

create table private.vault_entries (
  id uuid primary key,
  -- Order in which entries were created, by which lists are paged.
  number bigint generated always as identity unique,
  account uuid not null references private.accounts,
  -- Canonical origin: the only place that the secrets are ever sent to.
  site text not null check (length(site) between 8 and 2048),
  username text not null check (length(username) <= 320),
  -- Grows with every change of the secret part, and is bound into it.
  version integer not null check (version > 0),
  -- The envelope that shared/vault/envelope.ts made.
  sealed jsonb not null,
  has_password boolean not null,
  has_totp boolean not null,
  field_names text[] not null check (cardinality(field_names) <= 20),
  -- True if codes from mails may be used with it: the owner entered it, or allowed it.
  takes_codes boolean not null default false,
  -- The API key that created it and may replace and delete it; null if the owner entered or changed it.
  created_by uuid references private.credentials,
  -- The key or app whose link the owner entered it by, until the owner changes it on their own initiative.
  link_of uuid references private.credentials,
  -- The key or app that created it, whatever replaced that since; null if none did.
  maker uuid references private.credentials,
  -- The session that the owner entered or changed it in.
  session uuid references private.credentials,
  created_at timestamptz not null default private.clock(),
  updated_at timestamptz not null default private.clock(),
  last_used_at timestamptz,
  unique (account, site, username)
);
alter table private.vault_entries enable row level security;
create index vault_entries_listed on private.vault_entries (account, number desc);
create index vault_entries_made on private.vault_entries (created_by);
create index vault_entries_linked on private.vault_entries (link_of);

-- Sites at which a secret of the account was used or read and about which the owner was notified.
create table private.vault_sites (
  account uuid not null references private.accounts,
  site text not null,
  primary key (account, site)
);
alter table private.vault_sites enable row level security;

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
  -- Number of mails that the account itself sent before it in its thread, as far as they name each other.
  own_before integer not null default 0 check (own_before between 0 and 50),
  -- Claim of the Idempotency-Key that an outgoing mail was entered under, so that it is entered once.
  claim uuid,
  unique (account, claim),
  unique (account, digest)
);
alter table private.mails enable row level security;
create index mails_listed on private.mails (account, number desc);
create index mails_from on private.mails (account, from_address, number desc);

-- For the limits, which count mails with a proven author apart from those that may be imitated.
create index mails_by_proof on private.mails (account, (proven_domain is null), number desc)
  where direction = 'in';
create index mails_by_author on private.mails
  (account, from_address, (proven_domain is null), number desc) where direction = 'in';
create index mails_came on private.mails (account, at) where direction = 'in';

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
  -- Hosts where it may be used (shared/mailbox/codes/code-links.ts). Empty, so that it is never released, if
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
alter table private.mail_codes enable row level security;
create index mail_codes_of_mail on private.mail_codes (mail);
create index mail_codes_used on private.mail_codes (account, used_at) where used_at is not null;

-- Destinations: where at an entry's site its secrets may stand, as method, path, and headers, fields or members.
-- An agent asks for one by trying to use it, or the owner has a page looked at, and the owner approves it. Nothing
-- else in a row changes, so its id stands for its terms.
create table private.vault_destinations (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  entry uuid not null references private.vault_entries on delete cascade,
  -- A form that the site serves, or a request that the agent writes; one never replaces the other.
  kind text not null check (kind in ('form', 'request')),
  -- Page with the form, as a path with its query; empty for a request, and for a form that asks for a code.
  page text not null default '' check (length(page) <= 2048),
  -- Position of each value of the entry: the value as a template names it, the kind of its destination, the name of
  -- the header or field or a JSON pointer, and the text before it in a header.
  standing jsonb not null check (jsonb_array_length(standing) between 1 and 8
    and length(standing::text) <= 8192),
  method text not null check (method in ('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE')),
  path text not null check (length(path) between 1 and 2048),
  -- True if approved for every request to the site; only for values in headers.
  wide boolean not null default false,
  asked_by uuid references private.credentials,
  asked_at timestamptz not null default private.clock(),
  approved_at timestamptz
);
alter table private.vault_destinations enable row level security;
create index vault_destinations_of_account on private.vault_destinations (account);
create index vault_destinations_of_entry on private.vault_destinations (entry, asked_at);
create index vault_destinations_age on private.vault_destinations (asked_at) where approved_at is null;

-- Sessions at sites that a login began: cookies and the forms of the last served page, sealed. A session
-- belongs to the credential that began it. It ends with the credential, with the entry, by a freeze, and an
-- hour after its last step.
create table private.vault_sessions (
  id uuid primary key,
  account uuid not null references private.accounts,
  credential uuid not null references private.credentials on delete cascade,
  entry uuid not null references private.vault_entries on delete cascade,
  -- Grows with every step, and is bound into what is sealed.
  step integer not null check (step > 0),
  sealed jsonb not null,
  expires_at timestamptz not null
);
alter table private.vault_sessions enable row level security;
create index vault_sessions_of_account on private.vault_sessions (account, expires_at);
create index vault_sessions_of_entry on private.vault_sessions (entry);
create index vault_sessions_of_credential on private.vault_sessions (credential);
create index vault_sessions_age on private.vault_sessions (expires_at);

-- Returns the wrapped key of an account for a purpose, or null if it has none.
create function private.account_key(of_account uuid, purpose text) returns jsonb
  language sql stable as $$
  select k.wrap from private.account_keys k
   where k.account = of_account and k.purpose = account_key.purpose
$$;

-- Stores a wrapped key unless the account has one, and returns the one that it then has, so that two callers
-- at once seal under the same key.
create function private.keep_account_key(of_account uuid, purpose text, wrap jsonb) returns jsonb
  language plpgsql as $$
begin
  insert into private.account_keys (account, purpose, wrap)
  values (of_account, keep_account_key.purpose, keep_account_key.wrap)
  on conflict on constraint account_keys_account_purpose_key do nothing;
  return private.account_key(of_account, keep_account_key.purpose);
end $$;
