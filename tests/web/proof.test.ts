import { beforeEach, expect, test } from 'vitest'
import { optionsOf } from '../support/authenticator.ts'
import { type Browser, openBrowser, ownForm, signedIn } from '../support/browserless.ts'
import { addPasskey, openPerson, type Person, signInAs } from '../support/person.ts'
import { codesIn } from '../support/ways-in.ts'
import { start } from '../support/world.ts'

const world = await start()
const session = '__Host-aoa_session'
const codesPath = '/web/security/recovery-codes'
let person: Person
let owner: Browser

beforeEach(async () => {
  person = await openPerson(world)
  owner = await signedIn(world, person.agent)
})

/** Returns the recovery codes on a page, which shows ten. */
test.each(['/web/security/password', '/web/security/passkeys', codesPath])(
  '%s asks for a proof before it shows its form, and the proof leads back',
  async (path) => {
    await world.tick(601)
    const asked = await owner.visit(path)

    const shown = await owner.submit({ password: person.password }, '/web/proof')

    expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(path)}`)
    expect([shown.status, shown.path]).toEqual([200, path])
  },
)

test('a form that was shown before the proof grew old is refused and changes nothing', async () => {
  await owner.visit(codesPath)
  await world.tick(601)

  const shown = await owner.submit()

  expect(shown.path).toBe(`/web/proof?next=${encodeURIComponent(codesPath)}`)
  expect(
    await world.db.sql`select from private.recovery_codes r
    where r.account = ${person.agent.id}`,
  ).toHaveLength(0)
})

test.each([
  [
    '/web/keys',
    { label: 'Research', scope: 'pay', days: '30' },
    ['value="Research"', 'value="pay" checked'],
  ],
  ['/web/limits', { usd_automatic_daily: '777' }, ['value="777"']],
])('%s shows what was typed again after the proof, once', async (path, typed, kept) => {
  await owner.visit(path)
  await world.tick(601)

  await owner.submit(typed, path)
  const shown = await owner.submit({ password: person.password }, '/web/proof')
  const later = await owner.visit(path)

  expect([shown.path, later.path]).toEqual([path, path])
  expect(shown.text).toContain('Nothing has changed yet')
  for (const value of kept) expect(shown.html).toContain(value)
  expect(later.html).not.toContain(kept[0])
})

test('a proof gives the session another id, and the one before opens nothing', async () => {
  const before = owner.cookies.get(session) ?? ''
  await owner.visit('/web/proof')

  await owner.submit({ password: person.password }, '/web/proof')

  const leaked = openBrowser(world)
  leaked.cookies.set(session, before)
  expect((await leaked.visit('/web/security')).path).toContain('/web/login')
  expect((await owner.visit('/web/security')).path).toBe('/web/security')
})

test('a wrong password proves nothing', async () => {
  await world.tick(601)
  await owner.visit(codesPath)

  const shown = await owner.submit({ password: 'not the password' }, '/web/proof')

  expect(shown.status).toBe(403)
  expect((await owner.visit(codesPath)).path).toContain('/web/proof')
})

test("a passkey proves, and a stranger's does not", async () => {
  const passkey = await addPasskey(owner)
  const other = await signedIn(world, (await openPerson(world)).agent)
  const theirs = await addPasskey(other)
  await world.tick(601)
  await owner.visit(codesPath)

  const options = await optionsOf(owner, '/web/proof/passkey')
  const refused = await owner.submit({ answer: theirs.get(options) }, '/web/proof/passkey')
  await owner.visit(codesPath)
  const next = await optionsOf(owner, '/web/proof/passkey')
  const shown = await owner.submit({ answer: passkey.get(next) }, '/web/proof/passkey')

  expect([refused.status, shown.path]).toEqual([403, codesPath])
})

test('a new password ends every other session and the old password', async () => {
  const other = await signedIn(world, person.agent)
  await owner.visit('/web/security/password')

  const weak = await owner.submit({ password: 'password2024!!' })
  const shown = await owner.submit({ password: 'quite another sentence' })

  expect(weak.status).toBe(422)
  expect(shown.path).toBe('/web/security')
  expect((await other.visit('/web/security')).path).toContain('/web/login')
  await expect(signInAs(world, person)).rejects.toThrow('not let in')
  const renewed = { ...person, password: 'quite another sentence' }
  expect((await signInAs(world, renewed)).cookies.has(session)).toBe(true)
})

test('recovery codes are shown once and are stored as keyed hashes', async () => {
  await owner.visit(codesPath)

  const shown = await owner.submit()

  const codes = codesIn(shown.text)
  expect(codes).toHaveLength(10)
  expect(codesIn((await owner.visit(codesPath)).text)).toEqual([])
  const rows = await world.db.sql`select digest from private.recovery_codes`
  expect(JSON.stringify(rows)).not.toContain(codes[0]?.slice(0, 4))
})

test('a recovery code signs in once, widens nothing for 48 hours, and is told by mail', async () => {
  await owner.visit(codesPath)
  const [code = ''] = codesIn((await owner.submit()).text)
  const given = { email: person.email, code: code.toUpperCase().replaceAll('-', ' ') }
  const recover = async () => {
    const browser = openBrowser(world)
    await browser.visit('/web/login/recovery')
    return { browser, shown: await browser.submit(given) }
  }

  const { browser, shown } = await recover()
  const again = await recover()
  await browser.visit('/web/hold')
  await browser.submit({ password: 'quite another sentence' }, '/web/hold/recover')
  const made = await widen(browser)
  await world.tick(48 * 3600 + 1)
  const later = await widen(
    await signInAs(world, { ...person, password: 'quite another sentence' }),
  )

  expect([shown.path, again.shown.status]).toEqual(['/web/hold', 403])
  expect([made, later]).toEqual(['account_on_hold', 'allowed'])
  const topics = await world.db.sql<{ topic: string }[]>`select topic from private.outbox
    where account = ${person.agent.id}`
  expect(topics.map(({ topic }) => topic)).toContain('recovery_used')
})

test('who found a recovery code leaves other codes, passkeys, keys, apps and sessions as they are', async () => {
  const other = await signedIn(world, person.agent)
  const { browser, codes } = await recovered()
  await browser.visit('/web/hold')
  await browser.submit({ password: 'of somebody else' }, '/web/hold/recover')

  const renewed = await browser.visit(codesPath)
  const asked = await browser.send('/web/security/passkeys/options', {
    method: 'POST',
    headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ form: ownForm(browser) }).toString(),
  })
  const back = openBrowser(world)
  await back.visit('/web/login/recovery')
  const shown = await back.submit({ email: person.email, code: codes[1] ?? '' })

  expect([renewed.path, asked.status, shown.path]).toEqual(['/web/hold', 403, '/web/hold'])
  for (const one of [browser, other, owner]) {
    expect((await one.visit('/web/security')).path).toBe('/web/security')
  }
})

/** Returns a browser that signed in with the owner's first recovery code, and all of the codes. */
async function recovered() {
  await owner.visit(codesPath)
  const codes = codesIn((await owner.submit()).text)
  const browser = openBrowser(world)
  await browser.visit('/web/login/recovery')
  await browser.submit({ email: person.email, code: codes[0] ?? '' })
  return { browser, codes }
}

/** Asks SQL to let the newest session of the account widen something. Returns `allowed` or the refusal. */
async function widen(browser: Browser): Promise<string> {
  await browser.visit('/web/security')
  const [row] = await world.db.sql<{ digest: string }[]>`select digest from private.credentials
    where account = ${person.agent.id} and kind = 'session' and revoked_at is null
    order by created_at desc limit 1`
  return world.db.sql`select private.admit_owner(${row?.digest ?? ''}, 'widen')`.then(
    () => 'allowed',
    (error: Error) => error.message,
  )
}
