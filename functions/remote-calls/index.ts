import { runToEnd } from '../../shared/http/later.ts'
import { takeCall } from '../../shared/remote/door.ts'
import { type World, worldFrom } from '../../shared/world.ts'

type Bindings = Record<string, unknown>

/** Makes the function. Only tests replace `worldOf`. */
export function remoteCallsFunction(worldOf: (bindings: Bindings) => World = worldFrom) {
  let world: World | undefined
  return {
    fetch: runToEnd((request, bindings = {}) => {
      world ??= worldOf(bindings)
      return takeCall(world, request)
    }),
  }
}

export default remoteCallsFunction()
