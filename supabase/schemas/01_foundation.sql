-- Foundation: the two schemas, the roles that may call functions, the clock, refusals and the rate limit.
--
-- Tables live in `private`, which no API role can use. `api` holds the functions that the API exposes. They
-- are security definer because no API role has any right on a table, so these functions are the only way in;
-- each sets an empty search_path. Helpers in `private` are called by them alone and qualify every name. They
-- set no search_path: a function with a setting cannot be inlined, and each call would pay for applying it.

create schema private;
create schema api;

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'custody') then
    create role custody nologin noinherit;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'vault') then
    create role vault nologin noinherit;
  end if;
  -- PostgREST logs in as authenticator and changes to the role that the request's token names.
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticator') then
    grant custody, vault to authenticator;
  end if;
end $$;

alter default privileges revoke execute on functions from public;
grant usage on schema api to service_role, custody, vault;

create unlogged table private.rate_buckets (
  bucket text primary key,
  -- Theoretical arrival time of the generic cell rate algorithm (ITU-T I.371).
  arrives_at timestamptz not null
) with (fillfactor = 50);
alter table private.rate_buckets enable row level security;

-- Bytes that a key or app may make the database grow by: at once, and each day besides. One row; without it nothing is charged.
create table private.growth_terms (
  single boolean primary key default true check (single),
  bytes_at_once integer not null check (bytes_at_once > 0),
  bytes_a_day integer not null check (bytes_a_day > 0)
);
alter table private.growth_terms enable row level security;
insert into private.growth_terms (bytes_at_once, bytes_a_day) values (8000000, 12000000);

-- Returns the current time. Every rule in SQL uses this clock alone, so a worker with a wrong clock decides
-- nothing.
create function private.clock() returns timestamptz
  language sql stable as 'select pg_catalog.clock_timestamp()';

-- Ends a call with a code of the table of errors; PostgREST turns PTnnn into HTTP status nnn.
create function private.refuse(code text, status text, detail jsonb default '{}')
  returns void language plpgsql as $$
begin
  raise exception using errcode = 'PT' || status, message = code, detail = detail::text;
end $$;

-- Takes one cell from a bucket that fills slowly, as private.take does, but by the clock of the rules.
create function private.take_slowly(taken text, burst integer, every interval)
  returns void language plpgsql as $$
declare
  at timestamptz := private.clock();
  arrival timestamptz;
begin
  insert into private.rate_buckets as b values (taken, at + every)
  on conflict (bucket) do update set arrives_at = greatest(b.arrives_at, at) + every
   where b.arrives_at <= at + every * (burst - 1);
  if not found then
    select b.arrives_at into arrival from private.rate_buckets b where b.bucket = taken;
    perform private.refuse('rate_limited', '429', pg_catalog.jsonb_build_object(
      'retry_after_seconds',
      greatest(1, pg_catalog.ceil(extract(epoch from arrival - at - every * (burst - 1))))));
  end if;
end $$;

-- Gives one cell back.
create function private.give_back(taken text, every interval) returns void language sql as $$
  update private.rate_buckets b set arrives_at = b.arrives_at - every where b.bucket = taken
$$;

-- Takes one cell from a bucket, or refuses with the seconds to wait. It uses real time on purpose: a limit on
-- load must not depend on the time that payments are judged by.
create function private.take(taken text, burst integer, per_second integer)
  returns void language plpgsql as $$
declare
  now_real timestamptz := pg_catalog.clock_timestamp();
  cell interval := pg_catalog.make_interval(secs => 1.0 / per_second);
  arrival timestamptz;
begin
  loop
    -- Updating an existing row, the usual case, is several times cheaper than an upsert.
    update private.rate_buckets b set arrives_at = greatest(b.arrives_at, now_real) + cell
     where b.bucket = taken and b.arrives_at <= now_real + cell * (burst - 1);
    exit when found;
    insert into private.rate_buckets as b values (taken, now_real + cell) on conflict do nothing;
    exit when found;
    select b.arrives_at into arrival from private.rate_buckets b where b.bucket = taken;
    if arrival > now_real + cell * (burst - 1) then
      perform private.refuse('rate_limited', '429', pg_catalog.jsonb_build_object(
        'retry_after_seconds',
        greatest(1, pg_catalog.ceil(extract(epoch from arrival - now_real - cell * (burst - 1))))));
    end if;
  end loop;
end $$;

-- Charges what the rest of this transaction writes to the budget of a key or app; to none if it is null.
create function private.charge_to(budget uuid) returns void language plpgsql as $$
begin
  perform pg_catalog.set_config('aoa.charged_to', coalesce('grows:' || budget, ''), true);
end $$;

-- Trigger: charges a row that is new, with its argument for indexes and for rows that follow from it, or by what
-- it grew. It refuses nothing, because work that has begun is finished: the next call is refused (ask_for_room).
create function private.charge_growth() returns trigger language plpgsql as $$
declare
  charged text := pg_catalog.current_setting('aoa.charged_to', true);
  bytes integer;
  cost interval;
begin
  if charged <> '' then
    bytes := pg_column_size(new) + case tg_op
      when 'INSERT' then tg_argv[0]::integer else -pg_column_size(old) end;
    cost := (select pg_catalog.make_interval(secs => bytes * 86400.0 / t.bytes_a_day) from private.growth_terms t
      where bytes > 0);
    if cost is not null then
      insert into private.rate_buckets as b values (charged, pg_catalog.clock_timestamp() + cost)
      on conflict (bucket) do update
        set arrives_at = greatest(b.arrives_at, pg_catalog.clock_timestamp()) + cost;
    end if;
  end if;
  return null;
end $$;

-- Refuses a budget that wrote `share` of all that it may, with the seconds until there is room again. It is asked
-- before something new is entered, never before something is continued, read or ended.
create function private.ask_for_room(budget uuid, share double precision default 1) returns void
  language plpgsql as $$
declare
  excess interval := (select b.arrives_at - pg_catalog.clock_timestamp()
      - pg_catalog.make_interval(secs => share * t.bytes_at_once * 86400.0 / t.bytes_a_day)
    from private.rate_buckets b cross join private.growth_terms t where b.bucket = 'grows:' || budget);
begin
  if excess > interval '0' then
    perform private.refuse('rate_limited', '429', pg_catalog.jsonb_build_object(
      'retry_after_seconds', greatest(1, pg_catalog.ceil(extract(epoch from excess))),
      'hint', 'This key has stored as much as it may in a day. Wait, or ask the operator of the service for more.'));
  end if;
end $$;

-- Returns the network that a limit counts as one caller: the address itself for IPv4, the /64 network for
-- IPv6, which is what one subscriber gets. Text that is not an address is returned as it is.
create function private.network_of(client text) returns text
  language plpgsql immutable as $$
begin
  return case family(client::inet) when 6 then network(set_masklen(client::inet, 64))::text
    else client end;
exception when invalid_text_representation then
  return client;
end $$;

-- Returns the wider network that a limit counts together as well, since one operator can rent many addresses
-- in it: 256 addresses of IPv4, or the /48 that a customer gets of IPv6.
create function private.wide_network_of(client text) returns text
  language plpgsql immutable as $$
begin
  return network(set_masklen(client::inet, case family(client::inet) when 6 then 48 else 24 end))::text;
exception when invalid_text_representation then
  return client;
end $$;

-- Takes a cell of the caller's network, one of the wider network, which has four times as many, and one that
-- all callers share. A refusal takes none and leaves no row, so `all_per_second` bounds how many rows callers
-- without an account can create here.
create function private.take_of_all(
  taken text, client text, burst integer, per_second integer, all_burst integer,
  all_per_second integer)
  returns void language plpgsql as $$
begin
  perform private.take(taken || ':' || private.network_of(client), burst, per_second);
  perform private.take(
    taken || ':wide:' || private.wide_network_of(client), 4 * burst, 4 * per_second);
  perform private.take(taken, all_burst, all_per_second);
end $$;
