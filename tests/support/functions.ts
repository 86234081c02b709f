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
const operations = new Map<string, readonly [BoundOperation, ...BoundOperation[]]>()
for (const contract of contracts) {
  const { folder, method } = contract
  const { run, runGet, runPost } = handlers.parse(
    await import(`../../functions/${folder}/handler.ts`),
  )
  const found = run ?? (method === 'GET' ? runGet : runPost)
  if (!found) throw new Error(`no handler of ${contract.id}`)
  operations.set(folder, [...(operations.get(folder) ?? []), bindOperation(contract, found)])
}

/** Returns the functions by folder. */
export function functionsIn(world: World): Map<string, EdgeFunction> {
  const given = () => world
  return new Map([
    ['oauth', oauthFunction(given)],
    ...[...operations].map(([folder, ofFolder]): [string, EdgeFunction] => [
      folder,
      onDemand(() => edgeFunctions(ofFolder, given)),
    ]),
  ])
}

/** Creates a function at its first call, because most worlds use few of theirs. */
function onDemand(make: () => EdgeFunction): EdgeFunction {
  let made: EdgeFunction | undefined
  return {
    fetch: (...asked) => {
      made ??= make()
      return made.fetch(...asked)
    },
  }
}
