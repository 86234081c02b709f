/** Lists of mandates and of their payments show every entry once, over several pages. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { decide } from '../support/mandate-pages.ts'
import { askMandate, giveMandate } from '../support/mandates.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })
const count = 27

/** Returns all matches on a page and on the pages that follow it, page by page. */
async function pagesFrom(agent: Parameters<typeof signedIn>[1], path: string, pattern: RegExp) {
  const browser = await signedIn(world, agent)
  const pages: string[][] = []
  for (let next: string | undefined = path; next !== undefined && pages.length < 5; ) {
    const { html } = await browser.visit(next)
    pages.push([...html.matchAll(pattern)].map(([, found = '']) => found))
    next = /<a href="([^"]*)" rel="next"/.exec(html)?.[1]
  }
  return pages
}

test('every mandate is on one page of the list, the newest first', async () => {
  const agent = await world.agent('pay')
  const browser = await signedIn(world, agent)
  const ids: string[] = []
  for (let at = 0; at < count; at += 1) {
    const { id } = await askMandate(world, agent)
    await decide(browser, `/web/mandate/${id}`, 'declined')
    ids.unshift(id)
  }

  const pages = await pagesFrom(agent, '/web/mandates', /href="\/web\/mandate\/([0-9a-f-]{36})"/g)

  expect(pages.map((page) => page.length)).toEqual([25, 2])
  expect(pages.flat()).toEqual(ids)
})

test('every payment is on one page of the statement, the newest first', async () => {
  const payee = await world.agent('read')
  const agent = await world.agent('pay', { usdc: 1_000 })
  const { id } = await giveMandate(world, agent, { pay_to: [payee.address] })
  const order = { recipient: payee.address, chain: 'base-sepolia', token: 'USDC', amount: '0.01' }
  const paid: unknown[] = []
  for (let at = 0; at < count; at += 1) {
    const { body } = await agent.post('/wallet-custodial-transfer', order)
    paid.unshift(body['transfer_id'])
  }

  const pages = await pagesFrom(agent, `/web/mandate/${id}`, /\/web\/payment\/([0-9a-f-]{36})"/g)

  expect(pages.map((page) => page.length)).toEqual([25, 2])
  expect(pages.flat()).toEqual(paid)
})
