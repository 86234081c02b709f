/** Sessions may do what the table of acts says: each function of the catalog x each proof x a hold. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf } from '../support/owner.ts'
import { pepper, start } from '../support/world.ts'

const world = await start()
const { sql } = world.db

/** Arguments that widen, where that depends on them; elsewhere any value of the right type will do. */
const widening: Record<string, string> = {
  decision: `'approved'`,
  limits: `'{"daily_spending_cap": "999000000000"}'`,
  assertion: 'null',
  suspended: 'false',
  scopes: `'{pay}'`,
  muted: `'{mail:approvals}'`,
  max_per_payment_usd_micros: 'null',
  max_per_day_usd_micros: 'null',
}
const anyOf: Record<string, string> = {
  text: `'x'`,
  integer: '1',
  bigint: '1',
  boolean: 'true',
  uuid: `'0f8fad5b-d9cb-469f-a165-70867728950e'`,
  jsonb: `'{}'`,
  'text[]': `'{read}'`,
  'uuid[]': `'{}'`,
  'timestamp with time zone': 'now()',
}

type OwnerFunction = { name: string; names: string[]; types: string[]; source: string }

const functions = await sql<OwnerFunction[]>`
  select p.proname as name, p.proargnames[1:p.pronargs] as names, p.prosrc as source,
    array(select format_type(t, null) from unnest(p.proargtypes) t) as types
  from pg_proc p where p.pronamespace = 'api'::regnamespace
   and p.prosrc ~ 'admit_(owner|consent)' and p.proname <> 'link_open' order by 1`

type Act = {
  act: string
  proof: 'session' | 'code' | 'fresh'
  on_hold: boolean
  when_closed: boolean
  meaning: string
}
const acts = await sql<Act[]>`select * from private.acts order by act`

/** Returns the acts that a function names, in the order in which it demands them. */
function actsOf({ source }: OwnerFunction): string[] {
  return [...source.matchAll(/admit_(?:owner\(\s*credential, ([^)]*)\)|consent)/g)].flatMap(
    ([, named]) => (named === undefined ? ['approve'] : (named.match(/'\w+'/g) ?? []).map(unquote)),
  )
}

const unquote = (word: string) => word.slice(1, -1)

/** Returns the act that a function does with arguments that widen. */
function actOf(called: OwnerFunction): Act {
  const named = actsOf(called)
  const act = ['approve', 'widen', ...named].find((one) => named.includes(one))
  const row = acts.find((one) => one.act === act)
  if (!row) throw new Error(`${called.name} names no act of the table`)
  return row
}

function callOf({ name, names, types }: OwnerFunction, credential: string): string {
  const given = names.map((argument, at) => {
    if (argument === 'credential') return `credential => '${credential}'`
    return `${argument} => ${widening[argument] ?? anyOf[types[at] ?? ''] ?? 'null'}`
  })
  return `select * from api.${name}(${given.join(', ')})`
}

/** Calls a function and rolls back its effects. Returns the message of its refusal, if any. */
async function refusalOf(called: OwnerFunction, credential: string): Promise<string | undefined> {
  try {
    await sql.begin(async (transaction) => {
      await transaction.unsafe(callOf(called, credential))
      throw new Error('done')
    })
    return undefined
  } catch (error) {
    const { message } = error instanceof Error ? error : { message: String(error) }
    return message === 'done' ? undefined : message
  }
}

/** Returns every row of every table, except the buckets that count requests. */
async function everything(): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'private'
       and tablename <> 'rate_buckets' order by 1`
  const texts = tables.map(async ({ name }) => {
    const rows = await sql.unsafe(`select t::text from private.${name} t order by 1`)
    return JSON.stringify(rows)
  })
  return (await Promise.all(texts)).join('\n')
}

test('the catalog holds functions of the owner', () => {
  expect(functions.map(({ name }) => name)).toContain('owner_set_limits')
})

test.each(['read', 'pay', 'full', 'vault'] as const)(
  'a key of the scope %s is refused by each of them, and nothing changes',
  async (scope) => {
    const credential = await credentialOf((await world.agent(scope)).key, pepper)
    const before = await everything()

    for (const called of functions) {
      await expect(sql.unsafe(callOf(called, credential)), called.name).rejects.toThrow(
        'insufficient_scope',
      )
    }

    expect(await everything()).toBe(before)
  },
)

/** Sessions by what they were proven with, and the account that they are in. */
const proofs = [
  'an old proof',
  'a password',
  'a passkey',
  'a password beside a passkey',
  'a recovery code',
]
const grid = proofs.flatMap((proof) => [false, true].map((isOnHold) => ({ proof, isOnHold })))

async function sessionWith({ proof, isOnHold }: (typeof grid)[number]): Promise<string> {
  const { id } = await world.agent('read')
  await sql`insert into private.owners (account, email, password_hash)
    values (${id}, ${`${id}@people.example`}, 'a hash')`
  const { credential } = await ownerOf(world, { id }, proof === 'an old proof' ? 11 : 0)
  const session = sql`(select k.id from private.credentials k where k.digest = ${credential})`
  if (proof.includes('passkey')) {
    await sql`insert into private.passkeys (id, account, public_key, counter, transports, label)
      values (${id}, ${id}, 'x', 0, '{}', 'Mine')`
  }
  if (proof === 'a passkey') {
    await sql`update private.sessions set proven_by = ${id} where credential = ${session}`
  }
  if (proof === 'a recovery code') {
    await sql`update private.sessions set signed_in_with = 'recovery_code', proven_at = '-infinity'
      where credential = ${session}`
  }
  if (isOnHold) await sql`select private.begin_hold(${id})`
  return credential
}

/** Returns the refusal that the table states, if any. */
function statedRefusal(called: OwnerFunction, { proof, isOnHold }: (typeof grid)[number]) {
  const { act, proof: needed, on_hold } = actOf(called)
  const hasPasskey = proof.includes('passkey')
  if (isOnHold && !on_hold) return 'account_on_hold'
  // The form of a consent shows what it is given with, whatever the session was proven with.
  if (/admit_consent/.test(called.source) && hasPasskey) return 'passkey_required'
  if (act === 'prove' && called.name === 'owner_prove' && hasPasskey) return 'passkey_required'
  const isFresh = proof === 'a password' || proof === 'a passkey'
  if (needed === 'code' && proof !== 'a recovery code') return 'proof_required'
  return needed === 'fresh' && !isFresh ? 'proof_required' : undefined
}

const refusalsOfTable = ['account_on_hold', 'proof_required', 'passkey_required']

test.each(grid)(
  'with %o a session may do what the table says, function by function',
  async (row) => {
    const credential = await sessionWith(row)
    const found: Record<string, string | undefined> = {}
    const stated: Record<string, string | undefined> = {}

    for (const called of functions) {
      const refusal = await refusalOf(called, credential)
      found[called.name] = refusalsOfTable.find((one) => one === refusal)
      stated[called.name] = statedRefusal(called, row)
      expect(['insufficient_scope', 'unauthorized'], called.name).not.toContain(refusal)
    }

    expect(found).toEqual(stated)
  },
)

test('in a closed account a session may do what the table says, function by function', async () => {
  const credential = await sessionWith({ proof: 'a password', isOnHold: false })
  await sql`update private.accounts set closed_at = private.clock() where id = (
    select account from private.credentials where digest = ${credential})`
  const isPossible = new Map(acts.map(({ act, when_closed }) => [act, when_closed]))

  for (const called of functions) {
    const [act = ''] = actsOf(called)
    const refusal = await refusalOf(called, credential)
    expect(refusal === 'account_frozen', called.name).toBe(!isPossible.get(act))
  }
})

test('each function names acts of the table, and each act is named', async () => {
  const rows = await sql<{ source: string }[]>`
    select prosrc as source from pg_proc where pronamespace in ('api'::regnamespace, 'private'::regnamespace)`
  const sources = rows.map(({ source }) => source).join('\n')
  const named = [
    ...sources.matchAll(
      /(?:admit_owner\(\s*credential, |demand\(caller, |refusal_of\(caller, )([^)]*)/g,
    ),
  ].flatMap(([, words = '']) => words.match(/'\w+'/g)?.map(unquote) ?? [])

  expect([...new Set(named)].toSorted()).toEqual(acts.map(({ act }) => act).toSorted())
})

test('no function but those of the table looks at proofs, their age or a hold', async () => {
  const looking = await sql<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace in ('api'::regnamespace, 'private'::regnamespace)
       and (prosrc ~ 'is_proven|is_on_hold' or prosrc ~ 'proven_at [<>]') order by 1`

  expect(looking.map(({ name }) => name)).toEqual(['is_proven', 'owner_security', 'refusal_of'])
})

test('the README of shared/auth has the table in the same words', () => {
  const readme = readFileSync(new URL('../../shared/auth/README.md', import.meta.url), 'utf8')

  const word = (isPossible: boolean) => (isPossible ? 'yes' : 'no')

  for (const { act, proof, on_hold, when_closed, meaning } of acts) {
    const cells = [`\`${act}\``, proof, word(on_hold), word(when_closed), meaning]
    expect(readme).toContain(`| ${cells.join(' | ')} |`)
  }
})

test('an ended session is refused by each of them', async () => {
  const { credential } = await ownerOf(world, await world.agent('read'))
  await sql`update private.credentials set revoked_at = private.clock() where digest = ${credential}`

  for (const called of functions) {
    expect(await refusalOf(called, credential), called.name).toBe('unauthorized')
  }
})
