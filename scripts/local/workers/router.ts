/**
 * Takes the place of the edge platform's router: the longest route that the path begins with decides which
 * function gets the request. Nothing else of the request matters.
 */
type Bindings = { ROUTES: readonly (readonly [prefix: string, folder: string])[] } & {
  [folder: string]: unknown
}
type Target = { fetch(request: Request): Promise<Response> }

export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const { pathname } = new URL(request.url)
    const route = bindings.ROUTES.find(([prefix]) => pathname.startsWith(prefix))
    const target = route && bindings[route[1]]
    if (!isTarget(target)) throw new Error('the routes name no function for everything else')
    // The edge platform sets this header itself, so a client's own value never passes.
    const headers = new Headers(request.headers)
    headers.set('cf-connecting-ip', '127.0.0.1')
    return target.fetch(new Request(request, { headers }))
  },
}

function isTarget(binding: unknown): binding is Target {
  return typeof binding === 'object' && binding !== null && 'fetch' in binding
}
