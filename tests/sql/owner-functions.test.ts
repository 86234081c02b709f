/** Every function of the owner follows these rules; the tests are generated from the catalog. */
import { expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf } from '../support/owner.ts'
import { pepper, start } from '../support/world.ts'

const world = await start()
const { sql } = world.db

/**
 * Functions that need a session and no fresh proof: they narrow, show or end, or are a step of the
 * proof. Every other function of the owner must ask for a proof.
 */
const withoutProof = [
  'owner_ask_again',
  'owner_begin_ceremony',
  'owner_decline_all',
  'owner_disconnect_apps',
  'owner_end_destination',
  'owner_end_other_sessions',
  'owner_end_session',
  'owner_find_activity',
  'owner_find_passkey',
  'owner_find_password',
  'owner_finish_login_link',
  'owner_forget_device',
  'owner_forget_known_by',
  'owner_forget_recipient',
  'owner_list_approvals',
  'owner_list_apps',
  'owner_list_destinations',
  'owner_list_devices',
  'owner_list_entries',
  'owner_list_exposures',
  'owner_list_keys',
  'owner_list_recipients',
  'owner_lose_passkeys',
  'owner_meet_app',
  'owner_narrow_mandate',
  'owner_overview',
  'owner_prove',
  'owner_prove_with_passkey',
  'owner_read_approvals',
  'owner_read_freeze',
  'owner_read_limits',
  'owner_read_mandate',
  'owner_read_notifications',
  'owner_read_session',
  'owner_read_shows_codes',
  'owner_rehearse_rule',
  'owner_remove_push_device',
  'owner_revoke_key',
  'owner_revoke_mandate',
  'owner_search_activity',
  'owner_security',
  'owner_take_ceremony',
  'owner_test_push',
  'owner_touch_session',
  'owner_yield',
]

/** Arguments that widen, where that depends on them; elsewhere any value of the right type will do. */
const widening: Record<string, string> = {
  decision: `'approved'`,
  limit_name: `'daily_spending_cap'`,
  usd_micros: `'999000000000'`,
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

type OwnerFunction = { name: string; names: string[]; types: string[] }

const functions = await sql<OwnerFunction[]>`
  select p.proname as name, p.proargnames[1:p.pronargs] as names,
    array(select format_type(t, null) from unnest(p.proargtypes) t) as types
  from pg_proc p where p.pronamespace = 'api'::regnamespace and p.proname like 'owner\\_%'
  order by 1`

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
  expect(functions.map(({ name }) => name)).toContain('owner_set_limit')
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

test('whatever widens refuses a proof that is older than ten minutes', async () => {
  const account = await world.agent('read')
  const { credential } = await ownerOf(world, account, 11)

  const lenient: string[] = []
  for (const called of functions) {
    if ((await refusalOf(called, credential)) !== 'proof_required') lenient.push(called.name)
  }

  expect(lenient).toEqual(withoutProof)
})

test('a session that has just been proven is turned away by none of them for that', async () => {
  const { credential } = await ownerOf(world, await world.agent('read'))

  for (const called of functions) {
    const refusal = await refusalOf(called, credential)
    expect(['proof_required', 'insufficient_scope', 'unauthorized']).not.toContain(refusal)
  }
})

test('an ended session is refused by each of them', async () => {
  const { credential } = await ownerOf(world, await world.agent('read'))
  await sql`update private.credentials set revoked_at = private.clock() where digest = ${credential}`

  for (const called of functions) {
    expect(await refusalOf(called, credential), called.name).toBe('unauthorized')
  }
})
