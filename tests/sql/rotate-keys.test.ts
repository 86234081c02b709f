import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openAccount } from '../../scripts/operator/provision.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import { openTestDatabase, project, type TestDatabase } from '../support/database.ts'
import { serverThat } from '../support/http.ts'
import { runRotation as run } from '../support/rotate-program.ts'
import { rootKeys, storedKeys } from '../support/rotation.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  const roots = readRoots(rootKeys([1]), 'custody')
  for (const alias of ['first', 'second', 'third']) await openAccount(db.sql, roots, alias)
  return () => db.close()
})

const nowhere = { SUPABASE_URL: 'http://127.0.0.1:9', SUPABASE_API_KEY: project.apiKey }
const custody = (roots: string) => ({
  SUPABASE_URL: db.gatewayUrl,
  SUPABASE_API_KEY: project.apiKey,
  CUSTODY_DATABASE_KEY: project.tokens.custody,
  CUSTODY_ROOT_KEYS: roots,
})

test('the program says what it would do, does it, and names the version that may go', async () => {
  const roots = rootKeys([1, 2])

  const dry = await run(['--dry-run'], custody(roots))
  const first = await run([], custody(roots))
  const again = await run([], custody(roots))

  expect(dry).toEqual({
    code: 0,
    output: `custody  3 keys under version 1; version 2 seals
custody  3 keys would be moved
`,
  })
  expect(first).toEqual({
    code: 0,
    output: `custody  3 keys under version 1; version 2 seals
custody  3 keys moved
no key is left under version 1: it may be removed from CUSTODY_ROOT_KEYS
`,
  })
  expect(again.code).toBe(0)
  expect(again.output).toContain('custody  0 keys moved')
  expect((await storedKeys(db)).map(({ wrap }) => wrap.kekVersion)).toEqual([2, 2, 2])
})

test('a key that does not open is named, and the program ends with 1', async () => {
  const { code, output } = await run([], custody(rootKeys([3])))

  expect(code).toBe(1)
  expect(output).toMatch(/0x[0-9a-fA-F]{40} does not open: custody has no root of version 2/)
  expect(output).toContain('3 keys under version 2: not moved')
  expect(output).not.toContain('may be removed')
})

test('Ctrl-C ends it after what it is at, and says that it can be run again', async () => {
  const children: ChildProcess[] = []
  const gateway = await serverThat((response, { url, headers, body }) => {
    if (url.endsWith('rotation_custody_list')) children[0]?.kill('SIGINT')
    const { apikey, authorization = '' } = headers
    const forwarded = {
      apikey: String(apikey),
      authorization,
      'content-profile': 'api',
      'content-type': 'application/json',
    }
    const asked = fetch(db.gatewayUrl + url, { method: 'POST', headers: forwarded, body })
    void asked.then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
  })
  const bindings = { ...custody(rootKeys([2, 3])), SUPABASE_URL: gateway.url.slice(0, -1) }

  const { code, output } = await run([], bindings, (child) => children.push(child))

  expect(code).toBe(130)
  expect(output).toContain('stopped; what is left is moved by the next run')
  expect((await run([], custody(rootKeys([2, 3])))).code).toBe(0)
})

test.each([
  ['no database', {}, 'SUPABASE_URL is not set'],
  ['no key', nowhere, 'no database key is given'],
  ['a key without its roots', { ...nowhere, VAULT_DATABASE_KEY: 'k' }, 'given together'],
  [
    'a database that is not there',
    { ...nowhere, VAULT_DATABASE_KEY: 'k', VAULT_ROOT_KEYS: rootKeys([1]) },
    'unavailable: ',
  ],
])('with %s it ends with 1 and one line', async (_, bindings, line) => {
  const { code, output } = await run(['--data', tmpdir()], bindings)

  expect(code).toBe(1)
  expect(output).toContain(line)
  expect(output).not.toContain('    at ')
})

test('a new root of the local world seals only after the next start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-roots-'))
  const file = join(directory, 'secrets.json')
  const roots: unknown = JSON.parse(rootKeys([1]))
  const kept = { vault_roots: roots, custody_roots: roots, payee: 'as it was' }
  writeFileSync(file, JSON.stringify(kept))

  const { code, output } = await run(['--add-root', '--data', directory])

  const secrets = z
    .object({ payee: z.string(), vault_roots: z.unknown(), custody_roots: z.unknown() })
    .parse(JSON.parse(readFileSync(file, 'utf8')))
  expect(code).toBe(0)
  expect(output).toContain('start it again')
  expect(secrets.payee).toBe('as it was')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  for (const added of [secrets.vault_roots, secrets.custody_roots]) {
    const read = readRoots(JSON.stringify(added), 'vault')
    expect([read.versions, read.sealingVersion]).toEqual([[1, 2], 1])
  }
})
