/** Builds and runs the functions of a local world: in the workers of Miniflare, on Node, or as a caller says. */
import { join } from 'node:path'
import { stop as stopEsbuild } from 'esbuild'
import { bringUpToDate } from './built.ts'
import { type FunctionSettings, readFunctions } from './functions.ts'
import type { LastingPostgres } from './lasting-postgres.ts'
import { buildOnNode, startOnNode } from './on-node.ts'
import { type Endings, together } from './process/endings.ts'
import { createHeldLog } from './process/held-log.ts'
import type { Ports } from './process/ports.ts'
import { startWorkers } from './workers.ts'

/** Runs functions in a way of its own, on the port that is theirs. */
export type Host = (given: {
  bindings: Readonly<Record<string, string>>
  port: number
}) => Promise<{ url: string; stop: () => Promise<void> }>

type World = {
  isOnNode?: boolean
  scheduleSeconds?: number | undefined
  host?: Host
  directory: string
  ports: Ports
  endings: Endings
  say: (line: string) => void
}

/** Builds the functions and returns their settings. */
export async function buildFor({
  isOnNode,
  host,
  directory,
  endings,
  say,
}: World): Promise<FunctionSettings[]> {
  if (host) return readFunctions()
  const compile = async () => {
    const compiling = endings.keep(bringUpToDate(modulesIn(directory)), stopEsbuild)
    const [functions] = await together([readFunctions(), compiling])
    return functions
  }
  const functions = await (isOnNode ? buildOnNode(directory) : compile())
  say('functions built')
  return functions
}

type Wired = {
  functions: readonly FunctionSettings[]
  bindings: Readonly<Record<string, string>>
  database: LastingPostgres
}

/** Starts the functions. They answer under the address when this resolves, and end with the world. */
export async function openFunctions(
  { isOnNode, host, scheduleSeconds, directory, ports, endings, say }: World,
  { functions, bindings, database }: Wired,
): Promise<{ url: string }> {
  const given = { functions, bindings, port: ports.functions, scheduleSeconds }
  if (host) return endings.keep(host(given), ({ stop }) => stop())
  if (isOnNode) {
    return startOnNode({ ...given, directory, databaseUrl: database.url, endings, say })
  }
  const { log, flush } = createHeldLog(database)
  const working = startWorkers({ ...given, modules: modulesIn(directory), log })
  return endings.keep(working, (all) => all.stop().finally(flush))
}

function modulesIn(directory: string): string {
  return join(directory, 'functions')
}
