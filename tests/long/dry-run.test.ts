import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildWorkers } from '../../scripts/build/workers.ts'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wrangler = join(createRequire(import.meta.url).resolve('wrangler'), '../../bin/wrangler.js')
const directory = mkdtempSync(join(tmpdir(), 'aoa-dry-run-'))
const built = join(root, 'dist/workers')
const workers = await plannedWorkers({}, 'few')
beforeAll(() => buildWorkers(built, workers))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test.each(workers)('wrangler would deploy $name as it was built', async ({ module }) => {
  const outdir = join(directory, module)
  const deploy = [wrangler, 'deploy', '--dry-run', '--env', module, '--outdir', outdir]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: 'true' }

  const { stdout, stderr } = await promisify(execFile)(process.execPath, deploy, {
    cwd: root,
    env,
    timeout: 60_000,
  })

  expect(stdout).toContain('--dry-run: exiting now.')
  expect(stderr).not.toContain('WARNING')
  const modules = readdirSync(outdir).filter((file) => file.endsWith('.mjs'))
  expect(modules).toEqual([`${module}.mjs`])
  const text = readFileSync(join(outdir, `${module}.mjs`), 'utf8')
  expect(text).toBe(readFileSync(join(built, `${module}.mjs`), 'utf8'))
})
