/** Strangers who send whatever they can, many at a time; nothing may break or grow without bound. */

import notFound from '../../../functions/not-found/index.ts'
import { webFunction } from '../../../functions/web/app.tsx'
import { pages } from '../../../functions/web/index.ts'
import { functionsIn } from '../functions.ts'
import { castOf } from '../fuzz/cast.ts'
import { describedBy } from '../fuzz/described.ts'
import { outsideOf } from '../fuzz/outside.ts'
import { byPlatform } from '../inbound.ts'
import { randomOf } from '../seed.ts'
import { mailDomain, type TestWorld } from '../world.ts'
import { type Call, callOf, mailOf } from './calls.ts'
import { countRows, grownBeyond, rowsAllowed } from './rows.ts'

/** Number of parallel calls; few, because a password blocks this process for a quarter of a second. */
const atOnce = 4
const mailboxes = 2
/** Number of calls of which one is a mail. */
const mailEvery = 20

export type Result = {
  /** Descriptions of what is wrong. */
  findings: string[]
  statuses: Record<number, number>
  perSecond: number
}

export async function sendAsStrangers(
  tests: TestWorld,
  { seed, count }: { seed: number; count: number },
): Promise<Result> {
  const { bad } = await castOf(tests)
  const operations = await describedBy(tests.world)
  const boxes = await Promise.all(Array.from({ length: mailboxes }, () => tests.agent('read')))
  const send = sendingTo(tests)
  const { sql } = tests.db
  const result: Result = { findings: [], statuses: {}, perSecond: 0 }
  const before = await countRows(sql)
  const began = performance.now()
  let sent = 0
  const keepSending = async (worker: number) => {
    const random = randomOf(seed * 1_000 + worker)
    while (sent < count) {
      sent += 1
      if (sent % mailEvery === 0) {
        const to = `${boxes[sent % mailboxes]?.alias}@${mailDomain}`
        const outcome = await byPlatform(tests.world, { to, ...mailOf(random) })
        if ('later' in outcome && !outcome.later.includes('451 4.7.1')) {
          result.findings.push(`a mail: ${outcome.later}`)
        }
        continue
      }
      const call = callOf(operations, bad, random)
      const status = await send(call)
      result.statuses[status] = (result.statuses[status] ?? 0) + 1
      if (status >= 500) result.findings.push(`${status} ${told(call)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, worker) => keepSending(worker)))
  const seconds = (performance.now() - began) / 1_000
  result.perSecond = count / seconds
  const allowed = rowsAllowed(seconds, mailboxes)
  result.findings.push(...grownBeyond(before, await countRows(sql), allowed))
  return result
}

function told({ path, init }: Call): string {
  return `${init.method} ${path} ${typeof init.body === 'string' ? init.body : ''}`.slice(0, 500)
}

function sendingTo(tests: TestWorld): (call: Call) => Promise<number> {
  const own = [tests.db.gatewayUrl]
  const { world } = tests.worker({ fetch: outsideOf(own, (input, init) => fetch(input, init)) })
  const functions = functionsIn(world)
  const web = webFunction(pages, () => world)
  return async ({ folder, path, init }) => {
    const target = folder === 'web' ? web : (functions.get(folder) ?? notFound)
    const answer = await target.fetch(new Request(new URL(path, 'http://localhost'), init))
    await answer.arrayBuffer()
    return answer.status
  }
}
