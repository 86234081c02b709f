/** The linters that others use find nothing wrong with the OpenAPI document. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { contracts } from '../../../functions/contracts.ts'
import { contractDigest } from '../../../shared/contract/digest.ts'
import { openApiDocument } from '../../../shared/contract/documents/openapi.ts'
import { gapStates } from '../../../shared/contract/gaps.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const rules = join(root, 'tests/support/lint')
const directory = mkdtempSync(join(tmpdir(), 'aoa-lint-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const document = openApiDocument({
  contracts,
  baseUrl: 'https://api.agents.test',
  webUrl: 'https://agents.test/web',
  environment: 'staging' as const,
  gaps: gapStates({ watched: true, chains: ['eip155:8453'], failing: [] }),
  digest: contractDigest,
})

/** Returns the output of the linter, which fails if it finds anything. */
async function lint(name: string, options: readonly string[], text: string): Promise<string> {
  const file = join(directory, `${name}.json`)
  writeFileSync(file, text)
  const program = join(root, 'node_modules/.bin', name)
  const run = promisify(execFile)(process.execPath, [program, 'lint', ...options, file], {
    cwd: root,
    // The linters would otherwise look for newer versions of themselves.
    env: {
      PATH: process.env['PATH'],
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
  })
  return run.then(
    ({ stdout }) => stdout,
    (error: unknown) => `failed: ${String(error)} ${outputOf(error)}`,
  )
}

function outputOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'stdout' in error
    ? String(error.stdout)
    : ''
}

const spectral = ['--ruleset', join(rules, 'spectral.yaml'), '--fail-severity', 'hint']
const redocly = ['--config', join(rules, 'redocly.yaml')]

test('redocly finds nothing against the description', async () => {
  expect(await lint('redocly', redocly, JSON.stringify(document))).not.toMatch(/failed|warning/i)
})

test('spectral finds nothing by its own rules and those of OWASP', async () => {
  expect(await lint('spectral', spectral, JSON.stringify(document))).toContain('No results')
}, 60_000)

test('both find what is wrong', async () => {
  const { '/check-availability': one, '/get-identity': other } = document.paths
  const few = { ...document, paths: { '/check-availability': one, '/get-identity': other } }
  const broken = JSON.stringify(few)
    .replace('"operationId":"get_identity"', '"operationId":"check_alias"')
    .replace('"security":[{"bearer":[]},{"oauth2":["read"]}]', '"security":[]')

  const found = await Promise.all([
    lint('redocly', redocly, broken),
    lint('spectral', spectral, broken),
  ])

  expect(found[0]).toContain('operation-operationId-unique')
  expect(found[1]).toContain('owasp:api2:2023-read-restricted')
})
