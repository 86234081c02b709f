/** Every operation as a test calls it: the deployed binding, except for the world that it runs in. */
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { oauthFunction } from '../../functions/oauth/index.ts'
import type { Operation } from '../../shared/contract/operation.ts'
import {
  type BoundOperation,
  bindOperation,
  type EdgeFunction,
  edgeFunctions,
} from '../../shared/http/edge.ts'
import type { Handler } from '../../shared/http/handler.ts'
import type { World } from '../../shared/world.ts'

const handlers = z.record(
  z.string(),
  z.custom<Handler<Operation>>((value) => typeof value === 'function'),
)

/** Operations by folder, bound once because each binding builds the checks of its answers again. */
const operations = new Map<string, Promise<Bound>>()
type Bound = readonly [BoundOperation, ...BoundOperation[]]

function operationsIn(folder: string): Promise<Bound> {
  const known = operations.get(folder) ?? bind(folder)
  operations.set(folder, known)
  return known
}

async function bind(folder: string): Promise<Bound> {
  const file: unknown = await import(`../../functions/${folder}/handler.ts`)
  const { run, runGet, runPost } = handlers.parse(file)
  const bound = contracts.flatMap((contract) => {
    if (contract.folder !== folder) return []
    const found = run ?? (contract.method === 'GET' ? runGet : runPost)
    return found ? [bindOperation(contract, found)] : []
  })
  const [first, ...others] = bound
  if (!first) throw new Error(`no handler in ${folder}`)
  return [first, ...others]
}

/** Returns the functions by folder. */
export function functionsIn(world: World): Map<string, EdgeFunction> {
  const given = () => world
  return new Map([
    ['oauth', oauthFunction(given)],
    ...contracts.map(({ folder }): [string, EdgeFunction] => [
      folder,
      onDemand(async () => edgeFunctions(await operationsIn(folder), given)),
    ]),
  ])
}

/** Creates a function at its first call, because most worlds use few of theirs. */
function onDemand(make: () => Promise<EdgeFunction>): EdgeFunction {
  let made: Promise<EdgeFunction> | undefined
  return {
    fetch: async (...asked) => {
      made ??= make()
      return (await made).fetch(...asked)
    },
  }
}
