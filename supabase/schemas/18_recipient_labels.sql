-- Names that the owner gives to recipients, known or not. A name trusts nobody.

create table private.recipient_labels (
  account uuid not null references private.accounts,
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  label text not null check (length(label) between 1 and 64),
  primary key (account, address)
);
alter table private.recipient_labels enable row level security;

-- Returns the owner's name for an address; null if there is none.
create function private.label_of(of_account uuid, of_address text) returns text language plpgsql stable as $$
begin
  return (select l.label from private.recipient_labels l where l.account = of_account and l.address = of_address);
end $$;

-- Names a recipient, or takes the name away if it is empty. A name stands beside an address wherever the owner approves,
-- so a thief with a session must not choose it. An account names at most 1,000; the one beyond them is refused.
create function api.owner_label_recipient(credential text, address text, label text) returns table (labelled boolean)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'widen');
begin
  delete from private.recipient_labels l
   where l.account = caller.account and l.address = owner_label_recipient.address;
  insert into private.recipient_labels (account, address, label)
  select caller.account, owner_label_recipient.address, owner_label_recipient.label
   where owner_label_recipient.label <> ''
     and (select count(*) < 1000 from private.recipient_labels l where l.account = caller.account);
  labelled := found or owner_label_recipient.label = '';
  return next;
end $$;

-- Returns the names that the account's owner gave, in their order.
create function api.owner_list_labels(credential text) returns table (address text, label text)
  language plpgsql security definer set search_path = '' as $$
declare
  caller private.credentials := private.admit_owner(credential, 'look');
begin
  return query select l.address, l.label from private.recipient_labels l
   where l.account = caller.account order by lower(l.label), l.address;
end $$;

grant execute on function api.owner_label_recipient, api.owner_list_labels to service_role;
