import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { buildWorkers } from '../../scripts/build/workers.ts'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-workers-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const built = await buildWorkers(directory, await plannedWorkers({}, 'few'))
const kilobyte = 1024

test.each(built)('$name weighs a twentieth of what the platform takes', ({ gzipBytes }) => {
  // The platform takes 10 MB after gzip, and 3 MB on its free plan.
  expect(gzipBytes).toBeLessThan(512 * kilobyte)
})

/** Modules of the runtime that a worker imports; app needs one to keep the work of its inner calls alive. */
const imports: Readonly<Record<string, string[]>> = {
  app: ['cloudflare:workers'],
  custody: ['cloudflare:workers'],
  mail: ['cloudflare:sockets', 'cloudflare:workers'],
  vault: ['cloudflare:workers'],
}

test.each(built)('$name imports nothing of the runtime that it may not', ({ name, file }) => {
  const code = readFileSync(file, 'utf8')
  const found = [...code.matchAll(/from"((?:cloudflare|node):[^"]+)"/g)].map(([, one = '']) => one)

  expect([...new Set(found)].toSorted()).toEqual(imports[name] ?? [])
})
