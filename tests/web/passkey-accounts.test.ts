/** In an account with a passkey nothing else proves its owner, and its loss has a way back. */
import { beforeEach, expect, test } from 'vitest'
import type { Authenticator } from '../support/authenticator.ts'
import { consentAskedOn, openAuthenticator, optionsOf } from '../support/authenticator.ts'
import type { Browser } from '../support/browserless.ts'
import { openBrowser, ownForm, signedIn } from '../support/browserless.ts'
import { askMandate } from '../support/mandates.ts'
import type { Person } from '../support/person.ts'
import { addPasskey, openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const passkeysPath = '/web/security/passkeys'
const codesPath = '/web/security/recovery-codes'
const dayInSeconds = 86_400
let person: Person
let owner: Browser
let passkey: Authenticator
let codes: string[]

beforeEach(async () => {
  await world.tick(3_600)
  person = await openPerson(world)
  owner = await signedIn(world, person.agent)
  passkey = await addPasskey(owner)
  await owner.visit(codesPath)
  const { text } = await owner.submit()
  codes = [...new Set(text.match(/\b[0-9a-z]{4}(-[0-9a-z]{4}){3}\b/g))]
  await world.tick(3_600)
})

async function byPasskey(held = passkey): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  const options = await optionsOf(browser, '/web/login/passkey')
  await browser.submit({ answer: held.get(options) }, '/web/login/passkey')
  return browser
}

async function byCode(code = ''): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login/recovery')
  await browser.submit({ email: person.email, code })
  return browser
}

/** Returns true if the browser reaches the page for passkeys, which needs a proof. */
async function mayWiden(browser: Browser): Promise<boolean> {
  const { path } = await browser.visit(passkeysPath)
  return path === passkeysPath
}

const passkeys = async () =>
  (await sql`select id from private.passkeys where account = ${person.agent.id}`).length

test.each([passkeysPath, codesPath, '/web/security/password'])(
  'a session by password is sent from %s to a proof that takes no password',
  async (path) => {
    const thief = await signInAs(world, person)

    const asked = await thief.visit(path)

    expect(asked.path).toContain('/web/proof')
    expect(asked.html).not.toContain('name="password"')
    expect(await mayWiden(await byPasskey())).toBe(true)
  },
)

test.each([
  [passkeysPath, { deed: 'remove' }],
  [codesPath, {}],
  ['/web/security/password', { password: 'of somebody else, long' }],
  ['/web/limits', { limit: 'automatic_daily', usd_automatic_daily: '900000' }],
  ['/web/keys', { label: 'Mine', scope: 'full', days: '30' }],
])('a form of %s by password changes nothing', async (path, fields) => {
  const facts = () => sql`select o.password_hash, a.automatic_daily_limit_usd_micros,
      (select array_agg(p.id) from private.passkeys p where p.account = a.id),
      (select array_agg(r.digest order by r.digest) from private.recovery_codes r
        where r.account = a.id),
      (select count(*) from private.credentials k where k.account = a.id and k.kind = 'api_key')
    from private.accounts a join private.owners o on o.account = a.id where a.id = ${person.agent.id}`
  const before = await facts()
  const thief = await signInAs(world, person)
  await thief.visit('/web/login')
  const form = ownForm(thief)

  await thief.send(path, {
    method: 'POST',
    body: new URLSearchParams({ passkey: passkey.id, ...fields, form }).toString(),
    headers: {
      origin: 'http://localhost',
      'content-type': 'application/x-www-form-urlencoded',
    },
  })

  expect(await facts()).toEqual(before)
})

test('a passkey proves in no session that is older than it, but for the first of an account', async () => {
  const mine = await byPasskey()
  const older = await signInAs(world, person)
  await world.tick(60)
  const second = openAuthenticator()
  await mine.visit(passkeysPath)
  const created = await optionsOf(mine, passkeysPath)
  await mine.submit({ deed: 'add', label: 'Second', answer: second.create(created) }, passkeysPath)
  await world.tick(60)

  await older.visit(codesPath)
  const options = await optionsOf(older, '/web/proof/passkey')
  await older.submit({ answer: second.get(options) }, '/web/proof/passkey')

  expect(await passkeys()).toBe(2)
  expect(await mayWiden(older)).toBe(false)
  expect(await mayWiden(await byPasskey(second))).toBe(true)
})

test('once the last passkey is removed a password proves nothing for three days', async () => {
  const mine = await byPasskey()
  await mine.visit(passkeysPath)
  await mine.submit({ deed: 'remove', passkey: passkey.id }, passkeysPath)

  const during = await mayWiden(await signInAs(world, person))
  await world.tick(3 * dayInSeconds)

  expect([await passkeys(), during]).toEqual([0, false])
  expect(await mayWiden(await signInAs(world, person))).toBe(true)
})

test('a recovery code alone sets no password in an account with a passkey', async () => {
  const found = await byCode(codes[0])
  await found.visit('/web/security/password')

  await found.submit({ password: 'of somebody else, long' }).catch(() => undefined)

  expect((await signInAs(world, person)).cookies.size).toBeGreaterThan(0)
})

test('passkeys that are given up for lost make room for a password after three days', async () => {
  const recovered = await byCode(codes[0])
  await recovered.visit('/web/security')
  await recovered.submit({}, `${passkeysPath}/lost`)
  await recovered.visit('/web/security/password')
  await recovered.submit({ password: 'a new sentence of mine' })
  const renewed = { ...person, password: 'a new sentence of mine' }

  const during = await mayWiden(await signInAs(world, renewed))
  await world.tick(3 * dayInSeconds + 60)
  const later = await signInAs(world, renewed)
  await later.visit(codesPath)
  await later.submit({ password: renewed.password }, '/web/proof').catch(() => undefined)

  expect(during).toBe(false)
  expect(await mayWiden(later)).toBe(true)
  const mails = (await world.mails(person.email)).map(({ subject }) => subject)
  expect(mails).toContain('Your passkeys were given up for lost')
})

test('who still has a passkey takes it back', async () => {
  const found = await byCode(codes[0])
  await found.visit('/web/security')
  await found.submit({}, `${passkeysPath}/lost`)
  await byPasskey()
  await world.tick(3 * dayInSeconds + 60)

  expect(await mayWiden(await signInAs(world, person))).toBe(false)
  expect(await passkeys()).toBe(1)
})

test('no session but that of a recovery code gives passkeys up', async () => {
  const thief = await signInAs(world, person)
  await thief.visit('/web/login')
  const form = ownForm(thief)
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  await thief.send(`${passkeysPath}/lost`, { method: 'POST', body: `form=${form}`, headers })
  await world.tick(3 * dayInSeconds + 60)

  expect(await mayWiden(await signInAs(world, person))).toBe(false)
})

test('a passkey that a password added beside lost ones approves nothing from before it', async () => {
  const found = await byCode(codes[0])
  await found.visit('/web/security')
  await found.submit({}, `${passkeysPath}/lost`)
  await found.visit('/web/security/password')
  await found.submit({ password: 'a new sentence of mine' })
  await world.tick(3 * dayInSeconds + 60)
  const { id } = await askMandate(world, person.agent)
  await world.tick(60)
  const thief = await signInAs(world, { ...person, password: 'a new sentence of mine' })
  const added = await addPasskey(thief)
  const later = await byPasskey(added)
  const page = `/web/mandate/${id}`
  const { options } = consentAskedOn(await later.visit(page))

  const shown = await later.submit({ decision: 'approved', answer: added.get(options) }, page)

  expect(shown).toMatchObject({ status: 403 })
  expect(shown.text).toContain('The passkey was added after this was asked for')
})
