import { beforeAll, expect, test } from 'vitest'
import { returnPathOf } from '../../functions/web/visit.ts'
import { openBrowser } from '../support/browserless.ts'
import { fillBucket } from '../support/full-bucket.ts'
import { openPerson, type Person, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const session = '__Host-aoa_session'
const slowed = 'Error: rate_limited'
let person: Person

beforeAll(async () => {
  person = await openPerson(world)
})

/** Tries to sign in. Returns the answer without the parts that are unique to the request. */
async function tryToSignIn(given: { email: string; password: string }) {
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  browser.cookies.set('__Host-aoa_form', 'f'.repeat(64))
  const answer = await browser.submit({ form: 'f'.repeat(64), ...given }, '/web/login')
  const { 'x-request-id': _, ...headers } = Object.fromEntries(answer.headers)
  return { status: answer.status, headers, html: answer.html.replaceAll(given.email, '') }
}

test('the owner signs in with mail address and password and comes to the page that was wanted', async () => {
  const browser = openBrowser(world)
  const asked = await browser.visit('/web/security?from=mail')
  const { email, password } = person

  const shown = await browser.submit({ email: ` ${email.toUpperCase()}`, password }, '/web/login')

  expect(asked.path).toBe('/web/login?next=%2Fweb%2Fsecurity%3Ffrom%3Dmail')
  expect([shown.status, shown.path]).toEqual([200, '/web/security?from=mail'])
  expect(shown.text).toContain(email)
})

test('an unknown address and a wrong password are answered byte for byte alike', async () => {
  const wrong = await tryToSignIn({ email: person.email, password: 'not the password' })
  const unknown = await tryToSignIn({
    email: 'nobody@people.example',
    password: 'not the password',
  })

  expect(wrong.status).toBe(403)
  expect(unknown).toEqual(wrong)
})

test('an owner without a password is answered like a stranger', async () => {
  const other = await openPerson(world)
  await world.db
    .sql`update private.owners set password_hash = null where account = ${other.agent.id}`

  const answer = await tryToSignIn({ email: other.email, password: 'not the password' })

  expect(answer).toEqual(await tryToSignIn({ email: 'nobody@people.example', password: 'not it' }))
})

test('guessing is slowed for one address alike whether it is known or not', async () => {
  const guess = async (email: string) => {
    const tries = Array.from({ length: 12 }, () => ({ email, client: '192.0.2.7' }))
    const answers: string[] = []
    for (const one of tries) {
      const told = world.world.db.call('login_find', one).then(() => 'looked up', String)
      answers.push(await told)
    }
    return answers
  }

  const known = await guess((await openPerson(world)).email)
  const unknown = await guess('stranger@people.example')

  expect(known).toEqual([...Array.from({ length: 10 }, () => 'looked up'), slowed, slowed])
  expect(unknown).toEqual(known)
})

test('right passwords are not counted, and the page says how long wrong ones keep somebody waiting', async () => {
  const other = await openPerson(world)
  for (let count = 0; count < 12; count += 1) await signInAs(world, other)

  const tries = []
  for (let count = 0; count < 11; count += 1) {
    tries.push(await tryToSignIn({ email: other.email, password: 'not the password' }))
  }

  expect(tries.slice(0, 10).map(({ status }) => status)).toEqual(
    Array.from({ length: 10 }, () => 403),
  )
  const [last] = tries.slice(-1)
  expect(last).toMatchObject({ status: 429, headers: { 'retry-after': '300' } })
  expect(last?.html).toContain('Try again in 5 minutes.')
})

test('a guesser elsewhere does not keep the owner out', async () => {
  const other = await openPerson(world)
  for (let client = 0; client < 5; client += 1) {
    for (let tries = 0; tries < 10; tries += 1) {
      await world.world.db.call('login_find', { email: other.email, client: `192.0.2.${client}` })
    }
  }

  expect((await signInAs(world, other)).cookies.has(session)).toBe(true)
})

test('no number of guessers elsewhere keeps the owner out of a network that it signed in from', async () => {
  const other = await openPerson(world)
  await signInAs(world, other)
  const guess = (client: number) =>
    world.world.db.call('login_find', { email: other.email, client: `198.51.100.${client}` })
  for (let client = 0; client < 59; client += 1) await guess(client)

  await expect(guess(60)).rejects.toThrow('rate_limited')
  expect((await signInAs(world, other)).cookies.has(session)).toBe(true)
})

test('600 tries at once, and four each second, are all that networks new to the owners have', async () => {
  const owner = await openPerson(world)
  await signInAs(world, owner)
  const guess = (email: string) =>
    world.world.db.call('login_find', { email, client: '203.0.113.1' })
  await fillBucket(world, 'sign-in', 149.75)

  await expect(guess('last@people.example')).resolves.toBeDefined()
  await expect(guess('late@people.example')).rejects.toThrow('rate_limited')
  expect((await signInAs(world, owner)).cookies.has(session)).toBe(true)
  await fillBucket(world, 'sign-in', 0)
})

test('a guesser with a network of IPv6 is one guesser', async () => {
  const { email } = await openPerson(world)
  const guess = (host: number) =>
    world.world.db.call('login_find', { email, client: `2001:db8:1:2::${host}` })
  for (let host = 0; host < 10; host += 1) await guess(host)

  await expect(guess(11)).rejects.toThrow('rate_limited')
})

test('signing in again in a browser ends the session that it had', async () => {
  const browser = await signInAs(world, person)
  const left = openBrowser(world)
  left.cookies.set(session, browser.cookies.get(session) ?? '')
  const before = await left.visit('/web/security')
  await browser.visit('/web/login')

  const { email, password } = person
  await browser.submit({ email, password }, '/web/login')

  expect(before.path).toBe('/web/security')
  expect((await left.visit('/web/security')).path).toContain('/web/login')
  expect((await browser.visit('/web/security')).path).toBe('/web/security')
})

test('a session id that was set before is never continued', async () => {
  const stranger = await signInAs(world, await openPerson(world))
  const fixed = stranger.cookies.get(session) ?? ''
  const browser = openBrowser(world)
  browser.cookies.set(session, fixed)
  await browser.visit('/web/login')

  const { email, password } = person
  await browser.submit({ email, password }, '/web/login')

  expect(browser.cookies.get(session)).not.toBe(fixed)
  expect((await browser.visit('/web/security')).text).toContain(email)
  expect((await stranger.visit('/web/security')).text).not.toContain(email)
})

test('each sign-in opens a session of its own', async () => {
  const one = await signInAs(world, person)
  const other = await signInAs(world, person)

  expect(one.cookies.get(session)).not.toBe(other.cookies.get(session))
})

test('signing in leads to no other origin', async () => {
  const browser = openBrowser(world)
  const next = 'https://evil.example/web'
  await browser.visit(`/web/login?next=${encodeURIComponent(next)}`)
  const { email, password } = person

  const shown = await browser.submit({ email, password, next }, '/web/login')

  expect(shown.path).toBe('/web')
})

test.each([
  'https://evil.example/web',
  undefined,
  '',
  '//evil.example/web',
  '/\\evil.example',
  '/web/../../evil',
  '/website',
  'javascript:alert(1)',
  '/\t/evil.example',
  '/web\\..\\..\\evil',
])('the way back is the overview for %s', (next) => {
  expect(returnPathOf(next)).toBe('')
})

test('the way back is a page of ours with its query', () => {
  expect(returnPathOf('/web/activity?before=12')).toBe('/activity?before=12')
  expect(returnPathOf('/web/a/../b//c')).toBe('/b//c')
})

test('signing in is told by mail and stands in the list of sign-ins', async () => {
  const other = await openPerson(world)

  const browser = await signInAs(world, other)

  const [mail] = await world.db.sql`select topic from private.outbox
    where account = ${other.agent.id}`
  expect(mail?.['topic']).toBe('new_sign_in')
  expect((await browser.visit('/web/security/sessions')).text).toContain('Password')
})
