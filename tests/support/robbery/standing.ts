/** The query for everything that exists in an account: what may act, and what waits. */
const seconds = (column: string) => `extract(epoch from nullif(${column}, 'infinity'))::float8`

const credentials = `
  select k.kind, k.id::text, concat_ws(' ', k.scopes, k.reads_secrets) as value,
      ${seconds('coalesce(s.ends_at, k.expires_at)')} as until
    from private.credentials k left join private.sessions s on s.credential = k.id
   where k.account = $1 and k.revoked_at is null
     and (k.expires_at is null or k.expires_at > private.clock() or k.kind = 'session')
  union all select 'cap', k.id || ' each', coalesce(k.max_per_payment_usd_micros, 1e15)::text, null
    from private.credentials k where k.account = $1 and private.is_agent_live(k)
  union all select 'cap', k.id || ' day', coalesce(k.max_per_day_usd_micros, 1e15)::text, null
    from private.credentials k where k.account = $1 and private.is_agent_live(k)
  union all select 'app code', c.digest, '', ${seconds('c.expires_at')} from private.oauth_codes c
   where c.account = $1 and c.used_at is null and c.expires_at > private.clock()`

const waysIn = `
  select 'passkey', p.id, '', null from private.passkeys p where p.account = $1
  union all select 'code', r.digest, '', null from private.recovery_codes r
   where r.account = $1 and r.used_at is null
  union all select 'password', '', coalesce(o.password_hash, ''), null from private.owners o
   where o.account = $1
  union all select 'lost', '', (o.passkeys_lost_at is not null)::text, null from private.owners o
   where o.account = $1`

const trust = `
  select 'known', r.address, '', null from private.known_recipients r where r.account = $1
  union all select 'known', d.key || ' ' || d.fingerprint, '', null from private.known_devices d
   where d.account = $1
  union all select 'mandate', m.id::text, m.state, ${seconds('m.expires_at')} from private.mandates m
   where m.account = $1 and m.state in ('active', 'pending_approval', 'suspended')
     and m.expires_at > private.clock()
  union all select 'payment', p.id::text,
      case when o.payment is null then 'waits' else 'approved' end, ${seconds('p.expires_at')}
    from private.payments p left join private.approvals o on o.payment = p.id
   where p.account = $1 and p.state in ('prepared', 'awaiting_confirmation')
     and p.expires_at > private.clock()
  union all select 'link', h.id::text, '', ${seconds('h.expires_at')} from private.hosted_actions h
   where h.account = $1 and private.hosted_action_status(h) in ('pending', 'opened')`

const kept = `
  select 'destination', p.id::text, case when p.approved_at is null then 'waits'
      else 'approved ' || p.wide end, null from private.vault_destinations p where p.account = $1
  union all select 'entry', e.id::text, concat_ws(' ', e.site, e.username, e.version), null
    from private.vault_entries e where e.account = $1
  union all select 'takes codes', e.id::text, '', null from private.vault_entries e
   where e.account = $1 and e.takes_codes
  union all select 'mail', m.id::text, m.direction, null from private.mails m where m.account = $1`

const limits = `
  select l.kind, l.id, l.value, null from private.accounts a,
    lateral (values ('limit', 'automatic', a.automatic_daily_limit_usd_micros::text),
      ('limit', 'asserted', a.asserted_daily_limit_usd_micros::text),
      ('limit', 'new recipient', a.asserted_new_recipient_limit_usd_micros::text),
      ('limit', 'cap', a.daily_spending_cap_usd_micros::text),
      ('shows codes', '', a.shows_codes::text),
      ('frozen', '', (a.frozen_at is not null)::text)) l (kind, id, value)
   where a.id = $1`

/** The query; its one parameter is the account. */
export const standing = [credentials, waysIn, trust, kept, limits].join(' union all ')
