/** Counts the bytes that a browser receives over the wire for pages, headers included and their font left out. */
import type { BrowserContext, Request } from 'playwright-core'

/** Starts to count. The returned function waits for requests under way and returns the sum. */
export function weigh(context: BrowserContext): () => Promise<number> {
  const requests: Request[] = []
  context.on('requestfinished', (request) => {
    if (request.resourceType() !== 'font') requests.push(request)
  })
  return async () => {
    const sizes = await Promise.all(requests.map((request) => request.sizes()))
    const bytes = sizes.map((size) => size.responseHeadersSize + size.responseBodySize)
    return bytes.reduce((sum, one) => sum + one, 0)
  }
}
