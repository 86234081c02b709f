/**
 * The functions as wrangler.toml describes them, read by wrangler itself. The local world and the
 * tests know of routes, bindings, schedules and secrets from here alone.
 */
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { functionFolders } from '../build.ts'

const configFile = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))

// Wrangler's own types are not published with it, and what it answers is partly inherited objects.
const configSchema = z.object({
  name: z.string(),
  main: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  routes: z.array(z.object({ pattern: z.string() })).default([]),
  vars: z.record(z.string(), z.string()).default({}),
  secrets: z.object({ required: z.array(z.string()) }).default({ required: [] }),
  services: z.array(z.object({ binding: z.string(), service: z.string() })).default([]),
  limits: z.object({ cpu_ms: z.int() }).optional(),
  triggers: z.object({ crons: z.array(z.string()).default([]) }),
})

export type FunctionSettings = {
  folder: string
  /** The worker's name, by which others bind to it. */
  name: string
  main: string
  compatibilityDate: string
  compatibilityFlags: readonly string[]
  /** Path prefixes of its routes; none when it cannot be reached from outside. */
  prefixes: readonly string[]
  vars: Readonly<Record<string, string>>
  secrets: readonly string[]
  services: readonly { binding: string; service: string }[]
  crons: readonly string[]
  /** CPU that one request may use; where it says nothing, what the platform grants. */
  cpuMilliseconds?: number
}

/** One entry for every function folder; a folder without an environment is an error. */
export async function readFunctions(): Promise<FunctionSettings[]> {
  // Loading wrangler takes a second or two, in which others can begin.
  const { unstable_readConfig: readConfig } = await import('wrangler')
  return functionFolders().map((folder) => {
    const config = configSchema.parse(readConfig({ config: configFile, env: folder }))
    return {
      folder,
      name: config.name,
      main: config.main,
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: config.compatibility_flags,
      prefixes: config.routes.map(({ pattern }) => prefixOf(pattern)),
      vars: config.vars,
      secrets: config.secrets.required,
      services: config.services,
      crons: config.triggers.crons,
      ...(config.limits ? { cpuMilliseconds: config.limits.cpu_ms } : {}),
    }
  })
}

// Patterns are `host/path*`: of several that match, Cloudflare takes the most specific.
function prefixOf(pattern: string): string {
  const [, prefix] = /^[^/]+(\/[^*]*)\*$/.exec(pattern) ?? []
  if (!prefix) throw new Error(`route ${pattern} is not host/path*`)
  return prefix
}
