/** Bundles the functions of each worker of a deployment into the one module that is uploaded. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { PlannedWorker } from '../deploy/plan.ts'
import { bundling, gzipBytes } from './functions.ts'

/** A built worker. */
export type BuiltWorker = { name: string; file: string; bytes: number; gzipBytes: number }

/** Builds `<module>.mjs` of each worker into `outdir`. */
export async function buildWorkers(
  outdir: string,
  workers: readonly PlannedWorker[],
): Promise<BuiltWorker[]> {
  return Promise.all(
    workers.map(async (worker) => {
      const file = join(outdir, `${worker.module}.mjs`)
      const contents = entryOf(worker)
      const stdin = { contents, resolveDir: bundling.absWorkingDir, loader: 'ts' as const }
      await build({ ...bundling, stdin, outfile: file })
      const { size: bytes } = statSync(file)
      return { name: worker.module, file, bytes, gzipBytes: gzipBytes(file) }
    }),
  )
}

/** Returns the source of a worker's entry module. A function that is alone is the worker itself. */
function entryOf({ functions }: PlannedWorker): string {
  const [first, ...others] = functions
  if (first && others.length === 0) {
    return `export { default } from './functions/${first.folder}/index.ts'`
  }
  const folderOf = new Map(functions.map(({ folder, name }) => [name, folder]))
  const imports = functions.map(
    ({ folder }, at) => `import f${at} from './functions/${folder}/index.ts'\n`,
  )
  const parts = functions.map(({ folder, prefixes, vars, secrets, services }, at) => {
    const calls: Record<string, string> = {}
    const outside: string[] = []
    for (const { binding, service } of services) {
      const called = folderOf.get(service)
      if (called === undefined) outside.push(binding)
      else calls[binding] = called
    }
    const given = [...Object.keys(vars), ...secrets, ...outside]
    return `{ made: f${at}, ...${JSON.stringify({ folder, prefixes, given, calls })} },\n`
  })
  return `import { joinFunctions } from './scripts/build/join-functions.ts'
${imports.join('')}
export default joinFunctions([
${parts.join('')}])
`
}
