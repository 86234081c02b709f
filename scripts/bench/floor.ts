/** Serves the floor as the functions are served: the same code builds, routes and confines it. */
import { build } from 'esbuild'
import { bundling } from '../build/functions.ts'
import { choosePorts } from '../local/process/ports.ts'
import { startWorkers, type Workers } from '../local/workers.ts'
import { type BenchWorld, project } from './world.ts'

/** Builds and starts one of the floor workers, on a free port. */
export async function startFloor(
  world: BenchWorld,
  worker: 'floor-worker' | 'page-floor-worker' = 'floor-worker',
  vars: Readonly<Record<string, string>> = {},
): Promise<Workers> {
  const main = `scripts/bench/${worker}.ts`
  const { functions: port } = await choosePorts(0)
  await build({ ...bundling, entryPoints: { floor: main }, outdir: world.directory })
  const floor = {
    folder: 'floor',
    name: 'floor',
    compatibilityDate: '2026-10-20',
    compatibilityFlags: [],
    prefixes: ['/'],
    vars: { SUPABASE_URL: world.gatewayUrl, SUPABASE_API_KEY: project.apiKey, ...vars },
    secrets: ['SUPABASE_SERVICE_KEY'],
    services: [],
    crons: [],
    takesMail: false,
  }
  return startWorkers({
    functions: [floor],
    port,
    modules: world.directory,
    bindings: { SUPABASE_SERVICE_KEY: project.tokens.service_role },
    log: (line) => console.error(line),
  })
}
