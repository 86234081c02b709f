-- Signed calls of functions that run on another platform. Each is good once.

-- Uses up a call; answers false if it was used before. It has no caller of its own: the signature was checked.
create function api.spend_remote_call(call_digest text) returns boolean
  language sql security definer set search_path = '' as $$
  select private.spend_proof(call_digest)
$$;

grant execute on function api.spend_remote_call to service_role;
