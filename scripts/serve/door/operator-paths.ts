/** Paths for those who run a service: /health for anybody, /status and /metrics for whoever has the token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import type { Database } from '../../../shared/db/database.ts'
import type { Metrics } from './metrics.ts'

const statesSchema = z.tuple([
  z.object({
    health: z.looseObject({
      failing: z.array(z.object({ part: z.string(), reason: z.string() })),
    }),
  }),
])

/** Sources of the answers. */
export type OperatorPaths = { database: Database; metrics: Metrics; token: string | undefined }

/** Answers these paths, and no others. /health asks nobody, since probes come every few seconds. */
export function answerOperator({
  database,
  metrics,
  token,
}: OperatorPaths): (request: Request, path: string) => Promise<Response> | undefined {
  const began = new Date()
  const report = async (path: string): Promise<Response> => {
    const health = await database
      .call('health_states', {})
      .then((rows) => statesSchema.parse(rows)[0].health)
      .catch(() => ({ failing: [{ part: 'database', reason: 'unreachable' }] }))
    if (path === '/metrics') {
      const text = await metrics.text(health.failing.map(({ part }) => part))
      return new Response(text, { headers: { 'content-type': metrics.contentType } })
    }
    return Response.json({ ok: health.failing.length === 0, began_at: began, ...health })
  }
  return (request, path) => {
    if (path === '/health') return Promise.resolve(Response.json({ ok: true }))
    if (path !== '/status' && path !== '/metrics') return undefined
    const isAllowed =
      token !== undefined && isEqual(request.headers.get('authorization') ?? '', `Bearer ${token}`)
    return isAllowed ? report(path) : Promise.resolve(new Response(null, { status: 401 }))
  }
}

/** Compares in a time that says nothing about where the two differ. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
