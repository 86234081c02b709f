/** The parts that the npm packages have in common: manifest, licence and folder. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import * as z from 'zod'

/** Path of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Path of the TypeScript compiler, a script for node. */
export const compiler = fileURLToPath(
  new URL('bin/tsc', import.meta.resolve('typescript/package.json')),
)

const manifest = z.object({ version: z.string(), license: z.string() })

/** Version and licence of all packages, which are the product as it is in this tree. */
export const { version, license } = manifest.parse(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
)

/** Empties the folder and writes the files that every package has. */
export function beginPackage(outdir: string, readme: string, own: Record<string, unknown>): void {
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  copyFileSync(join(root, 'LICENSE'), join(outdir, 'LICENSE'))
  copyFileSync(join(root, readme), join(outdir, 'README.md'))
  const whole = { ...own, version, license, type: 'module' }
  writeFileSync(join(outdir, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
}

/** Options of a library that runs in Node, Deno, workers and browsers. */
export const forEveryRuntime = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  logLevel: 'error',
} as const

const source = join(root, 'scripts/client')

/** Builds the package into this folder, which is emptied first. */
export async function buildClient(outdir: string): Promise<void> {
  beginPackage(outdir, 'scripts/client/README.md', {
    name: '@agent-operating-account/client',
    description: 'Typed client of an Agent Operating Account, over fetch and nothing else.',
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './tools': { types: './tools.d.ts', default: './tools.js' },
    },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts'],
    sideEffects: false,
    engines: { node: '>=20.3' },
  })
  await build({
    entryPoints: entries,
    outdir,
    ...forEveryRuntime,
  })
  for (const [file, text] of declarations()) writeFileSync(join(outdir, file), text)
}

const entries = [join(source, 'index.ts'), join(source, 'tools.ts')]

/** Returns the types of the client's exports, without those of its inner parts. */
function declarations(): [file: string, text: string][] {
  return withTypesOf(entries, (directory) =>
    readdirSync(directory)
      .filter((file) => !inner.includes(file))
      .map((file) => [file, withRealPaths(readFileSync(join(directory, file), 'utf8'))]),
  )
}

/** Writes the types of these files into a temporary folder, and returns what is made of them. */
export function withTypesOf<Result>(
  files: readonly string[],
  make: (directory: string) => Result,
): Result {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-types-'))
  const options = ['--ignoreConfig', '--declaration', '--emitDeclarationOnly', '--strict']
  const dialect = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
  const extensions = ['--allowImportingTsExtensions', '--types', 'node', '--outDir', directory]
  try {
    execFileSync(process.execPath, [compiler, ...files, ...options, ...dialect, ...extensions])
    return make(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const inner = ['call.d.ts', 'tool-list.d.ts']

/** Replaces .ts in imports by .js, because the package does not contain the sources. */
function withRealPaths(text: string): string {
  return text.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'")
}

/** Builds the tools over standard input and output into this folder, which is emptied first. */
export function buildMcp(outdir: string): Promise<void> {
  return buildProgram(outdir, 'mcp', 'agent-operating-account-mcp', {
    description: 'The tools of an Agent Operating Account over standard input and output.',
  })
}

/** Builds the command line into this folder, which is emptied first. */
export function buildCli(outdir: string): Promise<void> {
  return buildProgram(outdir, 'cli', 'aoa', {
    description: 'An Agent Operating Account on the command line.',
  })
}

/** Builds a program into one file without dependencies. */
async function buildProgram(
  outdir: string,
  name: string,
  command: string,
  own: Record<string, unknown>,
): Promise<void> {
  const file = `${command}.js`
  beginPackage(outdir, `scripts/${name}/README.md`, {
    name: `@agent-operating-account/${name}`,
    ...own,
    bin: { [command]: `./${file}` },
    files: [file],
    engines: { node: '>=20.3' },
  })
  await build({
    entryPoints: [join(root, `scripts/${name}.ts`)],
    outfile: join(outdir, file),
    banner: { js: '#!/usr/bin/env node' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    legalComments: 'none',
    logLevel: 'error',
  })
  chmodSync(join(outdir, file), 0o755)
}
