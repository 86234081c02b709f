import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { functionFolders } from '../../scripts/build.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wrangler = join(createRequire(import.meta.url).resolve('wrangler'), '../../bin/wrangler.js')
const directory = mkdtempSync(join(tmpdir(), 'aoa-dry-run-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test.each(functionFolders())('wrangler would deploy %s', async (folder) => {
  const deploy = [wrangler, 'deploy', '--dry-run', '--env', folder]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: 'true' }

  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...deploy, '--outdir', join(directory, folder)],
    { cwd: root, env, timeout: 60_000 },
  )

  expect(stdout).toContain('--dry-run: exiting now.')
})
