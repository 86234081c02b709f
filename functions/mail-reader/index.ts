import { serveReader } from '../../shared/mailbox/receive/reader.ts'
import { randomBytes, type World } from '../../shared/world.ts'

/**
 * Makes the function that parses strangers' mails. It has no key, no database, no binding and no route, and
 * it runs apart from everything that others wait for. Only tests replace its randomness.
 */
export function mailReader(world: Pick<World, 'randomBytes'> = { randomBytes }) {
  return { fetch: (request: Request) => serveReader(world, request) }
}

export default mailReader()
