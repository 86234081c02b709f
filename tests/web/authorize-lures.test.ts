/** No app or link is connected by passing for another one that the owner means to connect. */
import { beforeAll, expect, test } from 'vitest'
import {
  askingPath,
  connectApp,
  goesTo,
  redeemCode,
  registerApp,
  shownIn,
} from '../support/apps.ts'
import { ownForm, signedIn } from '../support/browserless.ts'
import { openPerson, openPersonAtHome } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

const home = () => openPersonAtHome(world)

test('a page that was shown for one account lets nobody into another', async () => {
  const [{ browser }, other] = [await home(), await openPerson(world)]
  const path = askingPath(await registerApp(world))
  await browser.visit(path)
  const { cookies } = await signedIn(world, other.agent)
  browser.cookies.set('__Host-aoa_session', cookies.get('__Host-aoa_session') ?? '')

  const shown = await browser.submit({ decision: 'allowed' }, path)

  expect(shown.status).toBe(403)
  expect(shown.text).toContain('For another account, sign out')
  expect(
    await world.db.sql`select 1 from private.oauth_codes
    where account = ${other.agent.id}`,
  ).toEqual([])
})

test('an app that could be any on the device is warned of, whatever name its scheme has', async () => {
  const { browser } = await home()
  const id = await registerApp(world, { uri: 'bank.example:/back' })

  const { text } = await browser.visit(askingPath(id, { redirect_uri: 'bank.example:/back' }))

  expect(text).toContain('The response goes to a program on this device')
  expect(text).toContain('continue only if you have just started this yourself')
  expect(text).toMatch(/It returns you to A program on this device, by bank\.example:/)
})

test.each([
  ['cursor://anysphere.cursor-mcp/oauth/callback', 'usually Cursor'],
  ['vscode://vscode.mcp/back', 'usually Visual Studio Code'],
  ['windsurf://codeium.windsurf/back', 'usually Windsurf'],
])('the page for %s names the scheme and its usual program', async (uri, words) => {
  const { browser } = await home()
  const id = await registerApp(world, { uri })

  const { text } = await browser.visit(askingPath(id, { redirect_uri: uri }))

  expect(text).toContain(words)
  expect(text).toContain(`A program on this device, by ${uri}`)
})

test('an app under the name of one that is connected already is marked', async () => {
  const { person, browser } = await home()
  await connectApp(world, person.agent, { name: 'research DESK', host: 'other.example' })

  const { text } = await browser.visit(askingPath(await registerApp(world)))

  expect(text).toContain('Another app has this name')
  expect(text).toContain('other.example')
})

test('a program that connects again replaces nothing if its owner does not want that', async () => {
  const { person, browser } = await home()
  const { token } = await connectApp(world, person.agent)
  const id = await registerApp(world)
  const path = askingPath(id)
  const { html } = await browser.visit(path)
  const account = { form: ownForm(browser), shown: shownIn(html) }

  const body = new URLSearchParams({ ...account, decision: 'allowed', level: 'read', days: '7' })
  const answer = await browser.send(path, {
    method: 'POST',
    body,
    headers: { origin: 'http://localhost' },
  })
  await redeemCode(world, id, goesTo(answer))

  const headers = { authorization: `Bearer ${token}` }
  expect((await world.send('/get-identity', { headers })).status).toBe(200)
})
