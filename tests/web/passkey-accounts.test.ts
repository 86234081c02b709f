/** In an account with a passkey nothing else proves its owner, and its loss has a way back. */
import { beforeEach, expect, test } from 'vitest'
import type { Authenticator } from '../support/authenticator.ts'
import { type Browser, ownForm, signedIn } from '../support/browserless.ts'
import { addPasskey, openPerson, type Person, signInAs } from '../support/person.ts'
import {
  makeCodes,
  mayWiden,
  byCode as signInByCode,
  byPasskey as signInByPasskey,
} from '../support/ways-in.ts'
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
  codes = await makeCodes(owner)
  await world.tick(3_600)
})

const byPasskey = () => signInByPasskey(world, passkey)
const byCode = (code?: string) => signInByCode(world, person, code)

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
  ['/web/limits', { usd_daily_spending_cap: '900000' }],
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

const holdPath = '/web/hold'
const renewed = 'a new sentence of mine'

test('the only passkey is removed in 48 hours, and until then nothing is widened', async () => {
  const mine = await byPasskey()
  await mine.visit(passkeysPath)
  const held = await mine.submit({ deed: 'remove', passkey: passkey.id }, passkeysPath)

  const during = [await mayWiden(mine), await mayWiden(await signInAs(world, person))]
  await world.tick(2 * dayInSeconds + 1)
  const later = await mayWiden(await signInAs(world, person))

  expect(held.path).toBe(holdPath)
  expect([during, later, await passkeys()]).toEqual([[false, false], true, 0])
})

test('whoever removed the only passkey takes that back with it, and with nothing else', async () => {
  const thief = await byPasskey()
  await thief.visit(passkeysPath)
  await thief.submit({ deed: 'remove', passkey: passkey.id }, passkeysPath)
  const byPassword = await signInAs(world, person)
  await byPassword.visit(holdPath)
  const refused = await byPassword.submit({}, holdPath)
  const mine = await byPasskey()
  await mine.visit(holdPath)
  const ended = await mine.submit({}, holdPath)
  await world.tick(2 * dayInSeconds + 1)

  expect(refused.path).toContain('/web/proof')
  expect(ended.text).toContain('The account is not on hold')
  expect(await passkeys()).toBe(1)
  expect(await mayWiden(await byPasskey())).toBe(true)
})

test('a recovery code alone sets no password in an account with a passkey', async () => {
  const found = await byCode(codes[0])
  await found.visit('/web/security/password')

  await found.submit({ password: 'of somebody else, long' }).catch(() => undefined)

  expect((await signInAs(world, person)).cookies.size).toBeGreaterThan(0)
})

/** Recovers with a code: a new password, and all passkeys lost. */
async function recover(code = codes[0]): Promise<Browser> {
  const browser = await byCode(code)
  await browser.submit({ password: renewed, lost: 'yes' }, `${holdPath}/recover`)
  return browser
}

test('an owner who lost the only passkey is back in after 48 hours', async () => {
  const recovered = await recover()

  const during = [await mayWiden(recovered), await mayWiden(await signInAs(world, person))]
  await world.tick(2 * dayInSeconds + 1)
  const later = await mayWiden(await signInAs(world, { ...person, password: renewed }))

  expect([during, later, await passkeys()]).toEqual([[false, false], true, 0])
  await expect(signInAs(world, person)).rejects.toThrow('not let in')
  const mails = (await world.mails(person.email)).map(({ subject }) => subject)
  expect(mails).toContain('A new password was set with a recovery code')
})

test('who still uses a passkey keeps it, whatever a found code says', async () => {
  await recover()
  await byPasskey()
  await world.tick(2 * dayInSeconds + 1)

  const found = await signInAs(world, { ...person, password: renewed })

  expect([await mayWiden(found), await passkeys()]).toEqual([false, 1])
})

test('an owner ends a hold with the passkey: who found a code is out, and all codes are void', async () => {
  const found = await recover()
  const mine = await byPasskey()
  await mine.visit(holdPath)

  const ended = await mine.submit({}, holdPath)

  expect(ended.text).toContain('The account is not on hold')
  expect((await found.visit('/web/security')).path).toContain('/web/login')
  expect((await byCode(codes[1])).cookies.size).toBeLessThan(mine.cookies.size)
  await world.tick(2 * dayInSeconds + 1)
  await expect(signInAs(world, { ...person, password: renewed })).rejects.toThrow('not let in')
  expect(await mayWiden(await byPasskey())).toBe(true)
})

test('a password that is set late in a hold waits for 48 hours of its own', async () => {
  await byCode(codes[0])
  await world.tick(2 * dayInSeconds - 3_600)
  await recover(codes[1])
  await world.tick(2 * 3_600)

  await expect(signInAs(world, { ...person, password: renewed })).rejects.toThrow('not let in')
  expect(await passkeys()).toBe(1)
})

test('no session but that of a recovery code recovers', async () => {
  const thief = await signInAs(world, person)
  await thief.visit('/web/login')
  const body = new URLSearchParams({ form: ownForm(thief), password: renewed, lost: 'yes' })
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  await thief.send(`${holdPath}/recover`, { method: 'POST', body: body.toString(), headers })
  await world.tick(2 * dayInSeconds + 1)

  await expect(signInAs(world, { ...person, password: renewed })).rejects.toThrow('not let in')
  expect(await passkeys()).toBe(1)
})
