/** The page of spending sums what was paid, and leads to the payments behind each sum. */
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../support/browserless.ts'
import { enterPayment } from '../support/payment-rows.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
let [agent, other]: Agent[] = []
let browser: Browser
const shop = 'shop.example.com'
const payee = `0x${'12'.repeat(20)}`

async function entered(nth: number, at: string, differs: object = {}) {
  if (!agent) throw new Error('no agent')
  await enterPayment(world, agent, { nth, at: new Date(at), ...differs })
}

beforeAll(async () => {
  agent = await world.agent('pay')
  other = await world.agent('pay')
  browser = await signedIn(world, agent)
  await enterPayment(world, other, { nth: 1, at: new Date('2026-03-02T12:00:00Z'), host: shop })
  await entered(1, '2026-03-02T12:00:00Z', { usdMicros: 10_250_000n, host: shop })
  await entered(2, '2026-03-08T23:30:00Z', { usdMicros: 20_000_000n, host: shop })
  await entered(3, '2026-03-31T23:30:00Z', { usdMicros: 5_000_001n, payee, alias: 'printer' })
  await entered(4, '2026-03-05T12:00:00Z', { usdMicros: 99_000_000n, state: 'declined' })
  await entered(5, '2026-03-05T12:00:00Z', { usdMicros: 98_000_000n, state: 'authorized' })
  await entered(6, '2026-02-27T12:00:00Z', { usdMicros: 97_000_000n, host: `sub.${shop}` })
  await agent.withKey('read')
  await world.db.sql`update private.credentials set label = 'Travel desk'
    where account = ${agent.id} and scopes = '{read}'`
  await entered(7, '2026-03-09T12:00:00Z', { usdMicros: 1_000_000n, host: shop })
})

const march = '/web/spending?from=2026-03-01&to=2026-03-31'

/** Returns the rows of the table with this caption, cells in one line. */
function tableOf(html: string, caption: string): string[] {
  const [, body = ''] =
    new RegExp(`<caption[^>]*>${caption}</caption>.*?<tbody>(.*?)</tbody>`, 's').exec(html) ?? []
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

test('a period is summed by payee, agent, week and month, without what was not paid', async () => {
  const { html, text } = await browser.visit(march)

  expect(text).toContain('Total Export payments 36.250001 USD 4 payments')
  expect(tableOf(html, 'By merchant or recipient')).toEqual([
    'shop.example.com 3 31.25 86.2 %',
    'printer 1 5.000001 13.7 %',
  ])
  expect(tableOf(html, 'By agent')).toEqual(['pay 3 35.250001 97.2 %', 'Travel desk 1 1.00 2.7 %'])
  expect(tableOf(html, 'By week')).toEqual(['2 Mar 2 30.25', '9 Mar 1 1.00', '30 Mar 1 5.000001'])
  expect(tableOf(html, 'By month')).toEqual(['March 4 36.250001'])
})

test('each line leads to the payments that it sums, and no others', async () => {
  const page = await browser.visit(march)
  const [main = ''] = /<main.*<\/main>/s.exec(page.html) ?? []
  const rows = [
    ...main.matchAll(/<tr>\s*<td[^>]*><a[^>]*href="([^"]+)".*?<\/a>.*?<\/td>\s*<td[^>]*>(\d+)</gs),
  ]

  expect(rows).toHaveLength(8)
  for (const [, address = '', payments] of rows) {
    const { html } = await browser.visit(address.replaceAll('&amp;', '&'))
    expect(html.match(/href="\/web\/payment\//g) ?? []).toHaveLength(Number(payments))
  }
})

test('days, weeks and months are those of the reader', async () => {
  browser.cookies.set('aoa_zone', 'Asia/Tokyo')
  const { html, text } = await browser.visit(march)
  const april = await browser.visit('/web/spending?from=2026-04-01&to=2026-04-01')
  browser.cookies.delete('aoa_zone')

  expect(text).toContain('31.25 USD 3 payments')
  expect(tableOf(html, 'By week')).toEqual(['2 Mar 1 10.25', '9 Mar 2 21.00'])
  expect(april.text).toContain('5.000001 USD One payment')
})

test('the chart has an axis, labels, and the value of each part where the pointer is', async () => {
  const [days, months] = [
    await browser.visit(march),
    await browser.visit('/web/spending?from=2025-04-01&to=2026-03-31'),
  ]

  expect(days.html).toContain('<title>2 Mar: 10.25 USD</title>')
  expect(days.html).toContain('<title>3 Mar: 0.00 USD</title>')
  expect(days.html.match(/<text[^>]*text-anchor="end">\s*(20|10|0)\s*</g)).toHaveLength(3)
  expect(days.html).toMatch(/<text[^>]*text-anchor="middle">\s*1 Mar\s*</)
  expect(months.html).toContain('<title>February: 97.00 USD</title>')
  expect(months.html).toContain('<title>April 2025: 0.00 USD</title>')
})

test('a period is chosen by name, and what means nothing is ignored', async () => {
  for (const query of ['', '?period=last_month', '?period=90_days', '?period=12_months']) {
    const page = await browser.visit(`/web/spending${query}`)
    expect(page.status).toBe(200)
    expect(page.html.match(/aria-current="true"/g)).toHaveLength(1)
  }
  for (const query of ['from=x&to=2026-02-30', 'period=never', 'from=2000-01-01&to=2199-12-31']) {
    expect((await browser.visit(`/web/spending?${query}`)).status).toBe(200)
  }
  const reversed = await browser.visit('/web/spending?from=2026-03-31&to=2026-03-01')
  expect(reversed.text).toContain('36.250001 USD 4 payments')
})

test('a period without payments says so', async () => {
  const page = await browser.visit('/web/spending?from=2024-01-01&to=2024-01-31')

  expect(page.text).toContain('Nothing was paid in this period. Choose another one')
})
