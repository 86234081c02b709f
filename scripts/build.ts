/** Program that builds every function, and the workers that functions share in a deployment. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildFunctions } from './build/functions.ts'
import { buildWorkers } from './build/workers.ts'
import { plannedWorkers } from './deploy/plan.ts'

type Weighed = { name: string; bytes: number; gzipBytes: number }

/** Formats sizes as text, one module a line. */
function sizeTable(kind: string, built: readonly Weighed[]): string {
  const width = Math.max(...built.map(({ name }) => name.length))
  const line = (name: string, bytes: string | number, gzip: string | number) =>
    `${name.padEnd(width)} ${String(bytes).padStart(9)} ${String(gzip).padStart(9)}`
  const rows = built.map(({ name, bytes, gzipBytes }) => line(name, bytes, gzipBytes))
  return [line(kind, 'bytes', 'gzip'), ...rows].join('\n')
}

const help = `node scripts/build.ts [--outdir dist]

Bundles every function into <outdir>/<function>.mjs and every worker of a deployment into
<outdir>/workers/<worker>.mjs, and prints what each weighs. sizes.json and esbuild's metafile.json of the
functions are written beside them.`

const { values } = parseArgs({
  options: { help: { type: 'boolean', short: 'h' }, outdir: { type: 'string', default: 'dist' } },
})
if (values.help) {
  console.log(help)
} else {
  const outdir = join(process.cwd(), values.outdir)
  const functions = await buildFunctions(outdir)
  const workers = await buildWorkers(join(outdir, 'workers'), await plannedWorkers({}, 'few'))
  console.log(
    sizeTable(
      'function',
      functions.map((one) => ({ ...one, name: one.folder })),
    ),
  )
  console.log(`\n${sizeTable('worker', workers)}`)
}
