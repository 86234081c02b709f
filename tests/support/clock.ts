/**
 * SQL time that a test moves. The product reads time only through private.clock(), so replacing that
 * function moves every rule in SQL. Statements call it for every row that they read, millions of times in a
 * run. The time is kept in sequences because reading those takes a third of the time of a table.
 *
 * `stop_clock` stops it. `hold_clock` stops it but for a microsecond with each transaction of the server,
 * so that rows of later transactions are younger and lists have one order.
 */
export const movableClock = `
create schema testing;
grant usage on schema testing to public;
create sequence testing.moved_micros minvalue -9000000000000000;
create sequence testing.stopped_micros;
create sequence testing.held_since;
grant select on testing.moved_micros, testing.stopped_micros, testing.held_since to public;
create function testing.micros(span interval) returns bigint language sql immutable as
  'select (extract(epoch from span) * 1000000)::bigint';
create function testing.set_clock_ahead(by interval) returns void language sql as $$
  select setval('testing.moved_micros', testing.micros(by))
$$;
create function testing.move_clock(by interval) returns void language sql as $$
  select setval('testing.moved_micros',
    coalesce(pg_sequence_last_value('testing.moved_micros'), 0) + testing.micros(by))
$$;
create function testing.stop_clock(at timestamptz) returns void language sql as $$
  select setval('testing.stopped_micros', testing.micros(at - timestamptz 'epoch')),
    setval('testing.held_since', 1, false), testing.set_clock_ahead('0')
$$;
create function testing.hold_clock(at timestamptz) returns void language sql as $$
  select testing.stop_clock(at), setval('testing.held_since',
    pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint)
$$;
create or replace function private.clock() returns timestamptz
  language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
      timestamptz 'epoch' + interval '1 microsecond'
        * (pg_catalog.pg_sequence_last_value('testing.stopped_micros') + coalesce(
          pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint
            - pg_catalog.pg_sequence_last_value('testing.held_since'), 0)),
      pg_catalog.clock_timestamp())
    + coalesce(pg_catalog.pg_sequence_last_value('testing.moved_micros'), 0)
      * interval '1 microsecond';
end $$;`
