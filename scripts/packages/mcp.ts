/** Builds the tools over standard input and output as a package: one file that node runs. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beginPackage, root } from './package.ts'

const file = 'agent-operating-account-mcp.js'

/** Builds the package into this folder, which is emptied first. */
export async function buildMcp(outdir: string): Promise<void> {
  beginPackage(outdir, 'scripts/mcp/README.md', {
    name: '@agent-operating-account/mcp',
    description: 'The tools of an Agent Operating Account over standard input and output.',
    bin: { 'agent-operating-account-mcp': `./${file}` },
    files: [file],
    engines: { node: '>=20.3' },
  })
  await build({
    entryPoints: [join(root, 'scripts/mcp.ts')],
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
