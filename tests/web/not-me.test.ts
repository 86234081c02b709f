/**
 * One "It was not me" ends what somebody else made since a time; nothing that they made can do the same.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { connectApp } from '../support/apps.ts'
import type { Authenticator } from '../support/authenticator.ts'
import { openAuthenticator, optionsOf } from '../support/authenticator.ts'
import type { Browser } from '../support/browserless.ts'
import { openBrowser } from '../support/browserless.ts'
import type { Person } from '../support/person.ts'
import { addPasskey, makeKey, openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const makeKeyIn = (browser: Browser) => makeKey(world, browser, 'Mine')
const { sql } = world.db
const hour = 3_600
const renewed = 'another long sentence of mine'
let person: Person
beforeEach(async () => {
  person = await openPerson(world)
  await world.tick(100 * hour)
})

const timeAgo = (seconds: number) =>
  new Date(world.world.now().getTime() - seconds * 1_000).toISOString()
const pageSince = (seconds: number) => `/web/not-me?since=${timeAgo(seconds)}`

/** Returns true if a browser reaches the owner's pages. */
const isIn = async (browser: Browser) =>
  (await browser.visit('/web/security')).path === '/web/security'

async function byPasskey(passkey: Authenticator): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  const options = await optionsOf(browser, '/web/login/passkey')
  await browser.submit({ answer: passkey.get(options) }, '/web/login/passkey')
  return browser
}

async function byCode(code = ''): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login/recovery')
  await browser.submit({ email: person.email, code })
  return browser
}

async function makeCodes(browser: Browser): Promise<string[]> {
  await browser.visit('/web/security/recovery-codes')
  const { text } = await browser.submit()
  return [...new Set(text.match(/\b[0-9a-z]{4}(-[0-9a-z]{4}){3}\b/g))]
}

async function raiseLimit(browser: Browser, usd: string) {
  await browser.visit('/web/limits')
  await browser.submit({ limit: 'automatic_daily', usd_automatic_daily: usd }, '/web/limits')
}

const limit = async () => {
  const [row] = await sql`select automatic_daily_limit_usd_micros::text as micros
    from private.accounts where id = ${person.agent.id}`
  return String(row?.['micros'])
}

const withPassword = (password: string) => signInAs(world, { ...person, password })

describe('somebody who knew the password', () => {
  test('is out with all that they made, and the owner has the account as it was', async () => {
    const mine = await makeKeyIn(await withPassword(person.password))
    const myLimit = await limit()
    await world.tick(24 * hour)
    const thief = await withPassword(person.password)
    const passkey = await addPasskey(thief)
    const codes = await makeCodes(thief)
    const theirs = await makeKeyIn(thief)
    await raiseLimit(thief, '90000')
    await world.tick(600)
    const owner = await withPassword(person.password)

    const { text } = await owner.visit(pageSince(2 * hour))
    const ended = await owner.submit({ password: renewed })

    for (const word of ['My key', 'Mine (', '10 codes', 'raised from 200 USD', 'Session']) {
      expect(text).toContain(word)
    }
    expect(ended.path).toBe('/web/not-me?ended')
    expect([await isIn(thief), await isIn(owner)]).toEqual([false, true])
    expect([await theirs(), await mine()]).toEqual([401, 200])
    expect(await isIn(await byPasskey(passkey))).toBe(false)
    expect(await isIn(await byCode(codes[0]))).toBe(false)
    await expect(withPassword(person.password)).rejects.toThrow('not let in')
    expect(await isIn(await withPassword(renewed))).toBe(true)
    expect(await limit()).toBe(myLimit)
  })

  test('is told nothing more on their browser, and an app that they let pay only looks again', async () => {
    const { app } = await connectApp(world, person.agent)
    await world.tick(24 * hour)
    const thief = await withPassword(person.password)
    const page = `/web/apps/${app}`
    await thief.visit(page)
    await thief.submit({ wanted: 'levelled', level: 'pay' }, page)
    await sql`insert into private.push_devices (account, endpoint, p256dh, auth, label)
      values (${person.agent.id}, 'https://push.example.com/', ${'A'.repeat(87)}, ${'A'.repeat(22)}, 'Theirs')`
    const scopes = () => sql`select scopes from private.credentials where id = ${app}`
    const raised = await scopes()
    await sql`update private.owners set muted = '{mail:approvals}' where account = ${person.agent.id}`
    await world.tick(600)
    const owner = await withPassword(person.password)

    const { text } = await owner.visit(pageSince(2 * hour))
    await owner.submit({ password: renewed })

    expect(await sql`select muted from private.owners where account = ${person.agent.id}`).toEqual([
      { muted: [] },
    ])
    expect(text).toContain('Browser that receives notifications Theirs')
    expect([raised, await scopes()]).toEqual([[{ scopes: ['pay'] }], [{ scopes: ['read'] }]])
    expect(await sql`select from private.push_devices where label = 'Theirs'`).toHaveLength(0)
  })

  test('is told of in the feed and by mail, and a notice leads to the page', async () => {
    await addPasskey(await withPassword(person.password))
    const notices = await world.mails(person.email)
    const link = /http:\/\/localhost(\/web\/not-me\?since=\S+)/.exec(
      notices.at(-1)?.text ?? '',
    )?.[1]
    await world.tick(hour)
    const owner = await withPassword(person.password)

    const shown = await owner.visit(link ?? '')
    await owner.submit({ password: renewed })

    expect(shown.text).toContain('My key')
    expect((await world.mails(person.email)).map(({ subject }) => subject)).toContain(
      'What was made in your account was ended',
    )
    const { text } = await owner.visit('/web/activity')
    expect(text).toContain('The owner ended what was made in the account since')
  })

  test('does not end a passkey of three days, nor one that is older than the time', async () => {
    const passkey = await addPasskey(await withPassword(person.password))
    await world.tick(73 * hour)
    const thief = await withPassword(person.password)

    const asked = await thief.visit(pageSince(80 * hour))

    expect(asked.path).toContain('/web/proof')
    expect(asked.html).not.toContain('name="password"')
    expect(await isIn(await byPasskey(passkey))).toBe(true)
  })

  test('does not come past a passkey by having the owner remove it', async () => {
    const owner = await withPassword(person.password)
    const passkey = await addPasskey(owner)
    await world.tick(73 * hour)
    const later = await byPasskey(passkey)
    await later.visit('/web/security/passkeys')
    await later.submit({ deed: 'remove', passkey: passkey.id }, '/web/security/passkeys')

    const asked = await (await withPassword(person.password)).visit(pageSince(80 * hour))

    expect(asked.path).toContain('/web/proof')
  })
})

test('a passkey ends nothing that is older than it is', async () => {
  const passkey = await addPasskey(await withPassword(person.password))
  const owner = await byPasskey(passkey)
  const mine = await makeKeyIn(owner)
  const codes = await makeCodes(owner)
  await world.tick(hour)
  const stolen = await byPasskey(passkey)
  const theirs = openAuthenticator()
  await stolen.visit('/web/security/passkeys')
  const options = await optionsOf(stolen, '/web/security/passkeys')
  const added = { deed: 'add', label: 'Theirs', answer: theirs.create(options) }
  await stolen.submit(added, '/web/security/passkeys')
  await world.tick(60)
  const thief = await byPasskey(theirs)

  const { text } = await thief.visit(pageSince(90 * hour))
  await thief.submit({ password: renewed })

  expect(text).toContain('What is older than what you signed in or confirmed with stays')
  expect(text).not.toMatch(/My key|Theirs|Mine \(|10 codes/)
  expect(await mine()).toBe(200)
  const back = await byPasskey(passkey)
  expect(await isIn(back)).toBe(true)

  await back.visit(pageSince(hour - 1))
  await back.submit({ password: person.password })

  expect(await isIn(await byPasskey(theirs))).toBe(false)
  expect(await isIn(await byCode(codes[0]))).toBe(true)
})

test('a password that was set since reaches as far as the one it replaced', async () => {
  const mine = await makeKeyIn(await withPassword(person.password))
  await world.tick(hour)
  const thief = await withPassword(person.password)
  await thief.visit('/web/security/password')
  await thief.submit({ password: 'of somebody else, long' })
  await world.tick(60)
  const later = await withPassword('of somebody else, long')

  const { text } = await later.visit(pageSince(90 * hour))

  // Whoever set it could have ended as much with the one before.
  expect(text).toContain('Mine (')
  expect(await mine()).toBe(200)
})

test('in the three days after a recovery a password ends nothing, but past a code of the thief it does', async () => {
  const [found] = await makeCodes(await withPassword(person.password))
  await world.tick(hour)
  await byCode(found)
  const guarded = await (await withPassword(person.password)).visit(pageSince(30))
  await world.tick(80 * hour)
  const [own] = await makeCodes(await withPassword(person.password))
  await byCode(own)
  await world.tick(hour)
  const owner = await withPassword(person.password)

  const asked = await owner.visit(pageSince(2 * hour))
  await owner.submit({ password: renewed })

  expect(guarded.status).toBe(403)
  expect(asked.status).toBe(200)
  expect(await isIn(await byCode(own))).toBe(false)
  const { text } = await owner.visit('/web/security')
  expect(text).not.toContain('A recovery code was used')
})

test('a passkey that was removed comes back where the owner ticks it, and signs in', async () => {
  const owner = await withPassword(person.password)
  const passkey = await addPasskey(owner)
  await world.tick(hour)
  const stolen = await byPasskey(passkey)
  const other = openAuthenticator()
  await stolen.visit('/web/security/passkeys')
  const options = await optionsOf(stolen, '/web/security/passkeys')
  const added = { deed: 'add', label: 'Second', answer: other.create(options) }
  await stolen.submit(added, '/web/security/passkeys')
  await world.tick(hour)
  const second = await byPasskey(other)
  await second.visit('/web/security/passkeys')
  await second.submit({ deed: 'remove', passkey: passkey.id }, '/web/security/passkeys')

  const { text } = await second.visit(pageSince(60))
  await second.submit({ password: renewed, put_back: passkey.id })

  expect(text).toContain('My key, removed')
  expect(await isIn(await byPasskey(passkey))).toBe(true)
  expect(await isIn(await byPasskey(other))).toBe(true)
})

describe('nothing ends', () => {
  test('where another time was shown, or another account', async () => {
    const thief = await withPassword(person.password)
    const theirs = await makeKeyIn(thief)
    await world.tick(60)
    const owner = await withPassword(person.password)
    await owner.visit(pageSince(hour))
    const another = await owner.submit({
      password: renewed,
      account: '0f8fad5b-d9cb-469f-a165-70867728950e',
    })
    const changed = await owner.submit({ password: renewed, since: timeAgo(50 * hour) })
    const weak = await owner.submit({ password: 'short' })

    expect([another, changed, weak].map(({ status }) => status)).toEqual([422, 422, 422])
    expect(changed.text).toContain('Nothing has ended yet')
    expect([await isIn(thief), await theirs()]).toEqual([true, 200])
    expect(await isIn(await withPassword(person.password))).toBe(true)
  })

  test('without a proof of the last ten minutes', async () => {
    const owner = await withPassword(person.password)
    await world.tick(11 * 60)

    expect((await owner.visit(pageSince(hour))).path).toContain('/web/proof')
  })
})

test('what is made after the page was shown ends as well', async () => {
  const thief = await withPassword(person.password)
  const owner = await withPassword(person.password)
  await owner.visit(pageSince(hour))
  const theirs = await makeKeyIn(thief)

  await owner.submit({ password: renewed })

  expect(await theirs()).toBe(401)
})
