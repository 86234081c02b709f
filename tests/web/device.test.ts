/** The owner enters a program's code, sees what asks, and gives it that or less. */
import { expect, test } from 'vitest'
import { beginDevice } from '../../shared/oauth/device.ts'
import { deviceGrant } from '../../shared/oauth/issuer.ts'
import { registerClient } from '../../shared/oauth/register.ts'
import { openBrowser } from '../support/browserless.ts'
import { openPersonAtHome } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const home = () => openPersonAtHome(world)

async function begin(scope = 'pay') {
  const metadata = { client_name: 'A terminal tool', grant_types: [deviceGrant] }
  const registered = await registerClient(world.world, metadata, '192.0.2.7')
  if ('error' in registered) throw new Error(registered.error_description)
  const form = new Map([
    ['client_id', registered.client_id],
    ['scope', scope],
  ])
  const from = { client: '192.0.2.7', userAgent: 'tool/1.0' }
  const begun = await beginDevice(world.world, form, from)
  if ('error' in begun) throw new Error(begun.error_description)
  const { user_code: code, phrase } = begun
  return { code, phrase, path: `/web/device?user_code=${code}` }
}

const givenTo = ({ id }: { id: string }) => world.db.sql`select scopes, days,
  max_per_payment_usd_micros::text as each from private.oauth_codes where account = ${id}`

test('who is not signed in signs in first, and comes back to the code', async () => {
  const { path } = await begin()

  const { headers } = await openBrowser(world).send(path)

  expect(headers.get('location')).toBe(`/web/login?next=${encodeURIComponent(path)}`)
})

test('the page shows words, name, network and moment, and chooses the least for a stranger', async () => {
  const { browser } = await home()
  const { phrase, code } = await begin()

  const shown = await browser.visit(`/web/device?user_code=${code.toLowerCase().replace('-', ' ')}`)

  for (const text of [phrase, 'A terminal tool', '192.0.2.7', 'tool/1.0', 'Nobody has checked']) {
    expect(shown.text).toContain(text)
  }
  expect(shown.html).toMatch(/value="read" checked/)
  expect(shown.html.match(/name="level"[^>]*checked/g)).toHaveLength(1)
})

test('nothing is chosen at first for a program that does not ask to read', async () => {
  const { browser } = await home()
  const { path } = await begin('vault')

  expect((await browser.visit(path)).html).not.toMatch(/name="level"[^>]*checked/)
})

test('the owner gives it more than the least, within caps', async () => {
  const { browser, person } = await home()
  const { path } = await begin()
  await browser.visit(path)

  const chosen = { decision: 'allowed', level: 'pay', each: '5', day: '20', days: '7' }
  const end = await browser.submit(chosen, path)
  const again = await browser.visit(path)

  expect(end.text).toContain('The program is connected')
  expect(await givenTo(person.agent)).toEqual([{ scopes: ['pay'], days: 7, each: '5000000' }])
  expect([again.status, again.text]).toEqual([400, expect.stringContaining('No program waits')])
})

test('the owner denies it, and nothing was given', async () => {
  const { browser, person } = await home()
  const { path } = await begin()
  await browser.visit(path)

  const end = await browser.submit({ decision: 'denied' }, path)

  expect(end.text).toContain('The program was denied')
  expect(await givenTo(person.agent)).toEqual([])
})

test('a wrong code says so at its field, and only so many may be tried', async () => {
  const { browser } = await home()
  const tries = Array.from({ length: 10 }, () => '/web/device?user_code=BBBB-BBBB')

  const answers: number[] = []
  for (const path of tries) answers.push((await browser.visit(path)).status)
  const { path } = await begin()
  const tooMany = await browser.visit(path)
  await world.tick(60)
  const later = await browser.visit(path)

  expect(new Set(answers)).toEqual(new Set([400]))
  expect([tooMany.status, later.status]).toEqual([429, 200])
})
