/** Plans which workers a deployment consists of, and the order in which they can be uploaded. */
import type { Operation } from '../../shared/contract/operation.ts'
import { describeFunctions, type FunctionSettings, readDeployment } from '../local/functions.ts'

/** Forms of a deployment: workers that functions share, or a worker for each function. */
export type Form = 'few' | 'each'

/** A worker as it is to be uploaded. It has what its functions need, and nothing else. */
export type PlannedWorker = {
  /** Name in the account. */
  name: string
  /** Name of the built module, without `.mjs`: the group, or the function's folder. */
  module: string
  /** Folders of its functions. */
  folders: readonly string[]
  /** Functions, as they are alone. */
  functions: readonly FunctionSettings[]
  /** Path prefixes for which it gets the requests; empty if it cannot be reached from outside. */
  prefixes: readonly string[]
  /** The same as patterns `host/path*`. */
  routes: readonly string[]
  vars: Readonly<Record<string, string>>
  /** Names of its secrets. */
  secrets: readonly string[]
  /** Bindings to other workers; those within a worker are resolved by its entry module. */
  services: readonly { binding: string; service: string }[]
  crons: readonly string[]
  takesMail: boolean
  /** CPU that one request may use; absent if one of its functions has no limit of its own. */
  cpuMilliseconds?: number
  compatibilityDate: string
  compatibilityFlags: readonly string[]
}

/** Functions that are in no group. */
const rest = 'app'
/** Name of a deployment that has no other. */
export const usualName = 'aoa'

/**
 * Returns the workers of a deployment in the order in which they are uploaded: a worker comes after those that it
 * is bound to. Of workers that are bound to each other, one must come first all the same. The platform refuses a
 * binding to a worker that does not exist, so an empty one has to hold the place of the other until then.
 */
export async function plannedWorkers(
  values: Readonly<Record<string, string>>,
  form: Form,
  name?: string,
): Promise<PlannedWorker[]> {
  const { contracts } = await import('../../functions/contracts.ts')
  return planWorkers(contracts, values, form, name)
}

/** Returns the names that workers of a deployment can have, in either form. */
export async function workerNames(name: string): Promise<string[]> {
  return [...new Set((await possibleWorkers(name)).map((worker) => worker.name))]
}

/** Returns the workers of both forms, with those that only some deployments have. */
export async function possibleWorkers(name: string): Promise<PlannedWorker[]> {
  const { vars } = readDeployment()
  const forms = await Promise.all([
    plannedWorkers(vars, 'few', name),
    plannedWorkers(vars, 'each', name),
  ])
  return forms.flat()
}

/** Does the same for these contracts. A var without a value keeps that of scripts/deploy/functions.toml. */
export function planWorkers(
  contracts: readonly Operation[],
  values: Readonly<Record<string, string>>,
  form: Form,
  deploymentName = usualName,
): PlannedWorker[] {
  const deployment = readDeployment()
  const { everywhere, groups } = deployment
  const groupOf = (folder: string) =>
    Object.keys(groups).find((group) => groups[group]?.includes(folder)) ?? rest
  const moduleOf = form === 'each' ? (folder: string) => folder : groupOf
  const functions = describeFunctions(contracts, deployment, values)
  const { host } = new URL(values['BASE_URL'] ?? everywhere['BASE_URL'] ?? '')
  const workerOf = new Map(
    functions.map(({ folder, name }) => [name, `${deploymentName}-${moduleOf(folder)}`]),
  )
  const joined = [...Map.groupBy(functions, ({ folder }) => moduleOf(folder))].map(
    ([module, inside]) =>
      workerOfFunctions(module, inside, { workerOf, values, name: `${deploymentName}-${module}` }),
  )
  const workers = joined.map((worker) => {
    const prefixes = worker.prefixes.filter((prefix) => isNeeded(prefix, worker, joined))
    return { ...worker, prefixes, routes: prefixes.map((prefix) => `${host}${prefix}*`) }
  })
  return inUploadOrder(workers)
}

type Wiring = {
  name: string
  /** Worker that holds a function, by the name of the function's own worker. */
  workerOf: ReadonlyMap<string, string>
  values: Readonly<Record<string, string>>
}

function workerOfFunctions(
  module: string,
  functions: readonly FunctionSettings[],
  { name, workerOf, values }: Wiring,
): Omit<PlannedWorker, 'routes'> {
  const [first] = functions
  if (!first) throw new Error(`the worker ${module} has no function`)
  const vars = functions.flatMap((one) => Object.entries(one.vars))
  const services = functions.flatMap((one) =>
    one.services.map(
      ({ binding, service }) => [binding, workerOf.get(service) ?? service] as const,
    ),
  )
  const limits = functions.map(({ cpuMilliseconds = 0 }) => cpuMilliseconds)
  return {
    name,
    module,
    folders: functions.map(({ folder }) => folder),
    functions,
    prefixes: functions.flatMap(({ prefixes }) => prefixes),
    vars: Object.fromEntries(vars.map(([key, value]) => [key, values[key] ?? value])),
    secrets: [...new Set(functions.flatMap(({ secrets }) => secrets))].toSorted(),
    services: [...new Map(services)]
      .filter(([, service]) => service !== name)
      .map(([binding, service]) => ({ binding, service })),
    crons: [...new Set(functions.flatMap(({ crons }) => crons))],
    takesMail: functions.some(({ takesMail }) => takesMail),
    ...(limits.includes(0) ? {} : { cpuMilliseconds: Math.max(...limits) }),
    compatibilityDate: first.compatibilityDate,
    compatibilityFlags: first.compatibilityFlags,
  }
}

type Routed = Pick<PlannedWorker, 'name' | 'prefixes'>

/** Decides whether requests for a prefix would go elsewhere if the worker had no route for it. */
function isNeeded(prefix: string, { name }: Routed, workers: readonly Routed[]): boolean {
  const [next] = workers
    .flatMap((worker) => worker.prefixes.map((other) => ({ other, name: worker.name })))
    .filter(({ other }) => other !== prefix && prefix.startsWith(other))
    .toSorted((a, b) => b.other.length - a.other.length)
  return next?.name !== name
}

function inUploadOrder(workers: readonly PlannedWorker[]): PlannedWorker[] {
  const ordered = new Set<PlannedWorker>()
  const begun = new Set<PlannedWorker>()
  const visit = (worker: PlannedWorker) => {
    if (begun.has(worker)) return
    begun.add(worker)
    const called = worker.services.map(({ service }) => service)
    for (const other of workers) if (called.includes(other.name)) visit(other)
    ordered.add(worker)
  }
  for (const worker of workers.toSorted((a, b) => (a.name < b.name ? -1 : 1))) visit(worker)
  return [...ordered]
}
