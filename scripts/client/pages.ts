/** Reads lists page by page. */
import type { CallOptions } from './options.ts'

type Page = { next_cursor: string | null }
type List<Request, Answer> = (request: Request, options?: CallOptions) => Promise<Answer>

/**
 * Yields all pages of a list and makes one call for each page that is read:
 * `for await (const { items } of pages(client.walletActivityList, { category: 'x402' }))`.
 */
export async function* pages<Request extends { cursor?: string | undefined }, Answer extends Page>(
  list: List<Request | undefined, Answer> | List<Request, Answer>,
  request: NoInfer<Request>,
  options?: CallOptions,
): AsyncGenerator<Answer> {
  let cursor = request.cursor
  do {
    const page = await list({ ...request, cursor }, options)
    yield page
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}
