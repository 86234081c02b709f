/** Builds the typed client as a package: one module, with its types beside it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beginPackage, compiler, root } from './package.ts'

const source = join(root, 'scripts/client')

/** Builds the package into this folder, which is emptied first. */
export async function buildClient(outdir: string): Promise<void> {
  beginPackage(outdir, 'scripts/client/README.md', {
    name: '@agent-operating-account/client',
    description: 'Typed client of an Agent Operating Account, over fetch and nothing else.',
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts'],
    sideEffects: false,
    engines: { node: '>=20.3' },
  })
  await build({
    entryPoints: [join(source, 'index.ts')],
    outfile: join(outdir, 'index.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    logLevel: 'error',
  })
  for (const [file, text] of declarations()) writeFileSync(join(outdir, file), text)
}

/** Returns the types of the client's exports, without those of its inner parts. */
function declarations(): [file: string, text: string][] {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-types-'))
  const options = ['--ignoreConfig', '--declaration', '--emitDeclarationOnly', '--strict']
  const dialect = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
  const extensions = ['--allowImportingTsExtensions', '--types', 'node', '--outDir', directory]
  try {
    execFileSync(process.execPath, [
      compiler,
      join(source, 'index.ts'),
      ...options,
      ...dialect,
      ...extensions,
    ])
    return readdirSync(directory)
      .filter((file) => !inner.includes(file))
      .map((file) => [file, withRealPaths(readFileSync(join(directory, file), 'utf8'))])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const inner = ['answer.d.ts', 'call.d.ts', 'request.d.ts']

/** Replaces .ts in imports by .js, because the package does not contain the sources. */
function withRealPaths(text: string): string {
  return text.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'")
}
