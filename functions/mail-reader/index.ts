import { serveReader } from '../../shared/mailbox/reader.ts'
import { type World, worldFrom } from '../../shared/world.ts'

/**
 * Makes the function that reads strangers' mails: with no key, no database and nobody to ask, and apart
 * from all that others wait for. It has no route. `worldOf` is replaced only where a test holds the world.
 */
export function mailReader(worldOf: (bindings: Record<string, unknown>) => World = worldFrom) {
  return {
    fetch: (request: Request, bindings: Record<string, unknown> = {}) =>
      serveReader(worldOf(bindings), request),
  }
}

export default mailReader()
