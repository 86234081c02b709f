-- Payments that the owner enters in the app. Each waits for the owner's approval like one that an agent asked for, and
-- is paid by a credential of the account that stands for the owner.

-- Returns the credential that pays what the owner enters, and makes it at first use. It has no secret, so nobody signs
-- in with it, and no caps of its own. The caller holds the account's lock.
create function private.owner_payer(of_account uuid) returns private.credentials language plpgsql as $$
declare
  payer private.credentials;
begin
  select k.* into payer from private.credentials k
   where k.account = of_account and k.kind = 'owner' and k.revoked_at is null;
  if not found then
    insert into private.credentials (account, kind, label, shown, scopes)
    values (of_account, 'owner', 'Owner', 'owner', array['pay']) returning * into payer;
  end if;
  return payer;
end $$;

-- Enters a transfer of the owner, which waits for an hour to be approved, and returns its id. It takes the proof of an
-- approval, so that a thief with a session plants no transfer that the owner takes for their own. The same claim finds the
-- transfer that it entered before. Enters nothing and returns no row for a transfer to the wallet that would pay it.
create function api.owner_enter_transfer(
  credential text, claim uuid, chain bigint, token text, amount_atomic text, amount_usd_micros text,
  payee text default null, payee_alias text default null, memo text default null)
  returns table (payment uuid)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'approve');
  payer private.credentials;
  payee_address text := coalesce(payee, private.address_of(payee_alias));
begin
  perform private.hold_payer(caller, true);
  payer := private.owner_payer(caller.account);
  perform private.limit_undecided(payer);
  insert into private.payments (account, key, device, kind, state, asked_level, claim, chain, token, wallet, payee,
    payee_alias, amount_atomic, amount_usd_micros, memo, keyed, expires_at)
  select caller.account, payer.id, '', 'transfer', 'awaiting_confirmation',
    case when private.has_passkey(caller.account) then 'user_passkey' else 'user_session' end,
    owner_enter_transfer.claim, owner_enter_transfer.chain, owner_enter_transfer.token, w.address, payee_address,
    owner_enter_transfer.payee_alias, owner_enter_transfer.amount_atomic::numeric,
    owner_enter_transfer.amount_usd_micros::bigint, owner_enter_transfer.memo, true,
    private.clock() + interval '1 hour'
  from private.wallets w where w.account = caller.account and w.chain_family = 'evm' and w.address <> payee_address
  on conflict on constraint payments_account_kind_claim_key do nothing;
  return query select p.id from private.payments p
   where p.account = caller.account and p.kind = 'transfer' and p.claim = owner_enter_transfer.claim;
end $$;

grant execute on function api.owner_enter_transfer to service_role;
