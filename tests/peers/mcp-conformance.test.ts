import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { serveConformance } from '../support/conformance/server.ts'
import { start } from '../support/world.ts'

const world = await start()
const agent = await world.agent('read')
const served = await serveConformance(world.world, agent.key)
const results = mkdtempSync(join(tmpdir(), 'conformance-'))
afterAll(async () => {
  await served.stop()
  rmSync(results, { recursive: true })
})

const suite = fileURLToPath(new URL('../../node_modules/.bin/conformance', import.meta.url))
const run = promisify(execFile)

// The suite fails when a scenario fails that is not a listed exception, or when an exception passes.
test.each(['2025-11-25', '2026-07-28'])('meets what revision %s requires', async (revision) => {
  const file = new URL(`../support/conformance/exceptions-${revision}.yaml`, import.meta.url)
  const exceptions = fileURLToPath(file)
  const demanded = ['--requirements', revision, '--expected-failures', exceptions]
  const where = ['--url', served.url, '--output-dir', results]

  const { stdout } = await run(process.execPath, [suite, 'server', ...where, ...demanded])

  expect(stdout).not.toContain('Unexpected failures')
})
