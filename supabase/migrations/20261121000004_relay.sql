-- Relaying: lanes (addresses that pay for gas), slots (one nonce of a lane) and the transactions
-- signed for a slot. A nonce comes from the lane's row, so two requests can never share one.

create table private.relay_lanes (
  chain bigint not null,
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  -- A relayer of the service, or a wallet that pays its own gas.
  kind text not null check (kind in ('relayer', 'wallet')),
  next_nonce bigint not null check (next_nonce >= 0),
  paused boolean not null default false,
  used_at timestamptz,
  primary key (chain, address)
);

create table private.relay_slots (
  id bigint generated always as identity primary key,
  chain bigint not null,
  lane text not null,
  nonce bigint not null,
  payment uuid not null unique references private.payments,
  claimed_at timestamptz not null default private.clock(),
  unique (chain, lane, nonce),
  foreign key (chain, lane) references private.relay_lanes (chain, address)
);

create table private.relay_transactions (
  slot bigint not null references private.relay_slots,
  attempt integer not null,
  tx_hash text not null unique check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  raw text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  created_at timestamptz not null default private.clock(),
  primary key (slot, attempt)
);

alter table private.relay_lanes enable row level security;
alter table private.relay_slots enable row level security;
alter table private.relay_transactions enable row level security;

-- What the operator's scripts bring a relayer into service with. The nonce never goes back below
-- one that a slot holds.
create function private.open_lane(chain bigint, address text, envelope jsonb, nonce bigint)
  returns void language plpgsql as $$
begin
  insert into private.custody_keys values (address, 'relayer', envelope) on conflict do nothing;
  insert into private.relay_lanes as l values (open_lane.chain, open_lane.address, 'relayer', nonce)
  on conflict on constraint relay_lanes_pkey do update set next_nonce = greatest(
    excluded.next_nonce,
    (select coalesce(max(s.nonce) + 1, 0) from private.relay_slots s
      where s.chain = l.chain and s.lane = l.address));
end $$;

-- Claims the next nonce of a lane for a payment: of a relayer, or of the wallet itself, whose
-- counter follows what the chain was seen to hold. Null when no relayer is in service.
create function private.claim_slot(p private.payments, lane_kind text, wallet_nonce bigint)
  returns private.relay_slots language plpgsql as $$
declare
  claimed private.relay_slots;
  picked private.relay_lanes;
begin
  if lane_kind = 'wallet' then
    insert into private.relay_lanes as l (chain, address, kind, next_nonce)
    values (p.chain, p.wallet, 'wallet', wallet_nonce)
    on conflict (chain, address) do update set next_nonce = greatest(l.next_nonce, wallet_nonce)
    returning * into picked;
  else
    select l.* into picked from private.relay_lanes l
     where l.chain = p.chain and l.kind = 'relayer' and not l.paused
     order by l.used_at nulls first limit 1 for update;
    if not found then
      return null;
    end if;
  end if;
  update private.relay_lanes l
     set next_nonce = l.next_nonce + 1, used_at = pg_catalog.clock_timestamp()
   where l.chain = picked.chain and l.address = picked.address
  returning l.* into picked;
  insert into private.relay_slots (chain, lane, nonce, payment)
  values (picked.chain, picked.address, picked.next_nonce - 1, p.id)
  returning * into claimed;
  return claimed;
end $$;
