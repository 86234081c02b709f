/**
 * Sealed secrets and wrapped keys that an intruder in the database moved or changed do not open, and no
 * operation or log reveals anything of them.
 */
import { expect, test } from 'vitest'
import { letRead, loginOf, seed } from '../support/vault.ts'
import { codeOf } from '../support/vault-rows.ts'
import { type Agent, start } from '../support/world.ts'

const tests = await start()
const { sql } = tests.db
const secrets = { password: 'the secret of one', notes: 'the notes of one', totp_secret: seed }
const told = /the secret of|the notes of|JBSW|sealed|ciphertext"/

/** Creates two accounts with one login each, equal except for where they belong. */
async function pair() {
  const [one, other] = [await tests.agent('full'), await tests.agent('full')]
  const [entry, others] = [await loginOf(one, secrets), await loginOf(other, secrets)]
  await letRead(tests, one, 'full')
  return { one, other, entry, others }
}
type Pair = Awaited<ReturnType<typeof pair>>

const replaceSealed = (entry: string, by: string) => sql`
  update private.vault_entries e set sealed = o.sealed from private.vault_entries o
   where e.id = ${entry} and o.id = ${by}`

const transplants: Record<string, (pair: Pair) => PromiseLike<unknown>> = {
  'a record of another account': ({ entry, others }) => replaceSealed(entry, others),
  'another record of the account': async ({ one, entry }) =>
    replaceSealed(entry, await loginOf(one, { ...secrets, username: 'second' })),
  'a later version': ({ entry }) =>
    sql`update private.vault_entries set version = version + 1 where id = ${entry}`,
  'an earlier version': async ({ one, entry }) => {
    const [before] = await sql<{ sealed: Record<string, string> }[]>`
      select sealed from private.vault_entries where id = ${entry}`
    await loginOf(one, { password: 'the secret of later' })
    await sql`update private.vault_entries set sealed = ${sql.json(before?.sealed ?? {})}
       where id = ${entry}`
  },
  'another site': ({ entry }) =>
    sql`update private.vault_entries set site = 'https://evil.example.com' where id = ${entry}`,
  'another path of the site': ({ entry }) =>
    sql`update private.vault_entries set site = site || '/' where id = ${entry}`,
  'a record of the purpose mail': async ({ one, entry }) => {
    const handle = await codeOf(tests, one, { value: 'the secret of a mail' })
    await sql`update private.vault_entries e set sealed = c.sealed from private.mail_codes c
       where e.id = ${entry} and c.handle = ${handle}`
  },
  'the key of another account': ({ one, other }) => sql`
    update private.account_keys k set wrap = o.wrap from private.account_keys o
     where k.account = ${one.id} and o.account = ${other.id}`,
  "the account's key for mail": async ({ one }) => {
    await codeOf(tests, one, { value: 'the secret of a mail' })
    await sql`update private.account_keys k set wrap = o.wrap from private.account_keys o
       where k.account = ${one.id} and o.account = k.account
         and k.purpose = 'vault' and o.purpose = 'mail'`
  },
}

/** Returns the status of each way to open an entry. Asserts that no failure reveals anything. */
async function ways({ one, entry }: { one: Agent; entry: string }): Promise<number[]> {
  const answers = [
    await one.get(`/user-site-credentials?credential_id=${entry}`),
    await one.post('/vault-totp', { credential_id: entry }),
    await one.post('/vault-generate', { credential_id: entry }),
  ]
  const failed = answers.filter(({ status }) => status !== 200)
  expect(JSON.stringify([failed, tests.log])).not.toMatch(told)
  return answers.map(({ status }) => status)
}

test('what lies where it was sealed for opens in every way', async () => {
  expect(await ways(await pair())).toEqual([200, 200, 200])
})

test.each(Object.keys(transplants))('%s does not open as this one', async (name) => {
  const there = await pair()
  await transplants[name]?.(there)

  expect(await ways(there)).toEqual([500, 500, 500])

  const [row] = await sql`select kek_version from private.account_keys
    where account = ${there.other.id} and purpose = 'vault'`
  expect(row).toBeDefined()
})

/** Returns the same base64 text with one bit of its bytes flipped. */
function turned(base64: string, at: number): string {
  const bytes = Buffer.from(base64, 'base64')
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))
  return bytes.toString('base64')
}

type Box = { nonce: string; ciphertext: string }

test.each([
  ['the sealed record', 'vault_entries', 'sealed'],
  ['the wrapped key', 'account_keys', 'wrap'],
] as const)('with a bit of any byte of %s turned, nothing opens', async (_, table, column) => {
  const { one, entry } = await pair()
  const own = sql`account = ${one.id}`
  const [row] = await sql<{ box: Box }[]>`
    select ${sql(column)} as box from private.${sql(table)} where ${own}`
  if (!row) throw new Error('nothing is sealed')
  const put = (box: Box) =>
    sql`update private.${sql(table)} set ${sql(column)} = ${sql.json(box)} where ${own}`
  const statuses = new Map<number, number>()

  for (const part of ['nonce', 'ciphertext'] as const) {
    const { length } = Buffer.from(row.box[part], 'base64')
    for (let at = 0; at < length; at += 1) {
      await put({ ...row.box, [part]: turned(row.box[part], at) })
      const { status } = await one.post('/vault-totp', { credential_id: entry })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await put(row.box)

  expect([...statuses.keys()]).toEqual([500])
  expect(statuses.get(500)).toBeGreaterThan(60)
  expect((await one.post('/vault-totp', { credential_id: entry })).status).toBe(200)
})
