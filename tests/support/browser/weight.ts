/** Bytes that came over the wire to a browser, headers and all. */
import type { BrowserContext, Request } from 'playwright-core'

/** Begins to count; asked, it waits for what is under way and answers the sum. */
export function weigh(context: BrowserContext): () => Promise<number> {
  const requests: Request[] = []
  context.on('requestfinished', (request) => requests.push(request))
  return async () => {
    const sizes = await Promise.all(requests.map((request) => request.sizes()))
    const bytes = sizes.map((size) => size.responseHeadersSize + size.responseBodySize)
    return bytes.reduce((sum, one) => sum + one, 0)
  }
}
