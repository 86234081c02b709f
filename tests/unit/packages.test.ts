/** The packages hold what they need and nothing else, and a strict program compiles against them. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { buildClient, buildMcp, compiler, root } from '../../scripts/packages/package.ts'
import { contractDigest } from '../../shared/contract/digest.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-packages-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const installed = join(directory, 'node_modules/@agent-operating-account/client')
await buildClient(installed)

const packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })])

function contentOf(folder: string): string[] {
  const said: unknown = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--loglevel=silent'], {
      cwd: folder,
      encoding: 'utf8',
    }),
  )
  return packed
    .parse(said)[0]
    .files.map(({ path }) => path)
    .toSorted()
}

/** Returns the compiler's output for a program that has installed the package. */
function complaintsOf(text: string, resolution: 'bundler' | 'nodenext'): string {
  writeFileSync(join(directory, 'program.ts'), text)
  const module = resolution === 'bundler' ? 'esnext' : 'nodenext'
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: 'es2022',
    module,
    moduleResolution: resolution,
    lib: ['es2022', 'dom', 'dom.asynciterable'],
    types: [],
  }
  const project = { compilerOptions: options, files: ['program.ts'] }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(project))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  try {
    execFileSync(process.execPath, [compiler, '-p', directory], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return z.object({ stdout: z.string() }).parse(error).stdout
  }
}

test('the client is its calls and its tools with their types, and nothing of the service', () => {
  expect(contentOf(installed)).toEqual([
    'LICENSE',
    'README.md',
    'account-error.d.ts',
    'index.d.ts',
    'index.js',
    'operations.d.ts',
    'options.d.ts',
    'package.json',
    'pages.d.ts',
    'paid-fetch.d.ts',
    'tools.d.ts',
    'tools.js',
  ])
  for (const file of ['index.js', 'tools.js']) {
    const code = readFileSync(join(installed, file), 'utf8')
    expect(code).not.toMatch(/^\s*import\b|\brequire\(|\bimport\(|\bprocess\.|\bBuffer\b/m)
  }
})

test('the client names the contracts that it was made from', async () => {
  const module: unknown = await import(pathToFileURL(join(installed, 'index.js')).href)

  expect(module).toMatchObject({ contractDigest })
})

test.each(['bundler', 'nodenext'] as const)(
  'a strict program compiles with right calls and not with wrong ones (%s)',
  (resolution) => {
    const calls = readFileSync(join(root, 'tests/support/client-calls.ts'), 'utf8')
    const program = calls.replaceAll(
      '../../scripts/client/index.ts',
      '@agent-operating-account/client',
    )

    expect(complaintsOf(program, resolution)).toBe('')
  },
)

test('the examples of its README compile', () => {
  const text = readFileSync(join(installed, 'README.md'), 'utf8')
  const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
  const given = [
    'declare const process: { env: Record<string, string> }',
    'declare const idempotencyKey: string, signal: AbortSignal',
    'declare const askMyUser: (summary: string, url: string | undefined) => Promise<boolean>',
  ]

  expect(examples.length).toBeGreaterThan(1)
  expect(complaintsOf([...given, ...examples].join('\n'), 'bundler')).toBe('')
})

test('npx starts the one program of the package for MCP, which needs no other', async () => {
  const folder = join(directory, 'mcp')
  await buildMcp(folder)
  const env = {
    ...process.env,
    npm_config_loglevel: 'silent',
    npm_config_offline: 'true',
    npm_config_cache: join(directory, 'cache'),
  }

  const version = execFileSync('npx', ['--yes', folder, '--version'], { encoding: 'utf8', env })

  const program = 'agent-operating-account-mcp.js'
  expect(contentOf(folder)).toEqual(['LICENSE', 'README.md', program, 'package.json'])
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@agent-operating-account/mcp', version: version.trim() })
  expect(manifest).not.toHaveProperty('dependencies')
})
