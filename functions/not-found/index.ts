import { refuse, wrongPath } from '../../shared/http/answer.ts'
import { newId } from '../../shared/world.ts'

/** Answers every path that belongs to no operation, and names the right form where it can. */
export default {
  fetch(request: Request): Response {
    const [, version, folder] =
      /^\/(v[0-9]+)\/([a-z0-9-]+)/.exec(new URL(request.url).pathname) ?? []
    const path = version === undefined ? '/<operation>' : `/${folder}`
    return refuse(wrongPath(path), newId())
  },
}
