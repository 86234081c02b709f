/** An hour of calls without an account leaves a bounded number of rows, from however many networks. */
import { expect, test } from 'vitest'
import { start } from '../../support/world.ts'

const { db } = await start()

/** Calls the statement `times` times, each from its own network. Returns the number that was accepted. */
await db.sql.unsafe(`
  create function testing.flood(statement text, times integer) returns integer language plpgsql as $$
  declare
    taken integer := 0;
  begin
    for n in 1 .. times loop
      begin
        execute statement using n::text,
          format('2001:%s:%s::1', to_hex(n / 60000 + 1), to_hex(n % 60000)),
          encode(sha256(n::text::bytea), 'hex');
        taken := taken + 1;
      exception when sqlstate 'PT429' then
        null;
      end;
    end loop;
    return taken;
  end $$`)

async function flood(statement: string, times: number): Promise<number> {
  const [row] = await db.sql<{ flood: number }[]>`select testing.flood(${statement}, ${times})`
  return row?.flood ?? 0
}

const mail = `jsonb_build_object('id', gen_random_uuid(), 'to', $1 || '@example.com', 'topic', 't',
  'sealed', 'x')`

/** Statement that accepts `burst` calls at once, and then one every `every` seconds. */
type Door = [name: string, statement: string, burst: number, every: number, table: string]
const doors: Door[] = [
  [
    'sign-up mails',
    `select api.signup_request($1 || '@example.com', $3, $2, ${mail}, ${mail})`,
    300,
    1,
    'outbox',
  ],
  [
    'registrations of clients',
    `select api.oauth_register_client('c' || $1, '{}', $2)`,
    1_000,
    1,
    'oauth_clients',
  ],
  [
    'documents of clients',
    `select api.oauth_find_document('https://h' || $1 || '.com/' || $2 || $3, 'h' || $1)`,
    600,
    0.2,
    'rate_buckets',
  ],
  [
    'passwords that are tried',
    `select api.login_find($1 || '@example.com', $2) where $3 <> ''`,
    600,
    0.25,
    'rate_buckets',
  ],
]

test.each(doors)('%s of 3,000 networks at once come to a bounded number', async (...door) => {
  const [, statement, burst, every, table] = door
  const rowsOf = async () => {
    const [row] = await db.sql.unsafe(`select count(*)::integer as rows from private.${table}`)
    return Number(row?.['rows'])
  }
  const before = await rowsOf()

  const began = performance.now()
  const taken = await flood(statement, 3_000)
  const seconds = (performance.now() - began) / 1_000

  expect(taken).toBeGreaterThanOrEqual(burst)
  expect(taken).toBeLessThanOrEqual(burst + seconds / every + 1)
  // Each accepted call has four buckets: its network, the wider network, its name, and name and network.
  expect((await rowsOf()) - before).toBeLessThanOrEqual(4 * taken + 4)
})
