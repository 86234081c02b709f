/** A login that the owner enters by an agent's link is stored and usable, and shown to nobody. */
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { sha256Hex } from '../../shared/digest.ts'
import { linkDigest } from '../../shared/hosted/link.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import { wrapSchema } from '../../shared/sealing/wrap.ts'
import { decodeSecret } from '../../shared/vault/entries/record.ts'
import { openRecord, readSealed } from '../../shared/vault/envelope.ts'
import { type Browser, ownForm, signedIn } from '../support/browserless.ts'
import { linkOf, type Made, statusOf } from '../support/links.ts'
import { textLike } from '../support/matching.ts'
import { openPersonAtHome } from '../support/person.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const site = 'https://www.shop.com'
const login = { username: 'ada@example.com', password: 'nine blue canaries' }
const user = { username: login.username }
const totp_secret = 'JBSWY3DPEHPK3PXP'

// All browsers here share one network, whose requests are rate limited.
beforeEach(() => sql`delete from private.rate_buckets`)

const pathOf = (link: { url: string }) => new URL(link.url).pathname

/** Creates a link and opens it in this browser. */
async function openedBy(browser: Browser, agent: Agent, order: object = {}) {
  const link = await linkOf(agent, { action_type: 'website_login', site, ...order })
  await browser.visit(pathOf(link))
  const page = await browser.submit({}, `${pathOf(link)}/open`)
  const enter = (typed: Record<string, string>) => browser.submit(typed, `${pathOf(link)}/enter`)
  return { link, page, enter }
}

const entriesOf = (agent: Agent) =>
  sql<
    { id: string }[]
  >`select * from private.vault_entries where account = ${agent.id} order by created_at`

const storedRow = z.object({
  id: z.uuid(),
  account: z.uuid(),
  site: z.string(),
  version: z.int(),
  sealed: z.unknown(),
  wrap: wrapSchema,
})

/** Opens the sealed secret of an entry. */
async function openedSecret(entry: unknown) {
  const [row] = await sql`select e.*, private.account_key(e.account, 'vault') as wrap
    from private.vault_entries e where id = ${z.uuid().parse(entry)}`
  const { id: record, wrap, sealed, ...place } = storedRow.parse(row)
  const roots = readRoots(world.bindings.vault['VAULT_ROOT_KEYS'] ?? '', 'vault')
  return decodeSecret(openRecord({ roots, wrap }, { ...place, record }, readSealed(sealed)))
}

const formOf = (browser: Browser) => browser.cookies.get('__Host-aoa_form') ?? ''

/** Calls the vault directly with a login for this link, without the pages. */
async function askVault(link: Made, formToken: string, differs: object) {
  const token_digest = await linkDigest(world.world.config, pathOf(link).split('/').at(-1) ?? '')
  const [session] = await sql`select digest from private.credentials k where k.kind = 'session'
    and k.account = (select account from private.hosted_actions where id = ${link.action_id}) limit 1`
  return world.world.vault?.storeByLink({
    credential: String(session?.['digest']),
    token_digest: token_digest ?? '',
    browser: await sha256Hex(formToken),
    client: 'direct',
    username: login.username,
    secret: { password: login.password },
    mail: { id: world.world.newId(), to: null, topic: 'login_entered', sealed: 'AAAA' },
    ...differs,
  })
}

/** Sends the form, whatever page is shown. Returns the address that it leads to. */
async function sendAs(browser: Browser, link: Made, typed: Record<string, string>) {
  const form = ownForm(browser)
  const { headers } = await browser.send(`${pathOf(link)}/enter`, {
    method: 'POST',
    body: new URLSearchParams({ form, ...typed }),
    headers: { origin: 'http://localhost' },
  })
  return headers.get('location') ?? ''
}

test('a login is asked for, entered, sealed for its site, and told by its id alone', async () => {
  const agent = await world.agent('full')
  const phone = await signedIn(world, agent)
  const { link, page, enter } = await openedBy(phone, agent, { username: 'ada@example.com' })
  expect(page.text).toContain(`the vault of ${agent.alias}`)
  expect(page.text).toContain('Site: www.shop.com')
  expect(page.html).toContain('value="ada@example.com"')

  const done = await enter({ ...login, totp_secret })

  expect(done.text).toContain('The login for www.shop.com is in the vault')
  const [entry] = await entriesOf(agent)
  expect(entry).toMatchObject({ site, username: login.username, version: 1 })
  expect(entry).toMatchObject({ has_password: true, has_totp: true, created_by: null })
  // An agent named the site.
  expect(entry).toMatchObject({ takes_codes: true })
  expect(await openedSecret(entry?.id)).toMatchObject({ password: login.password })
  const { status, result } = await statusOf(agent, link)
  expect(status).toBe('finished')
  expect(result).toEqual({ credential_id: entry?.id, site })
})

test('a login without a password is entered where the site mails a code or a link', async () => {
  const agent = await world.agent('vault')
  const { link, enter } = await openedBy(await signedIn(world, agent), agent)

  await enter({ username: login.username, password: '' })
  const [entry] = await entriesOf(agent)
  expect(entry).toMatchObject({ username: login.username, has_password: false })
  expect(await statusOf(agent, link)).toMatchObject({ status: 'finished' })
})

test('what was typed is in no page, row, log, answer or mail, and the owner hears of it', async () => {
  const { person, browser: phone } = await openPersonAtHome(world)
  const { agent, email } = person
  const { link, enter } = await openedBy(phone, agent)

  const done = await enter({ ...login, totp_secret })

  const mails = await world.mails(email)
  expect(mails).toMatchObject([{ subject: 'A login was put into your vault' }])
  const feed = (await agent.get('/wallet-activity-list?category=vault')).body['items']
  expect(feed).toMatchObject([
    {
      type: 'login_entered',
      summary: textLike(
        new RegExp(`^A login for ${site} was entered by the owner, through a link of the key `),
      ),
    },
  ])
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'private'`
  const seen = [
    done.html,
    JSON.stringify([...done.headers, ...phone.cookies]),
    JSON.stringify([await statusOf(agent, link), feed, mails, world.log]),
    ...(await Promise.all(
      tables.map(async ({ name }) =>
        JSON.stringify(await sql.unsafe(`select t::text from private.${name} t`)),
      ),
    )),
  ]
  for (const secret of [login.password, totp_secret]) {
    expect(seen.filter((text) => text.includes(secret))).toEqual([])
  }
})

test('a browser that did not open the link stores nothing by it and sees no site', async () => {
  const agent = await world.agent('full')
  const [phone, desktop] = [await signedIn(world, agent), await signedIn(world, agent)]
  const link = await linkOf(agent, { action_type: 'website_login', site })
  await desktop.visit(pathOf(link))
  await phone.visit(pathOf(link))
  await phone.submit({}, `${pathOf(link)}/open`)

  const late = await sendAs(desktop, link, login)
  const atTheVault = await askVault(link, 'another form token', {})

  expect(atTheVault).toBe('over')
  expect((await desktop.visit(late)).text).toContain('This link has been used')
  expect((await desktop.visit(pathOf(link))).html).not.toContain('shop.com')
  expect(await entriesOf(agent)).toHaveLength(0)
})

test('a link that is declined, over or not opened yet takes no login', async () => {
  const agent = await world.agent('full')
  for (const step of ['none', 'decline', 'wait', 'enter'] as const) {
    const phone = await signedIn(world, agent)
    const link = await linkOf(agent, { action_type: 'website_login', site: `https://${step}.com` })
    await phone.visit(pathOf(link))
    if (step !== 'none') await phone.submit({}, `${pathOf(link)}/open`)
    if (step === 'decline') await phone.submit({}, `${pathOf(link)}/decline`)
    if (step === 'wait') await world.tick(3_601)
    if (step === 'enter') await phone.submit(login, `${pathOf(link)}/enter`)

    await sendAs(phone, link, { ...login, username: 'somebody else' })
  }

  expect(await entriesOf(agent)).toMatchObject([{ site: 'https://enter.com', ...user }])
})

test('of ten forms that are sent at once one is stored', async () => {
  const agent = await world.agent('full')
  const phone = await signedIn(world, agent)
  const { link } = await openedBy(phone, agent)
  await agent.post('/vault-store', { site: 'https://earlier.com', password: login.password })

  // Ten networks are used, because requests of one network are admitted one after the other.
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      askVault(link, formOf(phone), { client: `10.${at}.0.1`, username: `u${at}` }),
    ),
  )

  expect(outcomes.filter((outcome) => outcome !== 'over')).toEqual(['stored'])
  const [, entry, ...others] = await entriesOf(agent)
  expect(others).toEqual([])
  expect((await statusOf(agent, link))['result']).toMatchObject({ credential_id: entry?.id })
})

test('of a login and a refusal at once one counts', async () => {
  const agent = await world.agent('full')
  const phone = await signedIn(world, agent)
  const { link } = await openedBy(phone, agent)
  const waits = () => sql`select from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`

  const storing = await sql.begin(async (first) => {
    await first`update private.hosted_actions set declined_at = private.clock()
      where id = ${link.action_id}`
    const answer = askVault(link, formOf(phone), {})
    await expect.poll(async () => (await waits()).length).toBeGreaterThan(0)
    return { answer }
  })

  expect(await storing.answer).toBe('over')
  expect(await entriesOf(agent)).toHaveLength(0)
  expect(await statusOf(agent, link)).toMatchObject({ status: 'declined' })
})

test('of ten links that are answered at once each is stored, under the one key of the account', async () => {
  const agent = await world.agent('full')
  const phone = await signedIn(world, agent)
  const opened = []
  for (let at = 0; at < 10; at += 1) {
    opened.push(await openedBy(phone, agent, { site: `https://s${at}.com` }))
  }

  await Promise.all(opened.map(({ link }) => sendAs(phone, link, login)))
  // The requests that lost the race for the first key were told to try again.
  for (const { link } of opened) await sendAs(phone, link, login)

  expect(await entriesOf(agent)).toHaveLength(10)
  const keys = await sql`select from private.account_keys where account = ${agent.id}`
  expect(keys).toHaveLength(1)
  for (const entry of await entriesOf(agent)) {
    expect(await openedSecret(entry.id)).toEqual({ password: login.password })
  }
})

test('a login that is in the vault is not changed by a link, and the page says who can', async () => {
  const agent = await world.agent('full')
  const phone = await signedIn(world, agent)
  await (await openedBy(phone, agent)).enter(login)
  const before = await entriesOf(agent)
  const { link, enter } = await openedBy(phone, agent)

  const page = await enter({ ...login, password: 'another password' })

  expect(page.status).toBe(409)
  expect(page.text).toContain('This login is already in the vault')
  expect(page.html).toContain('href="/web/vault"')
  expect(page.html).not.toContain('another password')
  expect(await entriesOf(agent)).toEqual(before)
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
  expect((await enter({ ...login, username: 'second' })).text).toContain('is in the vault')
})

test.each([
  [{ username: '', password: '' }, 'there is nothing to use'],
  [{ password: 'x'.repeat(1_025) }, 'too long'],
  [{ totp_secret: 'no secret at all!' }, 'TOTP'],
  [{ username: 'x'.repeat(321) }, 'too long or cannot be read: the user name'],
  [{ username: 'ada\u0007' }, 'too long or cannot be read: the user name'],
])('%j is refused with a reason, and the password typed again', async (typed, reason) => {
  const agent = await world.agent('full')
  const { link, enter } = await openedBy(await signedIn(world, agent), agent)

  const page = await enter({ ...login, ...typed })

  expect(page.status).toBe(409)
  expect(page.text.toLowerCase()).toContain(reason.toLowerCase())
  expect(page.html).not.toContain(login.password)
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
})

test('a frozen account takes no login by a link until its owner unfreezes it', async () => {
  const agent = await world.agent('full')
  const { link, enter } = await openedBy(await signedIn(world, agent), agent)
  await agent.post('/account-freeze', {})

  const page = await enter(login)

  expect(page.status).toBe(403)
  expect(page.text).toContain('The account is frozen')
  expect(await entriesOf(agent)).toHaveLength(0)
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
})
