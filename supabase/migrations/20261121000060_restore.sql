-- Restores: what a backup no longer knows. Of what happened after it, the chain still shows the payments and
-- nothing shows what was revoked. So no way in of before the restore is valid after it, and nothing is signed
-- before all transfers until then are in the books.

create table private.restores (
  at timestamptz primary key,
  -- Time of the backup.
  made_at timestamptz not null
);
alter table private.restores enable row level security;
insert into private.retention (of_table, reason) values ('restores',
  'A chain that is connected later is read up to the time of the last one.');

-- True if payments on a chain are written into the books: its transfers are read and, after a restore, up to a final
-- block after every signature from before had ended. Nothing is signed before.
create function private.has_caught_up(chain bigint) returns boolean language plpgsql stable as $$
begin
  return exists (select from private.transfer_cursors c where c.chain = has_caught_up.chain
    and (c.catch_up_block <= c.finalized_through or not exists (select from private.restores)));
end $$;

-- True if a block is one of those in which payments are that the backup does not know.
create function private.is_before_restore(c private.transfer_cursors, block_number bigint) returns boolean
  language sql stable as $$
  select exists (select from private.restores)
    and (c.catch_up_block is null or block_number <= c.catch_up_block)
$$;

-- Ends an account's ways in that a restore brought back, and what waits: the keys and apps, sessions, requests
-- and mandates, any of which may have been revoked or used up since the backup. Freezes the account until its
-- owner has looked.
create function private.suspend_restored(of_account uuid, made_at timestamptz) returns void
  language plpgsql as $$
begin
  perform private.freeze(of_account, pg_catalog.format(
    'The service was restored from a backup of %s UTC, so the account was frozen and all keys, apps, sessions and mandates ended. Passkeys, password, recovery codes, limits and recipients are those of that time: check them before you unfreeze it.',
    to_char(made_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')));
  perform private.end_access(of_account, 'service');
end $$;

-- Marks the database as restored, in the transaction that restores it.
create function private.mark_restored(made_at timestamptz) returns void language plpgsql as $$
begin
  insert into private.restores values (private.clock(), made_at);
  update private.transfer_cursors c set catch_up_block = null where c.catch_up_block is not null;
  delete from private.signups s where s.email is not null;
  perform private.suspend_restored(a.id, made_at) from private.accounts a order by a.id;
end $$;
