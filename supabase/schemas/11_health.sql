-- Health: which parts that capabilities depend on are failing now, as the watch and the mailer found them.
-- Only shared/contract/gaps.ts decides what follows for a capability.

create table private.health (
  -- The part that was checked; parts of a chain carry its CAIP-2 id.
  part text primary key
    check (part ~ '^(custody|vault|mailer|mail_out|walletconnect|agent_sign_up'
      '|(endpoints|second_operator|relayers|eurc):eip155:[1-9][0-9]*)$'),
  -- Null while it works.
  reason text check (reason ~ '^[a-z_]{1,40}$'),
  looked_at timestamptz not null default private.clock()
);
alter table private.health enable row level security;

-- Records the state of a part; null means that it works. An unchanged state is written again only once it is
-- ten seconds old, so that many mails at once do not wait for one row.
create function private.note_health(part text, reason text) returns void
  language plpgsql as $$
declare
  at timestamptz := private.clock();
begin
  insert into private.health as h (part, reason, looked_at)
  values (note_health.part, note_health.reason, at)
  on conflict on constraint health_pkey do update set reason = excluded.reason, looked_at = at
   where h.reason is distinct from excluded.reason or h.looked_at <= at - interval '10 seconds';
end $$;

-- Records what the watch found in one look: [{part, reason}] of every part that it checks. A part that it no
-- longer checks, such as a chain that was removed from the settings, is deleted. Only the mailer reports on
-- outgoing mail.
create function api.health_report(parts jsonb) returns void
  language plpgsql security definer set search_path = '' as $$
begin
  perform private.note_health(p.part, p.reason)
  from pg_catalog.jsonb_to_recordset(parts) as p (part text, reason text);
  delete from private.health h where h.part <> 'mail_out'
    and not exists (select from pg_catalog.jsonb_array_elements(parts) p
      where p ->> 'part' = h.part);
end $$;

-- Returns everything that states are computed from: the connected chains, what is failing, and whether the
-- watch reported in the last 90 seconds. A mail that was not tried for 15 seconds means that the mailer does
-- not run.
create function private.health_json() returns jsonb
  language sql stable as $$
  select jsonb_build_object(
    'watched', exists (select from private.health h where h.part <> 'mail_out'
      and h.looked_at > private.clock() - interval '90 seconds'),
    'chains', coalesce((select jsonb_agg(substr(h.part, 11) order by h.part)
      from private.health h where h.part like 'endpoints:%'), '[]'),
    'failing', coalesce((select jsonb_agg(jsonb_build_object('part', f.part, 'reason', f.reason))
      from (
        select h.part, h.reason from private.health h where h.reason is not null
        union all
        select 'mail_out', 'mailer_silent' where exists (select from private.outbox m
          where m.sealed is not null and m.device is null and m.tries = 0
            and m.send_after <= private.clock() - interval '15 seconds')) f), '[]'))
$$;

-- Returns the same for documents, and for answers of operations that do not carry it. It is not secret.
create function api.health_states() returns table (health jsonb)
  language sql security definer set search_path = '' as $$
  select private.health_json()
$$;

-- Answer any caller with the role that the function's token names; they check nothing else.
create function api.custody_ready() returns void
  language sql stable security definer set search_path = '' as '';
create function api.vault_ready() returns void
  language sql stable security definer set search_path = '' as '';
create function api.mailer_ready() returns void
  language sql stable security definer set search_path = '' as '';

grant execute on function api.health_report, api.health_states, api.mailer_ready to service_role;
grant execute on function api.custody_ready to custody;
grant execute on function api.vault_ready to vault;
