import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { type Authenticator, openAuthenticator, optionsOf } from '../support/authenticator.ts'
import { type Browser, openBrowser, ownForm, signedIn } from '../support/browserless.ts'
import { addPasskey, openPerson, type Person } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const path = '/web/security/passkeys'
const signInPath = '/web/login/passkey'
const session = '__Host-aoa_session'
let person: Person
let owner: Browser
let passkey: Authenticator

beforeEach(async () => {
  await world.tick(3600)
  person = await openPerson(world)
  owner = await signedIn(world, person.agent)
  passkey = await addPasskey(owner)
})

/** Opens another browser at the sign-in page. */
async function stranger(): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  return browser
}

async function answer(browser: Browser, text: string) {
  return browser.submit({ answer: text }, signInPath)
}

test('a passkey signs in without a name', async () => {
  const browser = await stranger()
  const options = await optionsOf(browser, signInPath)

  const shown = await answer(browser, passkey.get(options))

  expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
  expect(shown.path).toBe('/web')
  expect((await browser.visit('/web/security')).text).toContain(person.email)
})

test.each([null, '', undefined])(
  'what an authenticator has none of may be %j, in a new passkey and when it signs in',
  async (nothing) => {
    const lacking = (text: string) => {
      const { response, ...rest } = z
        .looseObject({ response: z.looseObject({}) })
        .parse(JSON.parse(text))
      const without = { ...response, userHandle: nothing, transports: nothing }
      return JSON.stringify({
        ...rest,
        response: without,
        clientExtensionResults: nothing,
        authenticatorAttachment: nothing,
      })
    }
    await owner.visit(path)
    const made = openAuthenticator()
    const added = lacking(made.create(await optionsOf(owner, path)))
    await owner.submit({ deed: 'add', answer: added, label: 'Bare key' }, path)

    const browser = await stranger()
    const shown = await answer(browser, lacking(made.get(await optionsOf(browser, signInPath))))

    expect(shown.path).toBe('/web')
  },
)

test('a passkey is asked for as one that needs no name and knows its holder', async () => {
  expect(await optionsOf(owner, path)).toMatchObject({
    rp: { id: 'localhost' },
    attestation: 'none',
    excludeCredentials: [{ id: passkey.id }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
})

test('a challenge is good once', async () => {
  const browser = await stranger()
  const options = await optionsOf(browser, signInPath)
  const first = await answer(browser, passkey.get(options))
  await browser.visit('/web/login')

  const again = await answer(browser, passkey.get(options))

  expect([first.path, again.status]).toEqual(['/web', 403])
})

test('a challenge is good for the browser that it was given to', async () => {
  const options = await optionsOf(await stranger(), signInPath)

  expect((await answer(await stranger(), passkey.get(options))).status).toBe(403)
})

test('a challenge is good for five minutes', async () => {
  const browser = await stranger()
  const options = await optionsOf(browser, signInPath)

  await world.tick(301)

  expect((await answer(browser, passkey.get(options))).status).toBe(403)
})

test('however many challenges strangers ask for, none is kept, and the owner is given one', async () => {
  const browser = await stranger()
  const form = ownForm(browser)
  const asked = (n: number) =>
    browser.send(`${signInPath}/options`, {
      method: 'POST',
      headers: {
        origin: 'http://localhost',
        'content-type': 'application/x-www-form-urlencoded',
        'cf-connecting-ip': `2001:db8:${n.toString(16)}::1`,
      },
      body: new URLSearchParams({ form }).toString(),
    })
  const kept = () => world.db.sql`select from private.ceremonies where purpose = 'login'`
  const before = await kept()

  for (let n = 0; n < 2_100; n += 1) expect((await asked(n)).status).toBe(200)
  const options = await optionsOf(browser, signInPath)

  expect((await answer(browser, passkey.get(options))).path).toBe('/web')
  expect((await kept()).length - before.length).toBeLessThanOrEqual(1)
})

test('a challenge for a proof does not sign in', async () => {
  const browser = await stranger()
  await owner.visit('/web/proof')
  const options = await optionsOf(owner, '/web/proof/passkey')

  expect((await answer(browser, passkey.get(options))).status).toBe(403)
})

test.each([
  ['for another origin', { origin: 'https://evil.example' }],
  ['for another host', { host: 'evil.example' }],
  ['whose holder was not verified', { isUserVerified: false }],
  ['for a challenge of its own', { challenge: 'A'.repeat(43) }],
])('an answer %s is refused', async (_, fault) => {
  const browser = await stranger()
  const options = await optionsOf(browser, signInPath)

  expect((await answer(browser, passkey.get(options, fault))).status).toBe(403)
  expect(browser.cookies.has(session)).toBe(false)
})

test('a passkey whose counter stands still or goes back is refused: it may be a copy', async () => {
  const signIn = async (counter: number) => {
    const browser = await stranger()
    const options = await optionsOf(browser, signInPath)
    return (await answer(browser, passkey.get(options, { counter }))).status
  }

  expect([await signIn(5), await signIn(5), await signIn(4), await signIn(6)]).toEqual([
    200, 403, 403, 200,
  ])
})

test('an unknown passkey, and what is no answer at all, are refused alike', async () => {
  for (const text of ['', '{}', 'null', '[]', 'x'.repeat(5000)]) {
    expect((await answer(await stranger(), text)).status).toBe(403)
  }
  const browser = await stranger()
  const options = await optionsOf(browser, signInPath)
  expect((await answer(browser, openAuthenticator().get(options))).status).toBe(403)
})

test.each([
  ['for another origin', { origin: 'https://evil.example' }],
  ['for another host', { host: 'evil.example' }],
  ['whose holder was not verified', { isUserVerified: false }],
])('a new passkey %s is not added', async (_, fault) => {
  await owner.visit(path)
  const options = await optionsOf(owner, path)

  const shown = await owner.submit(
    { deed: 'add', answer: openAuthenticator().create(options, fault), label: 'Another' },
    path,
  )

  expect(shown.status).toBe(422)
  expect(shown.html).not.toContain('Another')
})

test('a new passkey whose key no approval would be taken from is not added', async () => {
  await owner.visit(path)
  const options = await optionsOf(owner, path)
  const odd = openAuthenticator()
  // The key has one more parameter, which WebAuthn section 5.8.5 forbids and the library ignores.
  odd.key.cose = Buffer.concat([
    Buffer.of(0xa6),
    odd.key.cose.subarray(1),
    Buffer.from('048102', 'hex'),
  ])

  const shown = await owner.submit({ deed: 'add', answer: odd.create(options), label: 'Odd' }, path)

  expect(shown.status).toBe(422)
  expect(shown.html).not.toContain('Odd')
})

test("a passkey of one account is not another's, and is never added twice", async () => {
  const other = await openPerson(world)
  const browser = await signedIn(world, other.agent)
  await browser.visit(path)
  const options = await optionsOf(browser, path)

  const shown = await browser.submit({ deed: 'add', answer: passkey.create(options) })

  expect(shown.status).toBe(422)
})

test('the last way to sign in cannot be removed', async () => {
  await world.db.sql`update private.owners set password_hash = null
    where account = ${person.agent.id}`
  await owner.visit(path)
  const form = { passkey: passkey.id, deed: 'remove', label: 'My key' }

  const refused = await owner.send(path, sending(owner, form))
  const second = await addPasskey(owner)
  const removed = await owner.send(path, sending(owner, form))

  expect([refused.status, removed.status]).toEqual([422, 303])
  const left = await world.db.sql<{ id: string }[]>`select id from private.passkeys
    where account = ${person.agent.id}`
  expect(left.map(({ id }) => id)).toEqual([second.id])
})

function sending(browser: Browser, fields: Record<string, string>): RequestInit {
  const form = ownForm(browser)
  return {
    method: 'POST',
    body: new URLSearchParams({ form, ...fields }).toString(),
    headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
  }
}
