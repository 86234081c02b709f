import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start()

async function timeShownTo(zone: string | undefined) {
  const agent = await world.agent('read')
  const at = new Date(Date.UTC(2025, 2, 3, 23, 30, 5))
  await world.db.sql`insert into private.activities (account, category, type, summary, at)
    values (${agent.id}, 'security', 'told', 'A key was made.', ${at})`
  const [row] = await world.db.sql`select id from private.activities where account = ${agent.id}
    and summary = 'A key was made.'`
  const browser = await signedIn(world, agent)
  if (zone !== undefined) browser.cookies.set('aoa_zone', zone)
  const page = await browser.visit(`/web/activity/${String(row?.['id'])}`)
  const [, title, words] = /<time [^>]*title="([^"]*)"[^>]*>([^<]*)</.exec(page.html) ?? []
  return { status: page.status, title, words: words?.trim() }
}

test('times are on the clock of the reader, with UTC in their title', async () => {
  expect(await timeShownTo('Asia/Tokyo')).toEqual({
    status: 200,
    title: '2025-03-03 23:30:05 UTC',
    words: '4 Mar 2025, 08:30',
  })
})

test.each([
  undefined,
  '',
  'Mars/Olympus',
  '+02:00',
  '%00',
  '%',
  '"><b>',
  'a'.repeat(3000),
  '__proto__',
])('a browser whose zone is %s is shown UTC, and named as such', async (zone) => {
  const shown = await timeShownTo(zone)

  expect(shown).toMatchObject({ status: 200, words: '2025-03-03 23:30 UTC' })
})

test('every page brings the script that names the zone', async () => {
  const browser = await signedIn(world, await world.agent('read'))

  for (const path of ['/web', '/web/activity', '/web/keys', '/web/login']) {
    expect((await browser.visit(path)).html).toMatch(/<script [^>]*\/zone\.[0-9a-f]+\.js"/)
  }
})
