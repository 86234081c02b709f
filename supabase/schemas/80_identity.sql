-- Identity: the account itself and the recipients that it can pay. These functions change nothing.

create function api.get_identity(credential text) returns table (identity jsonb)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
  spent private.spending := private.spent(caller.account);
begin
  return query
  select jsonb_build_object(
    'account_id', a.id, 'alias', a.alias, 'frozen', a.frozen_at is not null,
    'wallets', (select jsonb_agg(jsonb_build_object(
      'chain_family', w.chain_family, 'address', w.address)) from private.wallets w
      where w.account = a.id),
    'credential', jsonb_build_object('kind', caller.kind, 'id', caller.id,
      'label', private.plain_name(caller),
      'scopes', caller.scopes, 'expires_at', caller.expires_at,
      'reads_secrets', caller.reads_secrets,
      'caps', private.caps_json(caller.id)),
    'limits', private.limits_json(a, spent) || jsonb_build_object(
      'asserted_new_recipient', a.asserted_new_recipient_limit_usd_micros::text),
    'relayed', private.relayed_json(a.id), 'health', private.health_json())
  from private.accounts a where a.id = caller.account;
end $$;

-- Returns the address of the caller's wallet and the amount reserved of its money, for the balances.
create function api.get_wallet(credential text)
  returns table (address text, reserved_usd_micros text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
begin
  return query
  select w.address, (select coalesce(sum(p.amount_usd_micros), 0)::text from private.payments p
    where p.wallet = w.address and p.state in ('authorized', 'signed') and p.block_hash is null
      and p.counts_until > private.clock())
  from private.wallets w where w.account = caller.account and w.chain_family = 'evm';
end $$;

-- Finds a recipient by alias, or takes the address as it is, and returns its relation to the caller. Returns
-- no row if no account has the alias.
create function api.resolve_recipient(
  credential text, recipient_alias text default null, address text default null)
  returns table (address_found text, alias_found text, known boolean, similar_to text, own boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit(credential, 'read');
  found_wallet private.wallets;
  target text := resolve_recipient.address;
begin
  if recipient_alias is not null then
    select w.* into found_wallet from private.accounts a
      join private.wallets w on w.account = a.id and w.chain_family = 'evm'
     where a.alias = recipient_alias and a.closed_at is null;
  else
    select w.* into found_wallet from private.wallets w where w.address = target;
  end if;
  target := coalesce(found_wallet.address, target);
  if target is not null then
    return query select target,
      case when recipient_alias is not null then recipient_alias end,
      private.recipient_known(caller.account, target),
      private.similar_recipient(caller.account, target),
      found_wallet.account is not distinct from caller.account;
  end if;
end $$;

grant execute on function api.get_identity, api.get_wallet, api.resolve_recipient to service_role;
