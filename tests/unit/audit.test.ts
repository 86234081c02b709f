/** No version with a known weakness is locked without a reason and a date. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findingsIn } from '../../scripts/audit.ts'

const id = 'GHSA-frvp-7c67-39w9'
const cause = {
  source: 1,
  name: 'hono',
  title: 'Weak',
  url: `https://github.com/advisories/${id}`,
  range: '<5',
}
const report = {
  auditReportVersion: 2,
  vulnerabilities: { hono: { via: [cause] }, '@hono/zod-validator': { via: ['hono'] } },
}
const line = `hono <5: Weak (${cause.url})`

test.each([
  ['without an allowance', [], [line]],
  ['under an allowance of another', [{ id: 'GHSA-1', reason: 'r', until: '2026-12-31' }], [line]],
  ['after its allowance', [{ id, reason: 'r', until: '2026-11-29' }], [line]],
  ['on the last day of its allowance', [{ id, reason: 'r', until: '2026-11-30' }], []],
])('a weakness %s is found or not', (_, allowances, expected) => {
  expect(findingsIn(report, allowances, '2026-11-30')).toEqual(expected)
})

test('an allowance without a reason or a date is refused', () => {
  expect(() => findingsIn(report, [{ id }], '2026-11-30')).toThrow()
})

test('a registry that names a locked package fails the audit, and one that names none passes', async () => {
  const weak = {
    hono: [{ id: 1, title: 'Weak', url: cause.url, severity: 'high', vulnerable_versions: '<5' }],
  }

  expect(await auditBy(200, weak)).toMatchObject({ code: 1, stderr: `${line}\n` })
  expect(await auditBy(200, {})).toMatchObject({ code: 0, stderr: '' })
})

test('without an answer, the audit passes only if it may', async () => {
  const stderr = 'The registry cannot be asked for advisories: nothing was checked.\n'

  expect(await auditBy(405, {})).toMatchObject({ code: 1, stderr })
  expect(await auditBy(405, {}, '--if-reachable')).toMatchObject({ code: 0, stderr })
})

/** Runs the program against a registry that gives this answer. */
async function auditBy(status: number, answer: unknown, ...options: string[]) {
  const server = createServer(({ method, url = '' }, response) => {
    // npm also looks for versions of the package that are not affected.
    const versions = { name: decodeURIComponent(url.slice(1)), versions: {} }
    const body = JSON.stringify(method === 'GET' ? versions : answer)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}` }
  try {
    const run = promisify(execFile)(process.execPath, ['scripts/audit.ts', ...options], { env })
    return await run.then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    )
  } finally {
    server.close()
  }
}
