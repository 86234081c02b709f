/**
 * Bundles every function folder into one minified ES module, which is the form that the local world runs, and
 * tells the size and the contents of each. It checks nothing: a test holds the budgets and the import rules.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type Metafile } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A bundled function and its contents. */
export type BuiltFunction = {
  folder: string
  /** Absolute path of the module. */
  file: string
  bytes: number
  gzipBytes: number
  /** npm package -> bytes of its code in the module. */
  packages: Readonly<Record<string, number>>
  /** Source files with code in the module, relative to the repository. */
  sources: readonly string[]
  /** Modules that the runtime has to provide. */
  runtime: readonly string[]
}

/** Module that stands for packages which only attestations of passkeys need. */
const noCertificates = './shared/auth/no-certificates.ts'

/** Options by which an entry point becomes the one module that a worker runs. */
export const bundling = {
  absWorkingDir: root,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2024',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:*', 'node:*'],
  alias: {
    '@peculiar/asn1-android': noCertificates,
    '@peculiar/x509': noCertificates,
    'reflect-metadata': noCertificates,
  },
  legalComments: 'none',
  logLevel: 'error',
} satisfies BuildOptions

/** Modules that stand for those of a platform where Node runs the functions. */
const onNode = {
  'cloudflare:workers': './scripts/serve/cloudflare/workers.ts',
  'cloudflare:sockets': './scripts/serve/cloudflare/sockets.ts',
}

/** Returns the folders of the functions, which are also their paths. */
export function functionFolders(): string[] {
  const entries = readdirSync(join(root, 'functions'), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/**
 * Builds functions into `outdir`, with `sizes.json` and esbuild's `metafile.json` beside them. With modules that
 * are built `beside` them (name -> source), all run on Node and share chunks; sizes are then those of what is not
 * shared.
 */
export async function buildFunctions(
  outdir: string,
  folders = functionFolders(),
  beside?: Readonly<Record<string, string>>,
): Promise<BuiltFunction[]> {
  const { metafile } = await build({
    ...bundling,
    ...(beside && { splitting: true, alias: { ...bundling.alias, ...onNode } }),
    entryPoints: {
      ...Object.fromEntries(folders.map((name) => [name, `functions/${name}/index.ts`])),
      ...beside,
    },
    outdir,
    metafile: true,
  })
  const built = folders.map((folder) => describe(folder, join(outdir, `${folder}.mjs`), metafile))
  writeFileSync(join(outdir, 'metafile.json'), JSON.stringify(metafile))
  writeFileSync(join(outdir, 'sizes.json'), `${JSON.stringify(sizes(built), null, 2)}\n`)
  return built
}

function describe(folder: string, file: string, metafile: Metafile): BuiltFunction {
  const output = metafile.outputs[relative(root, file)]
  if (!output) throw new Error(`${folder} was not built`)
  const packages: Record<string, number> = {}
  const sources: string[] = []
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    if (bytesInOutput === 0) continue
    sources.push(path)
    const name = packageOf(path)
    if (name) packages[name] = (packages[name] ?? 0) + bytesInOutput
  }
  const runtime = output.imports.filter(({ external }) => external).map(({ path }) => path)
  const { bytes } = output
  return { folder, file, bytes, gzipBytes: gzipBytes(file), packages, sources, runtime }
}

/** Returns the innermost package of a path, because packages may carry copies of others. */
function packageOf(path: string): string | undefined {
  return [...path.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1]
}

/** Returns the bytes of a file after gzip. */
export function gzipBytes(file: string): number {
  return gzipSync(readFileSync(file), { level: 9 }).length
}

function sizes(built: readonly BuiltFunction[]) {
  return Object.fromEntries(
    built.map(({ folder, bytes, gzipBytes, packages }) => [folder, { bytes, gzipBytes, packages }]),
  )
}
