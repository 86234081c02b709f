-- Upkeep of the whole database: how long rows are kept, what a restore ends, and the rotation of roots.
--
-- A backup lacks everything that happened after it: the chain still shows the payments, but nothing
-- shows what was revoked. So no way in from before the restore stays valid, and nothing is signed before
-- all transfers until then are in the books.
--
-- The program `npm run rotate-keys` moves wrapped keys from one root to another while the service runs. It
-- receives wraps and never what their keys sealed, and replaces a wrap only if it is still the one that was
-- read. Neither role reaches the keys of the other.

-- One row for each table and each moment from which its rows age; a test holds them against the catalog.
create table private.retention (
  of_table text not null,
  -- The moment from which a row `t` ages, as SQL; null if rows are kept as long as their account.
  ages_from text,
  kept interval,
  -- The rows that age, as SQL over `t`; all if null. Where many never age, it is the condition of the index.
  only_where text,
  reason text not null,
  unique nulls not distinct (of_table, ages_from),
  check ((ages_from is null) = (kept is null) and (only_where is null or kept is not null))
);
alter table private.retention enable row level security;
insert into private.retention (of_table, ages_from, kept, only_where, reason) values
  ('access_tokens', 't.expires_at', '0', null, 'An expired token opens nothing.'),
  ('ceremonies', 't.expires_at', '0', null, 'A challenge that is over proves nothing.'),
  ('delivered_pieces', 't.created_at', '7 days', null,
    'The agent reads what it bought when it bought it. Beyond 64 MB of a key, the oldest go first.'),
  ('device_requests', 't.expires_at', '1 day', null, 'A second use of its code within the day ends the grant.'),
  ('hosted_actions', 't.expires_at', '30 days', null, 'Its agent may ask how it ended.'),
  ('idempotent_answers', 't.created_at', '24 hours', null, 'A key is good for 24 hours.'),
  ('mail_changes', 't.asked_at', '1 day', 't.takes_effect_at is null',
    'Its code was never entered. One that was confirmed goes when it takes effect or is stopped.'),
  ('oauth_clients', 't.created_at', '1 day', 't.good_until is null and t.granted_at is null',
    'A program that registered and was never let in.'),
  ('oauth_clients', 't.good_until', '1 day', 't.granted_at is null',
    'Its document is read again when it is needed.'),
  ('oauth_clients', 't.granted_at', '1 year', null,
    'A program that nobody let in for a year registers again, or its document is read again.'),
  ('oauth_codes', 't.expires_at', '1 day', null, 'A second use within the day ends the grant.'),
  ('oauth_proofs', 't.used_at', '5 minutes', null, 'A proof is good for less.'),
  ('oauth_refresh_tokens', 't.expires_at', '0', null, 'An expired token opens nothing.'),
  ('oauth_refresh_tokens', 't.used_at', '7 days', 't.used_at is not null',
    'A second use within the week ends the grant.'),
  ('outbox', 't.created_at', '30 days', 't.carries is null',
    'Letters of an account are kept as long as their mail, which shows the outcome.'),
  ('payments', 't.expires_at', '30 days', 't.authorized_at is null',
    'What nobody authorized moved nothing. Its items in the feed go with it.'),
  ('sessions', 't.ends_at', '90 days', null, 'The owner sees where browsers signed in.'),
  ('settled_sums', 't.leaves_from', '1 day', null, 'It left all windows.'),
  ('sign_up_networks', 't.opened_at', '30 days', null, 'Accounts of one network share relayed transfers that long.'),
  ('signups', 't.created_at', '1 day', null, 'Codes are limited by the day.'),
  ('vault_destinations', 't.asked_at', '1 day', 't.approved_at is null',
    'A destination that the owner did not approve within the day is asked for again.'),
  ('vault_sessions', 't.expires_at', '0', null, 'An expired session continues nothing.'),
  ('webhook_events', 't.at', '30 days', null, 'It can be sent again for that long.'),
  ('webhooks', 't.ended_at', '30 days', 't.ended_at is not null', 'Who made it sees why it ended, and may have it go on.'),
  ('rate_buckets', 't.arrives_at', '1 hour', null, 'An empty bucket equals a missing one.'),

  ('account_keys', null, null, null, 'The account''s secrets are sealed with it.'),
  ('accounts', null, null, null, 'The account itself.'),
  ('activities', null, null, null, 'The history that the owner reads.'),
  ('acts', null, null, null, 'The table of what a session may do.'),
  ('approvals', null, null, null, 'What the owner decided, for as long as the payment.'),
  ('balances', null, null, null, 'One row for each wallet and token.'),
  ('consents', null, null, null, 'Proof of what the owner agreed to.'),
  ('credentials', null, null, null, 'Payments and consents name the key or session they came from.'),
  ('custody_keys', null, null, null, 'The wallet''s key.'),
  ('deposits', null, null, null, 'The history that balances are reconciled with.'),
  ('frozen_payments', null, null, null, 'One row for each account that is frozen.'),
  ('gas_terms', null, null, null, 'Settings of the operator.'),
  ('growth_terms', null, null, null, 'Settings of the operator.'),
  ('health', null, null, null, 'One row for each part of the service.'),
  ('known_devices', null, null, null, 'An act of the owner, until the owner takes it back.'),
  ('known_recipients', null, null, null, 'An act of the owner, until the owner takes it back.'),
  ('recipient_labels', null, null, null, 'At most 1,000 an account, each until the owner takes it away.'),
  ('mail_attachments', null, null, null, 'Goes with its mail.'),
  ('mail_codes', null, null, null, 'Goes with its mail, which tells what became of the code.'),
  ('mails', null, null, null, 'Kept until the owner deletes it; the mailbox has a size.'),
  ('mandates', null, null, null, 'What the owner agreed to, and payments under it.'),
  ('oauth_grants', null, null, null, 'Goes with its credential.'),
  ('outflows', null, null, null, 'The history that balances are reconciled with.'),
  ('owners', null, null, null, 'One row for each account.'),
  ('passkeys', null, null, null, 'Kept until the owner removes it.'),
  ('push_devices', null, null, null, 'Kept until the owner removes it, or its push service fails three times or says that it is gone; ten for an account.'),
  ('recovery_codes', null, null, null, 'Ten for each account, replaced by the next ten.'),
  ('relay_calls', null, null, null, 'What a transaction of a slot carried.'),
  ('gas_payers', null, null, null, 'One row for each relayer and each wallet that pays its own gas.'),
  ('relay_slots', null, null, null, 'A gas_payer counts its slots to know its next nonce.'),
  ('relay_transactions', null, null, null, 'A payment is found by each hash that it was sent under.'),
  ('restores', null, null, null, 'A chain that is connected later is read up to the time of the last one.'),
  ('retention', null, null, null, 'This table.'),
  ('secured', null, null, null, 'One row for each account that its owner secured.'),
  ('transfer_cursors', null, null, null, 'One row for each chain.'),
  ('vault_entries', null, null, null, 'Kept until it is deleted.'),
  ('vault_sites', null, null, null, 'Sites whose first use the owner was told of.'),
  ('waiting_notices', null, null, null, 'One row for each account and topic, until the owner is told.'),
  ('wallets', null, null, null, 'One row for each account.'),
  ('yield_days', null, null, null, 'The history that the chart of earnings shows.'),
  ('yield_rules', null, null, null, 'What the owner agreed to, with its mandate.');

-- Tables that calls of a key or app make grow, with the bytes of a row's indexes and of rows that follow from it: a
-- payment brings a slot of a relayer, its transaction and what the chain shows. What others write is not charged, and
-- answers that were bought have a size of their own.
do $$
declare
  charged record;
begin
  for charged in select * from (values
    ('payments', 6144, 'terms, delivery'), ('idempotent_answers', 1024, 'body'),
    ('activities', 512, null), ('mandates', 1024, null), ('hosted_actions', 1024, 'asked, entered'),
    ('mails', 4096, null), ('outbox', 2048, null), ('vault_entries', 512, 'sealed'),
    ('vault_destinations', 512, null), ('vault_sessions', 512, 'sealed'), ('vault_sites', 256, null),
    ('webhooks', 512, null), ('webhook_events', 256, null))
    as t (of_table, beside, grows_by)
  loop
    execute pg_catalog.format('create trigger charged after insert on private.%I
      for each row execute function private.charge_growth(%s)', charged.of_table, charged.beside);
    if charged.grows_by is not null then
      execute pg_catalog.format('create trigger charged_more after update of %s on private.%I
        for each row execute function private.charge_growth()', charged.grows_by, charged.of_table);
    end if;
  end loop;
end $$;

-- Deletes up to `batch` rows that a rule lets go; returns how many.
create function private.forget(rule private.retention, batch integer) returns bigint
  language plpgsql as $$
declare
  gone bigint;
begin
  execute pg_catalog.format('delete from private.%1$I where ctid = any (array(
    select t.ctid from private.%1$I t where %2$s <= $1 and %3$s limit $2 for update skip locked))',
    rule.of_table, rule.ages_from, coalesce(rule.only_where, 'true'))
  using private.clock() - rule.kept, batch;
  get diagnostics gone = row_count;
  return gone;
end $$;

-- Deletes empty buckets. Every request writes one, and an index on their time would cost each of them more.
-- So this looks at a thousand pages at random, which is all of them unless there are very many.
create function private.forget_buckets(kept interval) returns void language plpgsql as $$
declare
  pages constant double precision :=
    pg_catalog.pg_relation_size('private.rate_buckets') / pg_catalog.current_setting('block_size')::integer;
begin
  delete from private.rate_buckets b where b.ctid = any (array(
    select t.ctid from private.rate_buckets t
      tablesample system (100 * least(1, 1000 / greatest(1, pages)))
     where t.arrives_at < least(private.clock(), pg_catalog.clock_timestamp()) - kept
       for update skip locked));
end $$;

-- Deletes up to `batch` rows of each rule. Returns the largest number that one of them deleted: if that is
-- `batch`, there may be more.
create function api.housekeeping_forget(batch integer default 1000) returns table (deleted bigint)
  language plpgsql security definer set search_path = '' as $$
declare
  rule private.retention;
begin
  deleted := 0;
  for rule in select * from private.retention r where r.kept is not null
    and r.of_table <> 'rate_buckets' order by r.of_table, r.ages_from
  loop
    deleted := greatest(deleted, private.forget(rule, batch));
  end loop;
  perform private.forget_buckets(r.kept) from private.retention r where r.of_table = 'rate_buckets';
  return next;
end $$;

-- Returns how many keys of accounts each version of the root wraps.
create function api.rotation_count() returns table (purpose text, version integer, keys bigint)
  language sql security definer set search_path = '' as $$
  select k.purpose, k.kek_version, count(*) from private.account_keys k group by 1, 2 order by 1, 2
$$;

-- Returns keys that are wrapped by a version other than the sealing one, in the order of their ids.
create function api.rotation_list(
  purpose text, sealing integer, at_most integer, after text default null)
  returns table (key text, owner text, wrap jsonb)
  language sql security definer set search_path = '' as $$
  select k.id::text, k.account::text, k.wrap from private.account_keys k
   where k.purpose = rotation_list.purpose and k.kek_version <> sealing
     and (rotation_list.after is null or k.id > rotation_list.after::uuid)
   order by k.id limit at_most
$$;

-- Replaces the wraps of a page of keys; returns how many were still those that were read.
create function api.rotation_rewrap(moves jsonb) returns table (moved bigint)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.account_keys k set wrap = m.wrap
    from pg_catalog.jsonb_to_recordset(moves) as m (key text, was jsonb, wrap jsonb)
   where k.id = m.key::uuid and k.wrap = m.was;
  get diagnostics moved = row_count;
  return next;
end $$;

-- The same three functions for private keys of wallets and relayers. The sealed private key is not touched.
create function api.rotation_custody_count()
  returns table (purpose text, version integer, keys bigint)
  language sql security definer set search_path = '' as $$
  select 'custody', (k.envelope #>> '{wrap,kekVersion}')::integer, count(*)
    from private.custody_keys k group by 2 order by 2
$$;

create function api.rotation_custody_list(
  sealing integer, at_most integer, after text default null)
  returns table (key text, owner text, wrap jsonb)
  language sql security definer set search_path = '' as $$
  select k.address, k.owner, k.envelope -> 'wrap' from private.custody_keys k
   where (k.envelope #>> '{wrap,kekVersion}')::integer <> sealing
     and (rotation_custody_list.after is null or k.address > rotation_custody_list.after)
   order by k.address limit at_most
$$;

create function api.rotation_custody_rewrap(moves jsonb) returns table (moved bigint)
  language plpgsql security definer set search_path = '' as $$
begin
  update private.custody_keys k set envelope = pg_catalog.jsonb_set(k.envelope, '{wrap}', m.wrap)
    from pg_catalog.jsonb_to_recordset(moves) as m (key text, was jsonb, wrap jsonb)
   where k.address = m.key and k.envelope -> 'wrap' = m.was;
  get diagnostics moved = row_count;
  return next;
end $$;

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

grant execute on function api.housekeeping_forget to service_role;
grant execute on function api.rotation_count, api.rotation_list, api.rotation_rewrap to vault;
grant execute on function api.rotation_custody_count, api.rotation_custody_list, api.rotation_custody_rewrap to
  custody;
