import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { newId } from '../../shared/world.ts'

/**
 * Answers every path that belongs to no operation, and names the right path where it can. A person
 * who opens the bare address in a browser is redirected to the web app.
 */
export default {
  fetch(request: Request): Response {
    const wantsPage = request.headers.get('accept')?.includes('text/html')
    if (wantsPage && new URL(request.url).pathname === '/') {
      return new Response(null, { status: 303, headers: { location: '/web' } })
    }
    const [, version, folder] =
      /^\/(v[0-9]+)\/([a-z0-9-]+)/.exec(new URL(request.url).pathname) ?? []
    const path = version === undefined ? '/<operation>' : `/${folder}`
    const { hint, ...refusal } = wrongPath(path)
    const all = 'All operations are in {base_url}/skill.md.'
    const answer = refuse({ ...refusal, hint: `${hint} ${all}` }, newId())
    return request.method === 'HEAD' ? new Response(null, answer) : answer
  },
}
