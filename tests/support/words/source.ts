/** A source of outside text: how it says the words, and where they are then checked. */
import type fc from 'fast-check'
import type { Market } from '../market.ts'
import { byHttp, byTools, type Caller } from './callers.ts'
import { words } from './said.ts'

/** A source of words. Each case returns how they were received; a long run must meet all listed ways. */
export type Source = {
  name: string
  /** Share of 100 cases. */
  share: number
  /** Ways that a run must have met. */
  meets: readonly unknown[]
  /** Says the words in one case; `pick` draws everything else that the case needs. */
  say(said: string, pick: Pick): Promise<unknown>
}

export type Pick = <Value>(...from: readonly Value[]) => Value

/** Runs cases and returns what was met. */
export async function runCases(check: typeof fc, source: Source, numRuns: number) {
  const met = new Set<unknown>()
  const property = check.asyncProperty(words, check.gen(), async (said, gen) => {
    const pick: Pick = (...from) => {
      const value = from[gen(check.integer, { min: 0, max: from.length - 1 })]
      if (value === undefined) throw new Error('there is nothing to pick from')
      return value
    }
    met.add(await source.say(said, pick))
  })
  await check.assert(property, {
    numRuns,
    interruptAfterTimeLimit: 590_000,
    markInterruptAsFailure: true,
  })
  return met
}

/** Returns callers that alternate between requests and tools. */
export function callersOf(callTool: Parameters<typeof byTools>[0]) {
  const tools = byTools(callTool)
  return (pick: Pick): Caller => pick(byHttp, byHttp, tools)
}

/** Returns an agent for a number of cases, after which its budget is used up and a new one follows. */
export function agentsFor(market: Market, usdc: number, casesMax: number) {
  let [count, agent] = [0, market.agent('pay', { usdc })]
  return async () => {
    if (count > 0 && count % casesMax === 0) agent = market.agent('pay', { usdc })
    count += 1
    if (count % 20 === 0) await market.db.sql`delete from private.rate_buckets`
    return agent
  }
}
