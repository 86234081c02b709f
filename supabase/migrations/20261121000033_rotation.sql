-- Rotation of roots: the program `npm run rotate-keys` moves wrapped keys from one root to another while the
-- service runs. It receives wraps and never what their keys sealed, and replaces a wrap only if it is still
-- the one that was read. Neither role reaches the keys of the other.

-- Returns how many keys of accounts each version of the root wraps.
create function api.rotation_count() returns table (purpose text, version integer, keys bigint)
  language sql security definer set search_path = '' as $$
  select k.purpose, k.kek_version, count(*) from private.account_keys k group by 1, 2 order by 1, 2
$$;

-- Returns keys that are wrapped by a version other than the sealing one, in the order of their ids.
create function api.rotation_list(
  purpose text, sealing integer, at_most integer, after text default null)
  returns table (key text, owner text, wrap jsonb)
  language sql security definer set search_path = '' as $$
  select k.id::text, k.account::text, k.wrap from private.account_keys k
   where k.purpose = rotation_list.purpose and k.kek_version <> sealing
     and (rotation_list.after is null or k.id > rotation_list.after::uuid)
   order by k.id limit at_most
$$;

-- Replaces the wraps of a page of keys; returns how many were still those that were read.
create function api.rotation_rewrap(moves jsonb) returns table (moved bigint)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.account_keys k set wrap = m.wrap
    from pg_catalog.jsonb_to_recordset(moves) as m (key text, was jsonb, wrap jsonb)
   where k.id = m.key::uuid and k.wrap = m.was;
  get diagnostics moved = row_count;
  return next;
end $$;

-- The same three functions for private keys of wallets and relayers. The sealed private key is not touched.
create function api.rotation_custody_count()
  returns table (purpose text, version integer, keys bigint)
  language sql security definer set search_path = '' as $$
  select 'custody', (k.envelope #>> '{wrap,kekVersion}')::integer, count(*)
    from private.custody_keys k group by 2 order by 2
$$;

create function api.rotation_custody_list(
  sealing integer, at_most integer, after text default null)
  returns table (key text, owner text, wrap jsonb)
  language sql security definer set search_path = '' as $$
  select k.address, k.owner, k.envelope -> 'wrap' from private.custody_keys k
   where (k.envelope #>> '{wrap,kekVersion}')::integer <> sealing
     and (rotation_custody_list.after is null or k.address > rotation_custody_list.after)
   order by k.address limit at_most
$$;

create function api.rotation_custody_rewrap(moves jsonb) returns table (moved bigint)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.custody_keys k set envelope = pg_catalog.jsonb_set(k.envelope, '{wrap}', m.wrap)
    from pg_catalog.jsonb_to_recordset(moves) as m (key text, was jsonb, wrap jsonb)
   where k.address = m.key and k.envelope -> 'wrap' = m.was;
  get diagnostics moved = row_count;
  return next;
end $$;

grant execute on function api.rotation_count, api.rotation_list, api.rotation_rewrap to vault;
grant execute on function api.rotation_custody_count, api.rotation_custody_list,
  api.rotation_custody_rewrap to custody;
