/** A source of text outside: how it says the words, and where they are then looked for. */
import type fc from 'fast-check'
import type { Market } from '../market.ts'
import type { Caller } from './callers.ts'
import { byHttp, byTools } from './callers.ts'
import { words } from './said.ts'

/** One of the ways in which a source was heard; a run of many cases must have met all that are named. */
export type Source = {
  name: string
  /** Of 100 cases. */
  share: number
  /** What must have been met. */
  meets: readonly unknown[]
  /** Each case draws from the random source what it needs beside the words. */
  say(said: string, pick: Pick): Promise<unknown>
}

export type Pick = <Value>(...from: readonly Value[]) => Value

/** Runs cases; answers what was met. */
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

/** Calls by requests and by tools in turns. */
export function callersOf(callTool: Parameters<typeof byTools>[0]) {
  const tools = byTools(callTool)
  return (pick: Pick): Caller => pick(byHttp, byHttp, tools)
}

/** An agent for so many cases; what it may sign or pay is used up then. */
export function agentsFor(market: Market, usdc: number, casesMax: number) {
  let [count, agent] = [0, market.agent('pay', { usdc })]
  return async () => {
    if (count > 0 && count % casesMax === 0) agent = market.agent('pay', { usdc })
    count += 1
    if (count % 20 === 0) await market.db.sql`delete from private.rate_buckets`
    return agent
  }
}
