import { beforeEach, expect, test } from 'vitest'
import { type Browser, openBrowser, ownForm, signedIn } from '../support/browserless.ts'
import { openPerson, type Person } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const session = '__Host-aoa_session'
const minutes = 60
let person: Person
let browser: Browser

beforeEach(async () => {
  person = await openPerson(world)
  browser = await signedIn(world, person.agent)
})

async function isIn(one: Browser): Promise<boolean> {
  return (await one.visit('/web/security')).path === '/web/security'
}

/** Calls an operation with the session's token as bearer token. */
async function identity(token: string) {
  return world.send('/get-identity', { headers: { authorization: `Bearer ${token}` } })
}

test('a session ends after 30 minutes without use', async () => {
  await world.tick(29 * minutes)
  const before = await isIn(browser)
  await world.tick(31 * minutes)

  expect(before).toBe(true)
  expect(await isIn(browser)).toBe(false)
})

test('a session that is used goes on, and ends after 12 hours whatever happens', async () => {
  const seen: boolean[] = []
  for (let quarter = 1; quarter <= 48; quarter += 1) {
    await world.tick(15 * minutes)
    seen.push(await isIn(browser))
  }

  expect(seen.slice(0, 47)).toEqual(Array.from({ length: 47 }, () => true))
  expect(seen.at(-1)).toBe(false)
})

test('signing out ends the session itself, not only its cookie', async () => {
  const token = browser.cookies.get(session) ?? ''
  await browser.visit('/web/security')

  const shown = await browser.submit({}, '/web/logout')

  expect(shown.path).toBe('/web/login')
  expect(browser.cookies.has(session)).toBe(false)
  browser.cookies.set(session, token)
  expect(await isIn(browser)).toBe(false)
  expect((await identity(token)).status).toBe(401)
})

test('the owner ends one session, or all others, and each is refused at its next call', async () => {
  const [one, other] = [await signedIn(world, person.agent), await signedIn(world, person.agent)]
  const [id] = await world.db.sql<{ id: string }[]>`select id from private.credentials
    where account = ${person.agent.id} and kind = 'session' order by created_at desc limit 1`
  await browser.visit('/web/security/sessions')
  const form = ownForm(browser)
  const send = (what: string) =>
    browser.send('/web/security/sessions', {
      method: 'POST',
      body: new URLSearchParams({ form, session: what }).toString(),
      headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
    })

  await send(id?.id ?? '')
  const afterOne = [await isIn(one), await isIn(other)]
  await send('others')

  expect(afterOne).toEqual([true, false])
  expect([await isIn(one), await isIn(browser)]).toEqual([false, true])
})

test("nobody ends a stranger's session", async () => {
  const stranger = await signedIn(world, (await openPerson(world)).agent)
  const [theirs] = await world.db.sql<{ id: string }[]>`select id from private.credentials
    where kind = 'session' order by created_at desc limit 1`
  await browser.visit('/web/security/sessions')
  const form = ownForm(browser)

  await browser.send('/web/security/sessions', {
    method: 'POST',
    body: new URLSearchParams({ form, session: theirs?.id ?? '' }).toString(),
    headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
  })

  expect(await isIn(stranger)).toBe(true)
})

test('the 21st session of an account ends the one that was seen last longest ago', async () => {
  const open = async (digest: string) => {
    const at = digest.padStart(64, '0')
    await world.db.sql`select private.open_session(${person.agent.id}, ${at}, 'password', '', '')`
  }
  const second = await signedIn(world, person.agent)

  for (let count = 3; count <= 21; count += 1) {
    await world.tick(10)
    await open(String(count))
  }

  expect([await isIn(browser), await isIn(second)]).toEqual([false, true])
})

test('a browser without a session is shown the sign-in page', async () => {
  expect(await isIn(openBrowser(world))).toBe(false)
})
