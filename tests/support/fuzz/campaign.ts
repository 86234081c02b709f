/**
 * Sends generated requests one after the other and checks every answer: no server error, each as the
 * document describes it, and no refusal that changed data.
 */
import notFound from '../../../functions/not-found/index.ts'
import { parseJson } from '../../../shared/base64.ts'
import { functionsIn } from '../functions.ts'
import { randomOf } from '../seed.ts'
import type { TestWorld } from '../world.ts'
import { castOf } from './cast.ts'
import { type Described, describedBy } from './described.ts'
import { outsideOf } from './outside.ts'
import { type Asked, requestOf, type Tokens } from './requests.ts'
import { openMemory } from './seen.ts'
import { watchTables } from './touched.ts'
import { oneOf } from './values.ts'

export type Outcome = {
  /** Failures, each with the number of the request that shows it. */
  findings: string[]
  /** Number of answers with each status, by operation. */
  statuses: Record<string, Record<number, number>>
}
export type Campaign = { run(plan: { seed: number; count: number }): Promise<Outcome> }

/** Requests after which new accounts take over, so that none reaches its limits. */
const requestsPerCast = 1_500

export async function openCampaign(tests: TestWorld): Promise<Campaign> {
  const operations = await describedBy(tests.world)
  const isolate = openIsolate(tests)
  const touched = await watchTables(tests.db.sql)
  return {
    async run({ seed, count }) {
      const random = randomOf(seed)
      const memory = openMemory(random)
      const outcome: Outcome = { findings: [], statuses: {} }
      let tokens: Tokens = { good: [], bad: [] }
      for (let at = 0; at < count; at += 1) {
        if (at % requestsPerCast === 0) tokens = await castOf(tests)
        const described = oneOf(random, operations)
        const asked = requestOf(described, tokens, { random, seen: (name) => memory.seen(name) })
        await touched()
        const answer = await isolate.send(asked)
        const found = objectionTo(operations, asked, answer, await touched())
        if (found !== undefined) outcome.findings.push(`${at} ${inShort(asked)}: ${found}`)
        if (answer.status === 200) memory.keep(answer.body)
        if (described.id === 'account_freeze') await thaw(tests)
        const counts = (outcome.statuses[described.id] ??= {})
        counts[answer.status] = (counts[answer.status] ?? 0) + 1
      }
      return outcome
    },
  }
}

function inShort({ path, init }: Asked): string {
  const body = typeof init.body === 'string' ? init.body : `${init.body?.length ?? 0} bytes`
  return `${init.method} ${path} ${body}`.slice(0, 400)
}

/** Unfreezes all accounts: a frozen one refuses nearly everything, which would end the campaign. */
async function thaw({ db }: TestWorld): Promise<void> {
  await db.sql`update private.accounts set frozen_at = null where frozen_at is not null`
}

type Given = { status: number; text: string; body: unknown; type: string }

/** Opens an isolate that reaches no real server outside, and whose clock advances while it waits. */
function openIsolate(tests: TestWorld): { send(asked: Asked): Promise<Given> } {
  let waited = 0
  const own = [tests.db.gatewayUrl, tests.chain.rpcUrl]
  const { world } = tests.worker({
    fetch: outsideOf(own, (input, init) => fetch(input, init)),
    now: () => new Date(Date.now() + waited),
    pause: async (milliseconds) => {
      waited += milliseconds
    },
  })
  const functions = functionsIn(world)
  return {
    async send({ path, init }) {
      waited = 0
      const request = new Request(`http://aoa${path}`, init)
      const [, folder = ''] = new URL(request.url).pathname.split('/')
      const answer = await (functions.get(folder) ?? notFound).fetch(request)
      const text = await answer.text()
      const type = answer.headers.get('content-type') ?? ''
      return { status: answer.status, text, body: parseJson(text), type }
    },
  }
}

function objectionTo(
  operations: readonly Described[],
  { path, init: { method } }: Asked,
  { status, text, body, type }: Given,
  touched: readonly string[],
): string | undefined {
  // A site or merchant that fails is reported as such; no other status may be above 499.
  const isOfSite = status === 502 && /"(resource|site)_unavailable"/.test(text)
  if (status >= 500 && !isOfSite) return `${status} ${text}`
  if (status >= 400 && touched.length > 0) return `${status} and changed ${touched.join()}: ${text}`
  // An answer to HEAD has the headers of the answer to GET, and no body (RFC 9110 section 9.3.2).
  if (method === 'HEAD') return text === '' ? undefined : `a body for HEAD: ${text}`
  if (!type.startsWith('application/json')) return `${status} of type ${type}`
  const { pathname } = new URL(path, 'http://aoa')
  const at = operations.filter((one) => one.path === pathname.replace(/\/$/, ''))
  const described = at.find((one) => one.method === method)
  if (described) {
    const objection = described.objection(status, body)
    return objection && `${objection} in ${status} ${text.slice(0, 500)}`
  }
  const expected = at.length > 0 ? 405 : 404
  return status === expected ? undefined : `${status} where ${expected} is due`
}
