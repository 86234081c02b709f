-- Remote tools: identifies the caller of a tool before the operation behind it is called.

-- Admits a caller with at least this scope and returns its scopes, its name and its id: the key, session or
-- grant, which stays the same while tokens of a grant change. A call that the operation counts itself is not counted here.
create function api.identify_caller(credential text, needed text, counted boolean)
  returns table (caller uuid, scopes_held text[], label text)
  language plpgsql security definer set search_path = '' as $$
declare
  found_key private.credentials;
begin
  if counted then
    found_key := private.admit(credential, needed);
  else
    found_key := private.recognize(credential, needed);
  end if;
  return query select found_key.id, found_key.scopes, private.plain_name(found_key);
end $$;
grant execute on function api.identify_caller to service_role;
