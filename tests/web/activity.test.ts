import { expect, test } from 'vitest'
import { csvBytes } from '../../functions/web/activity/activity-csv.ts'
import { signedIn } from '../support/browserless.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()

async function told(agent: Agent, summaries: string[], hidden = false) {
  for (const summary of summaries) {
    await world.db.sql`insert into private.activities (account, category, type, summary, hidden)
      values (${agent.id}, 'security', 'told', ${summary}, ${hidden})`
  }
}

test('words find what holds them, in any letter case, in this account alone', async () => {
  const [mine, other] = [await world.agent('read'), await world.agent('read')]
  await told(mine, ['The key “Research” was created.', 'The limit was lowered.'])
  await told(other, ['The key “research” of another account.'])
  const browser = await signedIn(world, mine)

  const page = await browser.visit('/web/activity?q=rESEARCH')

  expect(page.text).toContain('The key “Research” was created.')
  expect(page.text).not.toContain('The limit was lowered.')
  expect(page.text).not.toContain('another account')
  expect((await browser.visit('/web/activity?q=%25')).text).toContain('Nothing matches')
})

test('pages hold each item once and end where the items end', async () => {
  const agent = await world.agent('read')
  await told(
    agent,
    Array.from({ length: 60 }, (_, at) => `Item ${at} ends.`),
  )
  const browser = await signedIn(world, agent)
  const seen: string[] = []
  let path: string | undefined = '/web/activity'

  while (path !== undefined) {
    const page = await browser.visit(path)
    seen.push(...(page.text.match(/Item \d+ ends/g) ?? []))
    const [, older] = /<a href="([^"]+)" rel="next"/.exec(page.html) ?? []
    path = older?.replaceAll('&amp;', '&')
  }

  expect(seen).toHaveLength(60)
  expect(new Set(seen).size).toBe(60)
})

test('what is kept out of the feed is shown only where it is asked for', async () => {
  const agent = await world.agent('read')
  await told(agent, ['Bait.'], true)
  const browser = await signedIn(world, agent)

  expect((await browser.visit('/web/activity')).text).not.toContain('Bait.')
  expect((await browser.visit('/web/activity?hidden=yes')).text).toContain('Bait.')
})

test("somebody else's item looks like one that does not exist", async () => {
  const [mine, other] = [await world.agent('read'), await world.agent('read')]
  await told(other, ['Not yours.'])
  const [row] = await world.db.sql`select id from private.activities where account = ${other.id}`
  const browser = await signedIn(world, mine)

  const pages = [
    await browser.visit(`/web/activity/${String(row?.['id'])}`),
    await browser.visit('/web/activity/999999999'),
    await browser.visit('/web/activity/x'),
  ]

  expect(pages.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(pages[0]?.text).not.toContain('Not yours.')
})

test('an address with nonsense in it shows the activity', async () => {
  const browser = await signedIn(world, await world.agent('read'))

  const page = await browser.visit('/web/activity?category=nothing&before=-1&q=%00&hidden=1')

  expect(page.status).toBe(200)
})

test('the export holds all items and nothing that a spreadsheet would run', async () => {
  const agent = await world.agent('read')
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '＝1', '"=1']
  await told(agent, formulas)
  await told(
    agent,
    Array.from({ length: 600 }, (_, at) => `Item ${at}.`),
  )

  const file = await (await signedIn(world, agent)).send('/web/activity.csv')
  const cells = file.html.split('\r\n').flatMap((line) => line.split(/","|^"|"$/))

  expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="activity-/)
  expect(file.html.match(/Item \d+\./g)).toHaveLength(600)
  expect(cells.filter((cell) => /^[\s"]*[=+\-@\t＝]/.test(cell))).toEqual([])
  for (const formula of formulas) expect(file.html).toContain(`'${formula.replace('"', '""')}`)
})

test('a cell with quotes and line breaks stays one cell', () => {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    csvBytes([
      {
        activity_id: '1',
        at: '2026-03-01T00:00:00.000Z',
        category: 'transfer',
        type: 'told',
        summary: 'Says "yes"\r\nand no',
      },
    ]),
  )

  expect(text.startsWith('\ufefftime,category,')).toBe(true)
  expect(text).toContain('"Says ""yes""\r\nand no"')
})
