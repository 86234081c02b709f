-- Consents: what the owner agreed to, with the proof of it and a digest of the terms that were shown.

-- Acts of consent: each holds the digest of the terms that the owner saw, and with a passkey the assertion
-- whose challenge is that digest (WebAuthn level 3, section 7.2). A digest is consented to once, so an
-- assertion is valid once. Binary values are base64url; the key is stored as it was at that time.
create table private.consents (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references private.accounts,
  -- The session in which the owner decided.
  session uuid not null references private.credentials,
  level text not null check (level in ('user_session', 'user_passkey')),
  digest text not null unique check (digest ~ '^[0-9a-f]{64}$'),
  -- Digests of several payments that were approved at once; `digest` is then that of the batch.
  leaves text[] check (cardinality(leaves) between 2 and 50),
  passkey text,
  passkey_added_at timestamptz,
  public_key text,
  client_data text,
  authenticator_data text,
  signature text,
  -- When it was asked for; of several, the first.
  asked_at timestamptz not null,
  decided_at timestamptz not null default private.clock(),
  check (num_nonnulls(passkey, passkey_added_at, public_key, client_data, authenticator_data,
      signature) = case level when 'user_passkey' then 6 else 0 end)
);
alter table private.consents enable row level security;
alter table private.known_devices add foreign key (consent) references private.consents;
alter table private.known_recipients add foreign key (consent) references private.consents;

-- Returns a time in the form of canonical terms.
create function private.terms_time(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Returns canonical JSON (RFC 8785) of values without fractions: keys in the order of their code units, which
-- for the ASCII keys of terms is that of their bytes, and nothing between the tokens.
create function private.canonical(value jsonb) returns text language plpgsql immutable as $$
begin
  return case jsonb_typeof(value)
    when 'object' then (select '{' || coalesce(string_agg(
        to_jsonb(m.key)::text || ':' || private.canonical(m.value), ',' order by m.key collate "C"),
        '') || '}' from jsonb_each(value) m)
    when 'array' then (select '[' || coalesce(string_agg(
        private.canonical(e.value), ',' order by e.ordinality), '') || ']'
      from jsonb_array_elements(value) with ordinality e)
    else value::text end;
end $$;

-- Returns the digest that consent is bound to: SHA-256 over the canonical terms, as shared/consent/terms.ts
-- builds them. It is computed here again from the row, so that consent covers what is really paid.
create function private.consent_digest(terms jsonb) returns text language sql immutable as $$
  select encode(sha256('aoa-consent-v1\000'::bytea
    || convert_to(private.canonical(jsonb_strip_nulls(terms)), 'UTF8')), 'hex')
$$;

create function private.terms_digest(p private.payments) returns text
  language sql stable as $$
  select private.consent_digest(jsonb_build_object(
    'v', 1, 'type', p.kind, 'account_id', p.account, 'payment_id', p.id,
    'chain', 'eip155:' || p.chain, 'token', p.token, 'amount_atomic', p.amount_atomic::text,
    'pay_to', p.payee, 'origin', p.terms -> 'origin',
    'request_digest', p.terms -> 'request_digest', 'expires_at', private.terms_time(p.expires_at),
    'paid_by', case when p.for_any_key then 'any_key' else private.holder_of(p.key)::text end,
    'remember_payee', case when p.remembers_payee then true end,
    'remember_device', case when p.remembers_device then p.device end,
    'pass_daily_cap', case when p.passes_daily_cap then true end))
$$;

-- Returns the hash of a Merkle tree over at least one entry (RFC 9162 section 2.1.1).
create function private.merkle_root(entries bytea[]) returns bytea language plpgsql immutable as $$
declare
  n integer := cardinality(entries);
  half integer := 1;
begin
  if n = 1 then
    return sha256('\x00'::bytea || entries[1]);
  end if;
  while half * 2 < n loop
    half := half * 2;
  end loop;
  return sha256('\x01'::bytea || private.merkle_root(entries[:half])
    || private.merkle_root(entries[half + 1:]));
end $$;

-- Returns the digest of several payments at once; their digests come in ascending order.
create function private.batch_digest(payer uuid, leaves text[]) returns text language sql stable as $$
  select private.consent_digest(jsonb_build_object(
    'v', 1, 'type', 'batch', 'account_id', payer, 'leaves', cardinality(leaves),
    'root', encode(private.merkle_root(array(
      select decode(l.leaf, 'hex') from unnest(leaves) with ordinality l (leaf, n) order by l.n)),
      'hex')))
$$;

-- Returns the passkeys that an account can consent with, for the page that asks for one.
create function private.passkeys_json(owner uuid) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'transports', k.transports)
      order by k.created_at), '[]') from private.passkeys k where k.account = owner
$$;

-- Returns consent in the form in which it leaves the database, as shared/consent/consent.ts reads it.
create function private.consent_json(of_consent uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('level', c.level, 'digest', c.digest, 'leaves', c.leaves,
    'asked_at', c.asked_at, 'decided_at', c.decided_at, 'passkey', case c.level when 'user_passkey' then
      jsonb_build_object('id', c.passkey, 'added_at', c.passkey_added_at, 'public_key', c.public_key,
        'client_data', c.client_data, 'authenticator_data', c.authenticator_data,
        'signature', c.signature) end)
  from private.consents c where c.id = of_consent
$$;

-- Returns the owner, admitted to give consent. An assertion over the terms, which the caller of this function
-- has verified, is the proof, and an account with a passkey accepts nothing else.
create function private.admit_consent(credential text, assertion jsonb)
  returns private.credentials language plpgsql as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  perform private.hold_live(caller);
  perform private.demand(caller, 'approve', is_consent => assertion is not null
    or private.has_passkey(caller.account));
  if assertion is null then
    if private.has_passkey(caller.account) then
      perform private.refuse('passkey_required', '403');
    end if;
    return caller;
  end if;
  perform from private.passkeys k where k.id = assertion ->> 'passkey' and k.account = caller.account;
  if not found or not private.use_passkey(assertion ->> 'passkey',
    assertion ->> 'counter_seen', assertion ->> 'counter_now') then
    perform private.refuse('proof_required', '403');
  end if;
  return caller;
end $$;

-- Stores one act of consent; returns null if the digest was consented to before.
create function private.keep_consent(
  caller private.credentials, digest text, leaves text[], assertion jsonb, asked_at timestamptz)
  returns private.consents language plpgsql as $$
declare
  kept private.consents;
begin
  insert into private.consents (account, session, level, digest, leaves, passkey, passkey_added_at,
    public_key, client_data, authenticator_data, signature, asked_at)
  select caller.account, caller.id,
    case when assertion is null then 'user_session' else 'user_passkey' end,
    keep_consent.digest, keep_consent.leaves, k.id, k.created_at, k.public_key,
    assertion ->> 'client_data', assertion ->> 'authenticator_data', assertion ->> 'signature',
    keep_consent.asked_at
  from (select) given left join private.passkeys k on k.id = assertion ->> 'passkey'
  on conflict on constraint consents_digest_key do nothing
  returning * into kept;
  return kept;
end $$;
