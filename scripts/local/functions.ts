/**
 * Describes every function: those of scripts/deploy/functions.toml, and the operations. It is the only source
 * of routes, bindings, schedules and secrets for the local world, deployments and the tests.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import * as z from 'zod'
import { type Operation, serviceBinding } from '../../shared/contract/operation.ts'

const texts = z.record(z.string(), z.string())
const list = z.array(z.string()).default([])
const functionSchema = z.strictObject({
  paths: list,
  crons: list,
  takes_mail: z.boolean().default(false),
  cpu_ms: z.int().optional(),
  bare: z.boolean().default(false),
  only_with: z.string().optional(),
  needs: list,
})
type Described = z.output<typeof functionSchema>
const fileSchema = z.strictObject({
  secrets: z.array(z.string()),
  worker: z
    .object({ compatibility_date: z.string(), compatibility_flags: z.array(z.string()) })
    .catchall(z.json()),
  groups: z.record(z.string(), z.array(z.string())),
  everywhere: texts,
  vars: texts,
  functions: z.record(z.string(), functionSchema),
})
type Deployment = z.output<typeof fileSchema>

/** Settings of one function. */
export type FunctionSettings = {
  folder: string
  /** Name of the worker that holds this function alone, by which others bind to it. */
  name: string
  compatibilityDate: string
  compatibilityFlags: readonly string[]
  /** Path prefixes of its routes; empty if it cannot be reached from outside. */
  prefixes: readonly string[]
  vars: Readonly<Record<string, string>>
  secrets: readonly string[]
  services: readonly { binding: string; service: string }[]
  crons: readonly string[]
  /** True if the platform hands it the mails of the domain. */
  takesMail: boolean
  /** CPU that one request may use; if absent, the platform's default. */
  cpuMilliseconds?: number
}

/** Returns scripts/deploy/functions.toml. Throws if it has another form. */
export function readDeployment(): Deployment {
  const file = new URL('../deploy/functions.toml', import.meta.url)
  return fileSchema.parse(parse(readFileSync(file, 'utf8')))
}

/** Returns one entry for every function that exists with these values, by the contracts that are written. */
export async function readFunctions(
  values: Readonly<Record<string, string>> = {},
): Promise<FunctionSettings[]> {
  const { contracts } = await import('../../functions/contracts.ts')
  return describeFunctions(contracts, readDeployment(), values)
}

/** Returns one entry for every function, by folder. Throws if nothing provides what one needs. */
export function describeFunctions(
  contracts: readonly Operation[],
  deployment = readDeployment(),
  values: Readonly<Record<string, string>> = {},
): FunctionSettings[] {
  const operations = operationsOf(contracts)
  const tools = Object.keys(operations).map(serviceBinding)
  const { mcp, ...others } = deployment.functions
  const functions = {
    ...others,
    ...operations,
    ...(mcp && { mcp: { ...mcp, needs: [...mcp.needs, ...tools] } }),
  }
  const all = { ...deployment, functions }
  return Object.entries(functions)
    .filter(([, { only_with: name }]) => name === undefined || name in values)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, described]) => describeFunction(folder, described, all))
}

function operationsOf(contracts: readonly Operation[]): Record<string, Described> {
  const folders = [...Map.groupBy(contracts, ({ folder }) => folder)]
  return Object.fromEntries(
    folders
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([folder, inFolder]) => {
        const needs = inFolder.flatMap(needsOf)
        return [folder, functionSchema.parse({ paths: [`/${folder}`], needs })]
      }),
  )
}

/** Returns the needs of an operation and those that its access implies. */
function needsOf({ access, needs = [] }: Operation): string[] {
  const implied = access === 'public' ? 'CLIENT_ADDRESS_HEADER' : 'API_KEY_PEPPER'
  return [...needs, 'SUPABASE_SERVICE_KEY', implied]
}

function describeFunction(
  folder: string,
  { paths, crons, takes_mail, cpu_ms, bare, needs }: Described,
  { secrets, everywhere, vars, functions, worker }: Deployment,
): FunctionSettings {
  const services = new Map(Object.keys(functions).map((name) => [serviceBinding(name), name]))
  const unknown = needs.filter((n) => !(services.has(n) || secrets.includes(n) || n in vars))
  if (unknown.length > 0) {
    throw new Error(`${folder} needs ${unknown.join()}: add it to scripts/deploy/functions.toml`)
  }
  const called = new Set(needs.filter((name) => services.has(name)))
  const own = Object.entries(vars).filter(([name]) => needs.includes(name))
  return {
    folder,
    name: `aoa-${folder}`,
    compatibilityDate: worker.compatibility_date,
    compatibilityFlags: worker.compatibility_flags,
    prefixes: paths,
    vars: bare ? {} : { ...everywhere, ...Object.fromEntries(own) },
    secrets: secrets.filter((name) => needs.includes(name)),
    services: [...called].map((binding) => ({ binding, service: `aoa-${services.get(binding)}` })),
    crons,
    takesMail: takes_mail,
    ...(cpu_ms === undefined ? {} : { cpuMilliseconds: cpu_ms }),
  }
}
