-- Keys and apps as agents of an account: which of them can act now, and whose caps they share. How the owner
-- creates and ends them comes later (60_keys, 61_oauth, 62_owner_apps).

-- Apps as they describe themselves: those that registered (RFC 7591), and, while they are valid, the
-- documents at the address that is their id.
create table private.oauth_clients (
  id text primary key check (length(id) <= 2048),
  metadata jsonb not null check (pg_column_size(metadata) <= 24 * 1024),
  created_at timestamptz not null default private.clock(),
  -- End of a document's validity; null for a registration.
  good_until timestamptz,
  -- Time of its last grant. A registration that never had one is soon deleted.
  granted_at timestamptz
);
alter table private.oauth_clients enable row level security;
create index oauth_clients_age on private.oauth_clients (created_at)
  where good_until is null and granted_at is null;
create index oauth_clients_documents_age on private.oauth_clients (good_until) where granted_at is null;
create index oauth_clients_granted_age on private.oauth_clients (granted_at);

-- Data of a grant beside its credential.
create table private.oauth_grants (
  credential uuid primary key references private.credentials on delete cascade,
  client_id text not null,
  -- Host of the document that describes the client; null for one that registered.
  client_host text,
  redirect_host text not null,
  -- Budget whose spending counts against the caps of this one too, because its app took the place of that one's
  -- (private.spent_together).
  spends_with uuid,
  -- Thumbprint (RFC 7638) of the key that its tokens are bound to.
  dpop_key text,
  ended_because text
    check (ended_because in ('disconnected', 'replaced', 'reused', 'revoked by the app')),
  -- True if a mail notified the owner of a grant that was ended for reuse.
  owner_notified boolean not null default false
);
alter table private.oauth_grants enable row level security;
create index oauth_grants_spending on private.oauth_grants (spends_with) where spends_with is not null;

-- Returns the credential that a key or app stands for: itself, or the first one in the chain of those it
-- replaced.
create function private.holder_of(key uuid) returns uuid language plpgsql stable as $$
begin
  return (select coalesce(k.shares_budget_of, k.id) from private.credentials k where k.id = holder_of.key);
end $$;

-- True if a key, or the grant of an app, is live.
create function private.is_agent_live(k private.credentials) returns boolean
  language sql stable as $$
  select k.kind in ('api_key', 'oauth') and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > private.clock())
$$;

-- True if a credential that payments are for is live: a key, a grant, or the owner's own (65_owner_sends).
create function private.is_payer_live(k private.credentials) returns boolean
  language sql stable as $$
  select private.is_agent_live(k) or k.kind = 'owner' and k.revoked_at is null
$$;

-- True if a credential stands for the owner, who entered what it pays.
create function private.is_owner_payer(key uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.credentials k where k.id = key and k.kind = 'owner');
end $$;

-- Returns the budget of a credential. A key that replaces another continues its budget: both count together.
create function private.budget_of(k private.credentials) returns uuid
  language sql immutable as $$ select coalesce(k.shares_budget_of, k.id) $$;

-- True if a key or app, or one that replaced it, is live, or the payer is the owner.
create function private.is_holder_live(key uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.credentials k where private.is_payer_live(k)
    and private.budget_of(k) = private.holder_of(is_holder_live.key)
    and k.account = (select o.account from private.credentials o where o.id = is_holder_live.key));
end $$;

create function private.is_key_live(k private.credentials) returns boolean
  language sql stable as $$
  select k.kind = 'api_key' and private.is_agent_live(k)
$$;

create function private.is_grant_live(k private.credentials) returns boolean
  language sql stable as $$
  select k.kind = 'oauth' and private.is_agent_live(k)
$$;

create function private.is_same_app(g private.oauth_grants, asked jsonb) returns boolean
  language sql immutable as $$
  select (g.client_id, g.redirect_host)
    is not distinct from (asked ->> 'client_id', asked ->> 'redirect_host')
$$;

-- True if a grant ends when what was asked begins: an earlier one of the same app, or of another one that the owner
-- replaces. An app whose host was checked is replaced by one of that host alone.
create function private.is_replaced(g private.oauth_grants, asked jsonb) returns boolean
  language sql immutable as $$
  select private.is_same_app(g, asked) or coalesce(g.credential = (asked ->> 'replaces')::uuid, false)
    and g.client_host is not distinct from asked ->> 'client_host'
$$;

-- Returns the budgets whose spending counts together: this one, and those of apps that took each other's place.
create function private.spent_together(budget uuid) returns uuid[] language plpgsql stable as $$
begin
  return (select first.id || array(select g.credential from private.oauth_grants g where g.spends_with = first.id)
    from (select coalesce((select g.spends_with from private.oauth_grants g where g.credential = budget),
      budget) as id) first);
end $$;
