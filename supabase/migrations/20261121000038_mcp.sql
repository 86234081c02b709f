-- Remote tools: who calls one, told before the operation behind it is asked.

-- Lets a caller of at least this scope in and answers its id: the key, session or grant, which stays
-- while tokens of a grant come and go. What the operation will count itself is not counted here.
create function api.identify_caller(credential text, needed text, counted boolean)
  returns table (caller uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  found_key private.credentials;
begin
  if counted then
    found_key := private.admit(credential, needed);
  else
    found_key := private.recognize(credential, needed);
  end if;
  return query select found_key.id;
end $$;
grant execute on function api.identify_caller to service_role;
