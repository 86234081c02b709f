-- Requests to the owner, apart from the decision: how many wait, beside every page.

-- Returns the account of a session, with what only its owner can decide and has not.
create function api.owner_read_session(credential text)
  returns table (account_id uuid, alias text, frozen boolean, payments_waiting integer,
    mandates_waiting integer)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential);
begin
  return query
  select a.id, a.alias, a.frozen_at is not null,
    (select count(*)::integer from private.waiting_for_owner(a.id) p
      where not exists (select from private.approvals o where o.payment = p.id)),
    (select count(*)::integer from private.mandates m where m.account = a.id
      and m.state = 'pending_approval' and m.expires_at > private.clock())
  from private.accounts a where a.id = caller.account;
end $$;
grant execute on function api.owner_read_session to service_role;
