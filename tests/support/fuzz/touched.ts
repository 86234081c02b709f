/**
 * Finds the tables that a request changed: a trigger on each table records every changed row. Four changes
 * may come with a refusal and are left out: rate allowances, the day on which a key was last used, the
 * count of guesses at a code, and payments entered for a decision. Those payments reserve nothing and
 * expire, at once where the idempotency key of the request is given back.
 */
import type { Sql } from 'postgres'

/** Watches every table. The returned function names the tables whose rows changed since its last call. */
export async function watchTables(sql: Sql): Promise<() => Promise<string[]>> {
  await sql.unsafe(noting)
  return async () => {
    const rows = await sql<{ name: string }[]>`
      with noted as (delete from testing.touched returning *)
      select distinct name from (select name from noted group by name, digest having sum(change) <> 0) r
       order by name`
    return rows.map(({ name }) => name)
  }
}

// A row that one request inserts and deletes again counts as no change.
const noting = `
create table testing.touched (name text, digest uuid, change integer);
create function testing.note(name text, changed jsonb, change integer) returns void
  language sql security definer set search_path = '' as $$
  insert into testing.touched
  select name, pg_catalog.md5((changed - array['last_used_on', 'tries', 'tries_elsewhere'])::text)::uuid, change
   where changed is not null
     and (name <> 'payments' or changed ->> 'state' not in ('prepared', 'expired'));
$$;
create function testing.note_row() returns trigger language plpgsql set search_path = '' as $$
begin
  perform testing.note(tg_table_name, pg_catalog.to_jsonb(old), -1);
  perform testing.note(tg_table_name, pg_catalog.to_jsonb(new), 1);
  return null;
end $$;
do $$
declare
  named record;
begin
  for named in
    select c.relname from pg_catalog.pg_class c
     where c.relnamespace = 'private'::regnamespace and c.relkind = 'r'
       and c.relname <> 'rate_buckets'
  loop
    execute format('create trigger noted after insert or update or delete on private.%I
      for each row execute function testing.note_row()', named.relname);
  end loop;
end $$`
