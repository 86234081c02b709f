/**
 * Writes the files that follow from the schemas and the contracts, or checks that they are up to date. It needs
 * no running database: it starts a temporary one, applies the schemas, reads it and throws it away.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { describeAssets } from './generate/assets.ts'
import { describeContracts } from './generate/contracts.ts'
import { describeFunctions } from './generate/functions.ts'
import { describeCommonPasswords } from './generate/guessed-passwords.ts'
import { applySchemas, describeMigration } from './generate/migration.ts'
import { describeOperations } from './generate/operations.ts'
import { describeProse } from './generate/prose.ts'
import { describeTopLevelDomains } from './generate/top-level-domains.ts'
import { startEmbeddedPostgres } from './local/postgres.ts'

/** A generated file, with its path relative to the repository. */
export type Product = { file: string; content: string }

/** Returns all generated files as they must be for this database. */
export async function products(sql: Sql): Promise<Product[]> {
  return [
    { file: 'supabase/migrations/20261121000001_initial.sql', content: describeMigration() },
    { file: 'shared/db/functions.ts', content: await describeFunctions(sql) },
    ...(await describeOperations()),
    { file: 'shared/auth/common-passwords.ts', content: describeCommonPasswords() },
    { file: 'shared/egress/top-level-domains.ts', content: describeTopLevelDomains() },
    { file: 'functions/web/assets.ts', content: await describeAssets() },
    { file: 'functions/discovery/prose.ts', content: describeProse() },
    { file: 'scripts/local/contracts/code.ts', content: describeContracts() },
  ]
}

/** Returns the files whose content on disk differs from the generated one. */
export function staleFiles(list: readonly Product[]): string[] {
  return list.filter(({ file, content }) => read(file) !== content).map(({ file }) => file)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(pathOf(file), 'utf8')
  } catch {
    return undefined
  }
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url))
}

async function generate(): Promise<Product[]> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-generate-'))
  const server = await startEmbeddedPostgres({ directory, durable: false })
  const sql = postgres(server.url, { max: 1, onnotice() {} })
  try {
    await applySchemas(server.url)
    return await products(sql)
  } finally {
    await sql.end({ timeout: 1 })
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

const help = `node scripts/generate.ts [--contracts] [--check]

Writes the first of supabase/migrations and shared/db/functions.ts from supabase/schemas; from the contracts the
list of them, the entry of each function, wrangler.toml, the digest, both clients and the table of
functions/README.md; functions/web/assets.ts from its style sheet and scripts,
functions/discovery/prose.ts from skill.md beside it, and shared/auth/common-passwords.ts.
--contracts writes what follows from the contracts and scripts/deploy/functions.toml alone.
--check writes nothing and fails when one of them is out of date.`

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      check: { type: 'boolean' },
      contracts: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log(help)
  } else {
    const list = await (values.contracts ? describeOperations() : generate())
    const stale = staleFiles(list)
    if (values.check) {
      if (stale.length > 0) process.exitCode = 1
      console.log(stale.length > 0 ? `out of date: ${stale.join(', ')}` : 'up to date')
    } else {
      for (const { file, content } of list) writeFileSync(pathOf(file), content)
      console.log(stale.length > 0 ? `wrote ${stale.join(', ')}` : 'nothing changed')
    }
  }
}
