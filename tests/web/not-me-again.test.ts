/** "It was not me" reaches back as far as the owner could prove anything, whatever the password became since. */
import { expect, test } from 'vitest'
import type { Authenticator } from '../support/authenticator.ts'
import { optionsOf } from '../support/authenticator.ts'
import type { Browser } from '../support/browserless.ts'
import { openBrowser } from '../support/browserless.ts'
import type { Person } from '../support/person.ts'
import { addPasskey, makeKey, openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const makeKeyIn = (browser: Browser) => makeKey(world, browser, 'Theirs')
const hour = 3_600
const next = 'another long sentence of mine'

async function somebody(): Promise<Person> {
  const person = await openPerson(world)
  await world.tick(100 * hour)
  return person
}

async function signInByPasskey(passkey: Authenticator): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  const options = await optionsOf(browser, '/web/login/passkey')
  await browser.submit({ answer: passkey.get(options) }, '/web/login/passkey')
  return browser
}

function pageOfHours(count: number): string {
  const since = new Date(world.world.now().getTime() - count * hour * 1_000)
  return `/web/not-me?since=${since.toISOString()}`
}

test.each(['thief', 'owner'])(
  'after the %s changed the password it ends what was made before',
  async (who) => {
    const person = await somebody()
    const thief = await signInAs(world, person)
    const theirs = await makeKeyIn(thief)
    const other = who === 'thief' ? thief : await signInAs(world, person)
    await other.visit('/web/security/password')
    await other.submit({ password: next })
    await world.tick(600)

    const owner = await signInAs(world, { ...person, password: next })
    await owner.visit(pageOfHours(2))
    const ended = await owner.submit({ password: 'a third long sentence of mine' })

    expect(ended.path).toBe('/web/not-me?ended')
    expect(await theirs()).toBe(401)
  },
)

test('each notice of what a thief made ends that, in whatever order the owner follows them', async () => {
  const person = await somebody()
  const first = await makeKeyIn(await signInAs(world, person))
  await world.tick(2 * hour)
  const second = await makeKeyIn(await signInAs(world, person))
  await world.tick(600)
  const notices = (await world.mails(person.email)).filter(({ subject }) => /API key/.test(subject))
  const links = notices.map(
    ({ text }) => /http:\/\/localhost(\/web\/not-me\S+)/.exec(text)?.[1] ?? '',
  )

  const owner = await signInAs(world, person)
  await owner.visit(links.at(-1) ?? '')
  await owner.submit({ password: next })
  await owner.visit(links[0] ?? '')
  await owner.submit({ password: 'a third long sentence of mine' })

  expect([await first(), await second()]).toEqual([401, 401])
})

test('a password that was set after a recovery reaches back to that, and no further', async () => {
  const person = await somebody()
  const owner = await signInAs(world, person)
  await owner.visit('/web/security/recovery-codes')
  const { text } = await owner.submit()
  const [code = ''] = /\b[0-9a-z]{4}(-[0-9a-z]{4}){3}\b/.exec(text) ?? []
  const own = await makeKeyIn(owner)
  await world.tick(hour)
  const thief = openBrowser(world)
  await thief.visit('/web/login/recovery')
  await thief.submit({ email: person.email, code })
  await thief.visit('/web/security/password')
  await thief.submit({ password: next })
  await world.tick(73 * hour)

  const again = await signInAs(world, { ...person, password: next })
  await again.visit(pageOfHours(80))
  await again.submit({ password: 'a third long sentence of mine' })

  expect(await own()).toBe(200)
})

test('an owner with a passkey changes the password first, and ends then what was made before', async () => {
  const person = await somebody()
  const passkey = await addPasskey(await signInAs(world, person))
  await world.tick(100 * hour)
  const theirs = await makeKeyIn(await signInByPasskey(passkey))
  await world.tick(600)

  const owner = await signInByPasskey(passkey)
  await owner.visit('/web/security/password')
  await owner.submit({ password: next })
  await owner.visit(pageOfHours(2))
  await owner.submit({ password: 'a third long sentence of mine' })

  expect(await theirs()).toBe(401)
})

test('a password that was set by a passkey ends neither that passkey nor what is older', async () => {
  const person = await somebody()
  const owner = await signInAs(world, person)
  const passkey = await addPasskey(owner)
  await owner.visit('/web/security/password')
  await owner.submit({ password: next })
  await world.tick(hour)

  const thief = await signInAs(world, { ...person, password: next })
  const asked = await thief.visit(pageOfHours(2))

  expect(asked.path).toContain('/web/proof')
  expect(asked.html).not.toContain('name="password"')
  expect((await (await signInByPasskey(passkey)).visit('/web/keys')).path).toBe('/web/keys')
})
