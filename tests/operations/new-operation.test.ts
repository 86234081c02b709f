/** Adds an operation to a copy of the repository, finds it wherever it has to be, and removes it again. */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { describeFunctions } from '../../scripts/generate/functions.ts'
import { createDatabase } from '../support/database.ts'
import { root } from '../support/tidy/files.ts'

const byHand = {
  'functions/shelf-list/contract.ts': `import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'

export const shelfList = operation({
  id: 'shelf_list',
  method: 'GET',
  folder: 'shelf-list',
  access: 'read',
  effects: ['outward'],
  needs: ['VAULT', 'EUR_USD_RATE'],
  position: 215,
  summary: 'Lists the shelves of a room.',
  request: z.strictObject({ room: z.uuid() }),
  response: z.object({ shelves: z.number() }),
  errors: [],
})
`,
  'functions/shelf-list/handler.ts': `import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import type { shelfList } from './contract.ts'

const row = z.object({ shelves: z.number() })

export const run: Handler<typeof shelfList> = async ({ room }, { db }) =>
  (await db.one('list_shelves', { room }, row)) ?? { shelves: 0 }
`,
  'supabase/shelves.sql': `create function api.list_shelves(credential text, room uuid)
  returns table (shelves integer) language sql set search_path = '' as 'select 1';
`,
  'tests/operations/shelf-list.test.ts': `import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

test('a shelf is listed', async () => {
  const agent = await (await start()).agent('read')
  expect(await agent.get('/shelf-list?room=' + crypto.randomUUID())).toMatchObject({ status: 200 })
})
`,
}

const copy = fs.mkdtempSync(join(tmpdir(), 'aoa-operation-'))
afterAll(() => fs.rmSync(copy, { recursive: true, force: true }))
const copied = ['functions', 'shared', 'scripts', 'package.json', 'tsconfig.json', 'wrangler.toml']
for (const place of copied) fs.cpSync(join(root, place), join(copy, place), { recursive: true })
fs.symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const textOf = (file: string) => fs.readFileSync(join(copy, file), 'utf8')

function write(file: string, text: string) {
  fs.mkdirSync(dirname(join(copy, file)), { recursive: true })
  fs.writeFileSync(join(copy, file), text)
}

function node(...given: string[]): string {
  return execFileSync(process.execPath, given, { cwd: copy, encoding: 'utf8' })
}

/** Returns the files that `npm run generate -- --contracts` changes. */
function generate(): string[] {
  return node('scripts/generate.ts', '--contracts').trim().replace('wrote ', '').split(', ')
}

/** Returns the text of each file in the copy. */
function treeOf(place = ''): [string, string][] {
  return fs.readdirSync(join(copy, place), { withFileTypes: true }).flatMap((entry) => {
    const path = join(place, entry.name)
    if (entry.isDirectory()) return treeOf(path)
    return entry.isFile() ? [[path, textOf(path)]] : []
  })
}

/** Writes the types of the database's functions, with those that these statements add. */
async function describeDatabase(statements: string) {
  const database = await createDatabase()
  const sql = postgres(database.url, { max: 1 })
  await sql.unsafe(statements)
  write('shared/db/functions.ts', await describeFunctions(sql))
  await sql.end({ timeout: 1 })
  await database.drop()
}

/** Returns the paths of the documents that name the operation. */
function documentsThatName(id: string): string {
  const program = `const { contracts } = await import('./functions/contracts.ts')
    const { documents } = await import('./functions/discovery/documents.ts')
    const at = { baseUrl: 'https://a.example', webUrl: 'https://a.example/web' }
    const service = { contracts, ...at, environment: 'production', gaps: [], digest: 'd' }
    for (const { path, textOf } of documents)
      if ((await textOf(service)).includes('${id}')) console.log(path)`
  return node('--input-type=module', '-e', program)
}

/** Returns the settings of a function, as the copy describes them. */
function settingsOf(folder: string) {
  const program = `const { readFunctions } = await import('./scripts/local/functions.ts')
    console.log(JSON.stringify(await readFunctions()))`
  const all = z.array(z.looseObject({ folder: z.string(), services: z.array(z.unknown()) }))
  const functions = all.parse(JSON.parse(node('--input-type=module', '-e', program)))
  const found = functions.find((one) => one.folder === folder)
  if (!found) throw new Error(`${folder} is not described`)
  return found
}

test('an operation is four files by hand, is then everywhere, and goes with them', async () => {
  const before = new Map(treeOf())
  expect(Object.keys(byHand)).toHaveLength(4)
  for (const [file, text] of Object.entries(byHand)) write(file, text)
  await describeDatabase(byHand['supabase/shelves.sql'])

  expect(generate().toSorted()).toEqual([
    'functions/README.md',
    'functions/contracts.ts',
    'functions/shelf-list/index.ts',
    'scripts/client/operations.ts',
    'scripts/client/tool-list.ts',
    'scripts/python/agent_operating_account/operations.py',
    'shared/contract/digest.ts',
  ])
  const files = ['../functions/shelf-list/index.ts']
  write(
    'supabase/tsconfig.json',
    JSON.stringify({ extends: '../tsconfig.json', include: [], files }),
  )
  expect(node('node_modules/typescript/bin/tsc', '-p', 'supabase')).toBe('')
  expect(documentsThatName('shelf_list')).toMatch(/openapi.json\n.tools.json\n[^]*llms.txt/)
  expect(textOf('functions/README.md')).toContain(
    '| `shelf_list` | GET `/shelf-list?room=` | read |',
  )
  expect(settingsOf('mcp').services).toContainEqual({
    binding: 'SHELF_LIST',
    service: 'aoa-shelf-list',
  })
  expect(settingsOf('shelf-list')).toMatchObject({
    prefixes: ['/shelf-list'],
    services: [{ binding: 'VAULT', service: 'aoa-vault' }],
    vars: { EUR_USD_RATE: '' },
    secrets: ['SUPABASE_SERVICE_KEY', 'API_KEY_PEPPER'],
  })

  for (const file of Object.keys(byHand))
    fs.rmSync(join(copy, dirname(file)), { recursive: true, force: true })
  await describeDatabase('')
  generate()
  expect(treeOf().filter(([path, text]) => before.get(path) !== text)).toEqual([])
  expect(treeOf()).toHaveLength(before.size)
})
