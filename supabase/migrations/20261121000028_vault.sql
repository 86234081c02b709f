-- The vault: entries whose secret part is sealed, and the keys of accounts that they are sealed under.
-- What is sealed is told to the role `vault` alone, which is the function that holds the roots.

-- One key an account and purpose, wrapped under a root. Deleting the row shreds what it sealed.
create table private.account_keys (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  purpose text not null check (purpose in ('vault', 'mail')),
  -- What shared/sealing/wrap.ts made: {kekVersion, nonce, ciphertext}.
  wrap jsonb not null,
  kek_version integer not null generated always as ((wrap ->> 'kekVersion')::integer) stored
    check (kek_version > 0),
  unique (account, purpose)
);
create index account_keys_age on private.account_keys (kek_version);

create table private.vault_entries (
  id uuid primary key,
  account uuid not null references private.accounts,
  -- Canonical origin: the only place that the secrets are ever sent to.
  site text not null check (length(site) between 8 and 2048),
  -- Registrable domain of the site, to which codes of mails may go; null where it has none.
  site_domain text check (length(site_domain) between 1 and 253),
  username text not null check (length(username) <= 320),
  -- Grows with every change of the secret part, and is bound into it.
  version integer not null check (version > 0),
  -- What shared/vault/envelope.ts made.
  sealed jsonb not null,
  has_password boolean not null,
  has_totp boolean not null,
  field_names text[] not null check (cardinality(field_names) <= 20),
  -- The API key that made it, which may replace and delete it; null for what the owner entered.
  created_by uuid references private.credentials,
  created_at timestamptz not null default private.clock(),
  updated_at timestamptz not null default private.clock(),
  last_used_at timestamptz,
  unique (account, site, username)
);
create index vault_entries_listed on private.vault_entries (account, updated_at desc, id);

-- Sites at which a secret of the account was used or read before.
create table private.vault_sites (
  account uuid not null references private.accounts,
  site text not null,
  first_used_at timestamptz not null default private.clock(),
  primary key (account, site)
);

alter table private.account_keys enable row level security;
alter table private.vault_entries enable row level security;
alter table private.vault_sites enable row level security;

-- The wrapped key of an account for a purpose, or null while it has none.
create function private.account_key(of_account uuid, purpose text) returns jsonb
  language sql stable as $$
  select k.wrap from private.account_keys k
   where k.account = of_account and k.purpose = account_key.purpose
$$;

-- Keeps a wrapped key unless the account has one; answers the one that it then has, so that of two
-- who made one at once both seal under the same.
create function private.keep_account_key(of_account uuid, purpose text, wrap jsonb) returns jsonb
  language plpgsql as $$
begin
  insert into private.account_keys (account, purpose, wrap)
  values (of_account, keep_account_key.purpose, keep_account_key.wrap)
  on conflict on constraint account_keys_account_purpose_key do nothing;
  return private.account_key(of_account, keep_account_key.purpose);
end $$;
