/** Builds the program of the processes of single functions, which then need no compiler for TypeScript. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { childProgram } from './platform.ts'

/** Builds it beside the functions. */
export async function buildChild(modules: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
    outfile: join(modules, childProgram),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    plugins: [
      {
        // Loaded only where it is used, and from where it is installed.
        name: 'undici stays outside',
        setup(building) {
          const path = import.meta.resolve('undici')
          building.onResolve({ filter: /^undici$/ }, () => ({ path, external: true }))
        },
      },
    ],
  })
}
