/** Filters and search of the activity. */
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../support/browserless.ts'
import { enterPayment, hashOf } from '../support/payment-rows.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const minutes = (count: number) => new Date(world.world.now().getTime() - count * 60_000)
let [agent, other]: Agent[] = []
let browser: Browser
const ids: string[] = []

async function entered(nth: number, differs: Partial<Parameters<typeof enterPayment>[2]>) {
  if (!agent) throw new Error('no agent')
  ids[nth] = await enterPayment(world, agent, { nth, at: minutes(60 - nth), ...differs })
}

beforeAll(async () => {
  agent = await world.agent('pay')
  other = await world.agent('pay')
  browser = await signedIn(world, agent)
  await enterPayment(world, other, { nth: 1, at: minutes(1), memo: 'of somebody else' })
  await entered(1, { usdMicros: 153_000_000n, alias: 'bookshop', memo: 'Printer paper' })
  await entered(2, { usdMicros: 153_250_000n, host: 'api.weather.example' })
  await entered(3, { usdMicros: 1_500_000n, state: 'declined' })
  await entered(4, { usdMicros: 20_000_000n, state: 'awaiting_confirmation' })
  await entered(5, { usdMicros: 7_000_000n, state: 'authorized' })
  await entered(6, { usdMicros: 9_000_000n, at: new Date('2025-03-03T22:30:00Z') })
  await agent.withKey('read')
  await world.db.sql`update private.credentials set label = 'Travel desk'
    where account = ${agent.id} and scopes = '{read}'`
  await entered(7, { usdMicros: 3_000_000n })
  await world.db.sql`insert into private.activities (account, category, type, summary)
    values (${agent.id}, 'security', 'told', 'The limit was lowered to 153.00 USD.')`
})

async function found(query: string) {
  const { status, html, text } = await browser.visit(`/web/activity?${query}`)
  expect(status).toBe(200)
  expect(text).not.toContain('somebody else')
  const links = [...html.matchAll(/href="\/web\/payment\/([^"]+)"/g)]
  const places = links.map(([, id = '']) => ids.indexOf(id))
  return [...places, ...(text.includes('was lowered') ? ['event'] : [])]
}

test.each([
  ['', [7, 5, 4, 3, 2, 1, 6, 'event']],
  ['q=153', [2, 1, 'event']],
  ['q=153.00', [1, 'event']],
  ['q=1.50', [3]],
  ['q=%24153.25+USDC', [2]],
  ['q=PRINTER', [1]],
  ['q=bookshop', [1]],
  ['q=weather.example', [2]],
  ['q=travel', [7]],
  ['q=lowered', ['event']],
  ['state=waiting', [4]],
  ['state=on_its_way', [5]],
  ['state=paid', [7, 2, 1, 6]],
  ['state=not_paid', [3]],
  ['min=20&max=153', [4, 1]],
  ['direction=out', [7, 5, 4, 3, 2, 1, 6]],
  ['direction=in', []],
  ['category=x402', [2]],
  ['category=security', ['event']],
  ['from=2025-03-03&to=2025-03-03', [6]],
  ['to=2025-03-02', []],
  ['q=153&state=paid&max=153.1', [1]],
])('the filter "%s" finds what it names, and nothing else', async (query, expected) => {
  expect(await found(query)).toEqual(expected)
})

test('addresses, hashes and ids are found in full and in part', async () => {
  if (!agent) throw new Error('no agent')
  const hash = hashOf(agent, 2)

  for (const words of [hash, hash.slice(0, 42), hash.slice(2, 20).toUpperCase(), ids[2] ?? '']) {
    expect(await found(`q=${words}`)).toEqual([2])
  }
})

test('an agent is chosen by name, and a key that was replaced by one of its name goes with it', async () => {
  const page = await browser.visit('/web/activity')
  const [, id = ''] = /<option value="([^"]+)"[^>]*>Travel desk</.exec(page.html) ?? []

  expect(await found(`agent=${id}`)).toEqual([7])
  expect(await found('agent=00000000-0000-4000-8000-000000000000')).toEqual([])
})

test('a day is a day of the reader', async () => {
  browser.cookies.set('aoa_zone', 'Asia/Tokyo')
  const [utcDay, readersDay] = [await found('to=2025-03-03'), await found('to=2025-03-04')]
  const page = await browser.visit('/web/activity?to=2025-03-04')
  browser.cookies.delete('aoa_zone')

  expect([utcDay, readersDay]).toEqual([[], [6]])
  expect(page.text).toContain('Tuesday, 4 March 2025')
  expect(page.text).toMatch(/07:30 Transfer/)
})

test('values that mean nothing are ignored', async () => {
  const nonsense = [
    'from=yesterday&to=2026-99-99&state=lost&min=-1&max=1e9&direction=up&agent=x&before=1',
    'before=2026-99-99T00:00:00Z_1&min=99999999999999999999',
    'before=2026-02-30T00:00:00%2B00:00_1&from=9999-01-01&to=2026-02-3',
    'before=2026-02-28T25:00:00Z_1&from=2026-02-31&q[]=x',
  ]
  for (const query of nonsense) expect(await found(query)).toHaveLength(8)
})

test('what finds nothing says what to do', async () => {
  const page = await browser.visit('/web/activity?q=nowhere&state=paid')

  expect(page.text).toContain('Nothing matches. Use fewer filters or other words, or')
  expect(page.html).toContain('<a href="/web/activity">show everything</a>')
})

test('the links between pages keep the filters, and the form keeps what was chosen', async () => {
  const many = await world.agent('pay')
  for (let nth = 1; nth <= 27; nth += 1) {
    await enterPayment(world, many, { nth, at: minutes(nth), memo: 'lamp' })
    await enterPayment(world, many, { nth: 100 + nth, at: minutes(nth), memo: 'chair' })
  }
  const reader = await signedIn(world, many)
  const first = await reader.visit('/web/activity?q=lamp&state=paid&min=1')
  const [, older = ''] = /<a href="([^"]+)" rel="next"/.exec(first.html) ?? []

  const second = await reader.visit(older.replaceAll('&amp;', '&'))

  const links = (html: string) => html.match(/href="\/web\/payment\//g) ?? []
  expect([links(first.html).length, links(second.html).length]).toEqual([25, 2])
  expect(second.path).toContain('q=lamp&state=paid&min=1')
  expect(second.html).toContain('href="/web/activity?q=lamp&amp;state=paid&amp;min=1">Newest')
  expect(second.html).toMatch(/<option value="paid" selected/)
  expect(second.html).toMatch(/<details open/)
})
