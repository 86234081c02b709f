/** 5,000 random cases of hostile text from every outside source break nothing. */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type Market, openMarket } from '../support/market.ts'
import { holdLog } from '../support/words/heard.ts'
import { runCases } from '../support/words/source.ts'
import { sources } from '../support/words/sources.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

test.each(Object.entries(sources))(
  '%s is heard in `untrusted` and `response` alone',
  async (_name, open) => {
    const source = await open(market)

    const met = await runCases(fc, source, source.share * 50)

    expect([...met]).toEqual(expect.arrayContaining([...source.meets]))
    holdLog(market.log)
  },
)
