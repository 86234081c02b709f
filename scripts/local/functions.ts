/**
 * Reads the functions as wrangler.toml describes them, by means of wrangler itself. It is the only source
 * of routes, bindings, schedules and secrets for the local world and the tests.
 */
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { functionFolders } from '../build.ts'

const configFile = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))

// Wrangler does not publish its own types, and some of the objects that it returns are inherited.
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

/** Settings of one function. */
export type FunctionSettings = {
  folder: string
  /** Name of the worker, by which others bind to it. */
  name: string
  main: string
  compatibilityDate: string
  compatibilityFlags: readonly string[]
  /** Path prefixes of its routes; empty if it cannot be reached from outside. */
  prefixes: readonly string[]
  vars: Readonly<Record<string, string>>
  secrets: readonly string[]
  services: readonly { binding: string; service: string }[]
  crons: readonly string[]
  /** CPU that one request may use; if absent, the platform's default. */
  cpuMilliseconds?: number
}

/** Returns one entry for every function folder. Throws if a folder has no environment. */
export async function readFunctions(): Promise<FunctionSettings[]> {
  // Loading wrangler takes a second or two, during which other work can begin.
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

// Patterns are `host/path*`. If several match, Cloudflare takes the most specific.
function prefixOf(pattern: string): string {
  const [, prefix] = /^[^/]+(\/[^*]*)\*$/.exec(pattern) ?? []
  if (!prefix) throw new Error(`route ${pattern} is not host/path*`)
  return prefix
}
