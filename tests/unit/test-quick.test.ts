/** `npm run test:quick` runs what a change concerns, and says what it leaves. */
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { describe, filesBelow, filesSince, selectTests } from '../../scripts/test-quick/select.ts'

const operation = 'functions/shelf-list/handler.ts'
const world = {
  'tests/support/functions.ts': "import { run } from '../../functions/shelf-list/handler.ts'",
  'tests/support/world.ts': "import { functionsIn } from './functions.ts'",
}

function filesOf(texts: Record<string, string>) {
  return Object.entries(texts).map(([path, text]) => ({ path, text, lines: 1 }))
}

/** Returns the tests selected for one changed file. */
function taken(texts: Record<string, string>, changed: string): string[] {
  return selectTests(filesOf(texts), [changed]).taken.map(({ path }) => path)
}

test('a test is selected if it changed, or loads a changed file through others', () => {
  const texts = {
    'shared/deep.ts': 'export const deep = 1',
    'shared/near.ts': "export { deep } from './deep.ts'",
    'tests/unit/near.test.ts': "import { deep } from '../../shared/near.ts'",
    'tests/unit/types.test.ts': "import type { Deep } from '../../shared/deep.ts'",
  }

  expect(taken(texts, 'tests/unit/types.test.ts')).toEqual(['tests/unit/types.test.ts'])
  expect(taken(texts, 'shared/deep.ts')).toEqual(['tests/unit/near.test.ts'])
})

test('a test that shares only a world with an operation is not selected', () => {
  const texts = {
    ...world,
    [operation]: 'export const run = 1',
    'tests/operations/mail.test.ts': "import { start } from '../support/world.ts'",
  }

  expect(taken(texts, operation)).toEqual([])
  expect(taken(texts, 'tests/support/world.ts')).toEqual(['tests/operations/mail.test.ts'])
})

test("an operation's own tests come first, then those that say its path most", () => {
  const texts = {
    [operation]: 'export const run = 1',
    'tests/faults/once.test.ts': "get('/shelf-list')",
    'tests/faults/twice.test.ts': "get('/shelf-list'); get(`/shelf-list?page=${page}`)",
    'tests/operations/shelf-list.test.ts': "const path = '/shelf-list'",
    'tests/operations/other.test.ts': "get('/shelf-list-of-another'); get('/shelf')",
  }

  expect(taken(texts, operation)).toEqual([
    'tests/operations/shelf-list.test.ts',
    'tests/faults/twice.test.ts',
    'tests/faults/once.test.ts',
  ])
})

test('a change of shared code selects the tests of operations that load it', () => {
  const texts = {
    'shared/list.ts': 'export const list = 1',
    [operation]: "import { list } from '../../shared/list.ts'",
    'tests/operations/vault-tools.test.ts': "get('/shelf-list')",
  }

  expect(taken(texts, 'shared/list.ts')).toEqual(['tests/operations/vault-tools.test.ts'])
})

test('a browser test is selected for its own page alone, or if it changed', () => {
  const browser = 'tests/browser/shelves.test.ts'
  const texts = {
    'functions/web/ui/show.tsx': 'export const state = 1',
    'functions/web/shelves/shelves.tsx': "import '../ui/show.tsx'\napp.get('/shelves', show)",
    [browser]: 'await page.goto(`${facts.web_url}/shelves`)',
    'tests/web/shelves.test.ts': "await visit('/web/shelves')",
  }

  expect(taken(texts, 'functions/web/ui/show.tsx')).toEqual(['tests/web/shelves.test.ts'])
  expect(taken(texts, 'functions/web/shelves/shelves.tsx')).toContain(browser)
  expect(taken(texts, browser)).toEqual([browser])
})

test('changed SQL selects all tests of SQL, and those of operations that call it', () => {
  const texts = {
    'supabase/schemas/70_vault.sql': 'create function api.list_entries(credential text)',
    [operation]: "db.many('list_entries', {}, row)",
    'tests/sql/catalog.test.ts': '',
    'tests/operations/vault-tools.test.ts': "get('/shelf-list')",
    'tests/operations/mail.test.ts': "get('/shelf-read')",
  }

  expect(taken(texts, 'supabase/schemas/70_vault.sql')).toEqual([
    'tests/sql/catalog.test.ts',
    'tests/operations/vault-tools.test.ts',
  ])
})

test('a changed text selects the tests that name it', () => {
  const texts = { 'README.md': '', 'tests/unit/readme.test.ts': "textOf('README.md')" }

  expect(taken(texts, 'README.md')).toEqual(['tests/unit/readme.test.ts'])
})

test('the farthest of many tests and the long ones are left, and the line says so', () => {
  const named = "'/shelf-list'"
  const many = Array.from({ length: 20 }, (_, at) =>
    filesOf({ [`tests/web/${at}.test.ts`]: named }),
  )
  const own = 'tests/operations/shelf-list.test.ts'
  const changed = [operation, 'tests/long/kills.test.ts']
  const others = filesOf({ [own]: named, [operation]: '', 'tests/long/kills.test.ts': named })

  const selection = selectTests([...many.flat(), ...others], changed)

  expect(selection.taken.map(({ path }) => path)).toContain(own)
  expect(describe(changed, selection)).toBe(
    'Changed files: 2. Test files: 16 (16 by a name); 5 further ones are left to npm test; ' +
      'those of tests/long/ are left to npm run test:long',
  )
})

test('a folder stands for its files, and a path that is not there is refused', () => {
  const files = filesOf({ [operation]: '', 'functions/shelf/index.ts': '' })

  expect(filesBelow(['functions/shelf-list/', operation], files)).toEqual([operation])
  expect(filesBelow(['functions/shelf-lists'], files)).toContain('functions/shelf-lists')
})

test('where git cannot tell what changed, the answer says what to do', () => {
  expect(filesSince('main', tmpdir())).toContain('--since')
})
