-- What is kept for a while only is forgotten here, so that nobody can fill the database by asking.

create index sessions_age on private.sessions (ends_at);
create index outbox_age on private.outbox (created_at);

-- Forgets what no rule looks at any more. A bucket that has run empty is as good as none; the same
-- goes for an answer that was kept for its 24 hours. Where a browser signed in is kept for 90 days.
create function api.housekeeping_forget() returns void
  language plpgsql security definer set search_path = '' as $$
declare
  at timestamptz := private.clock();
begin
  delete from private.rate_buckets b
   where b.arrives_at < least(at, pg_catalog.clock_timestamp()) - interval '1 hour';
  delete from private.idempotent_answers i
   where i.created_at <= at - interval '24 hours' and i.status is not null;
  delete from private.gas_uses u where u.at <= private.clock() - interval '24 hours'
    and not exists (select from private.relay_slots s where s.id = u.slot and s.state = 'open');
  delete from private.gas_prices g where g.minute <= private.clock() - interval '1 hour';
  delete from private.sessions s where s.ends_at < at - interval '90 days';
  delete from private.vault_places p
   where p.approved_at is null and p.asked_at <= at - interval '1 day';
  delete from private.vault_sessions s using private.credentials k
   where k.id = s.credential and (s.expires_at <= at or k.revoked_at is not null);
  delete from private.widenings w where w.at < private.clock() - interval '90 days';
  delete from private.removed_passkeys r where r.removed_at < private.clock() - interval '90 days';
  perform private.forget_oauth(at);
end $$;
grant execute on function api.housekeeping_forget to service_role;
