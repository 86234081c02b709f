/** The owner closes the account, has 30 days to reopen it, and after that nothing of the owner is left. */
import { expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { resolveAll } from '../support/books.ts'
import { type Browser, openBrowser } from '../support/browserless.ts'
import { deliver } from '../support/inbound.ts'
import { feedOf, ownerOf } from '../support/owner.ts'
import { addPasskey, makeKey, openPerson, type Person, signInAs } from '../support/person.ts'
import { linkFor } from '../support/sign-up.ts'
import { byCode, isIn, makeCodes, post } from '../support/ways-in.ts'
import { finalize, mailDomain, start } from '../support/world.ts'

const world = await start({ chain: true })
const { sql } = world.db
const page = '/web/security/close'
const day = 86_400
const housekeep = () => runHousekeeping(world.world)
const waits = () => sql`select from pg_locks l join pg_stat_activity a using (pid)
  where not l.granted and a.datname = current_database()`

async function close(browser: Browser, { agent }: Person) {
  await browser.visit(page)
  return browser.submit({ alias: agent.alias }, page)
}

/** Opens an account without money and closes it. */
async function closed() {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  await close(browser, person)
  return { person, browser }
}

const isClosed = async ({ agent }: Person) => {
  const [row] = await sql`select closed_at is not null as closed from private.accounts
    where id = ${agent.id}`
  return row?.['closed'] === true
}

function letterTo({ agent }: Person) {
  const from = 'Shop <shop@shop.example>'
  return { to: `${agent.alias}@${mailDomain}`, from, subject: 'Hello', text: 'A letter.' }
}

/** Pays 5 USDC to somebody; the payment is signed and not final yet. */
async function payAll({ agent }: Pick<Person, 'agent'>) {
  const payee = await world.agent('read')
  await world.acquaint(agent, payee.address)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  return agent.post('/wallet-custodial-transfer', order)
}

test('money and payments on their way are in the way until the chain shows them gone', async () => {
  const person = await openPerson(world, 5)
  const browser = await signInAs(world, person)
  const held = await browser.visit(page)
  const refused = await post(browser, page, { alias: person.agent.alias })
  const paid = await payAll(person)
  const open = await browser.visit(page)

  await finalize(world.chain)
  await resolveAll(world)
  const done = await close(browser, person)

  expect(held.text).toContain('The wallet holds 5 USDC on Base Sepolia')
  expect(held.html).toContain('href="/web/send"')
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('5 USDC')])
  expect(open.text).toContain('A payment is signed')
  expect(open.html).toContain(`/web/payment/${String(paid.body['transfer_id'])}`)
  expect([done.path, await isClosed(person)]).toEqual(['/web/closed', true])
})

test('a payment that was signed after the page was shown keeps the account open', async () => {
  const person = await openPerson(world, 5)
  const owner = await ownerOf(world, person.agent)
  await payAll(person)

  const { alias } = person.agent
  expect(await owner.call('owner_close', { alias })).toEqual([{ outcome: 'payments_open' }])
  expect(await isClosed(person)).toBe(false)
})

test('less than a cent is not in the way, and a chain that does not answer is', async () => {
  const person = await openPerson(world)
  await fund(world.chain, person.agent.address, { usdcAtomic: 9_999n })
  const down = world.worker({
    fetch: (input, init) => {
      const { href } = new URL(input instanceof Request ? input.url : input)
      const isChain = href.startsWith(world.chain.rpcUrl)
      return isChain ? Promise.reject(new Error('down')) : fetch(input, init)
    },
  })
  const [browser, cut] = [await signInAs(world, person), openBrowser(down)]
  for (const [name, value] of browser.cookies) cut.cookies.set(name, value)

  const silent = await cut.visit(page)

  expect(silent.text).toContain('Base Sepolia is not responding')
  expect((await close(browser, person)).path).toBe('/web/closed')
})

test('it takes the alias and a fresh proof', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  await browser.visit(page)
  const other = await browser.submit({ alias: 'another' }, page)
  await world.tick(601)

  const unproven = await post(browser, page, { alias: person.agent.alias })
  const shown = await browser.visit(page)

  expect([other.status, other.text]).toEqual([422, expect.stringContaining('not the alias')])
  expect(unproven.headers.get('location')).toContain('/web/proof')
  expect(shown.path).toContain('/web/proof')
  expect(await isClosed(person)).toBe(false)
})

test('keys, apps and other sessions end, and mails are refused as for an unknown alias', async () => {
  const person = await openPerson(world)
  const other = await signInAs(world, person)
  const browser = await signInAs(world, person)
  const key = await makeKey(world, browser, 'Shopping')

  await close(browser, person)

  expect([await key(), (await person.agent.get('/get-identity')).status]).toEqual([401, 401])
  expect((await other.visit('/web')).path).toContain('/web/login')
  await expect(deliver(world.world, letterTo(person))).rejects.toThrow('unknown_recipient')
  expect((await world.mails(person.email)).map(({ subject }) => subject)).toContain(
    'Your account was closed',
  )
})

test('every page leads to the one of the closed account, and so does signing in', async () => {
  const { person, browser } = await closed()
  const again = await signInAs(world, person)

  const led = []
  for (const path of [
    '',
    '/limits',
    '/keys',
    '/security',
    '/freeze',
    '/secure',
    '/send',
    '/mail',
  ]) {
    led.push((await browser.visit(`/web${path}`)).path)
  }
  const csv = await browser.send('/web/activity.csv')

  expect(new Set(led)).toEqual(new Set(['/web/closed']))
  expect((await again.visit('/web/closed')).text).toContain('Your account is closed')
  expect([csv.status, csv.html]).toEqual([200, expect.stringContaining('closed')])
})

test('nothing that widens is possible in it, whichever way it is asked for', async () => {
  const { person, browser } = await closed()
  const owner = await ownerOf(world, person.agent)

  const form = await post(browser, '/web/freeze', { wanted: 'unfrozen', freeze: '1' })
  const called = [await owner.unfreeze(), await owner.call('owner_set_limits', { limits: {} })]

  expect(form.headers.get('location')).toBe('/web/closed')
  expect(called).toEqual([{ refused: 'account_frozen' }, { refused: 'account_frozen' }])
})

test('the owner reopens it with a fresh proof; it is frozen until the owner unfreezes it', async () => {
  const { person, browser } = await closed()
  await world.tick(601)
  await browser.visit('/web/closed')
  const asked = await browser.submit({}, '/web/closed')
  const back = await browser.submit({ password: person.password }, '/web/proof')

  const reopened = await browser.submit({}, '/web/closed')

  expect([asked.path, back.path]).toEqual([expect.stringContaining('/web/proof'), '/web/closed'])
  expect([reopened.path, reopened.text]).toEqual([
    '/web/freeze',
    expect.stringContaining('The account is frozen'),
  ])
  expect(await isClosed(person)).toBe(false)
  await deliver(world.world, letterTo(person))
  const feed = await feedOf(world.db, person.agent)
  expect(feed).toEqual(expect.arrayContaining(['account_closed', 'account_reopened']))
})

/** Returns the tables that hold rows of an account. */
async function tablesOf({ agent: { id } }: Person): Promise<string[]> {
  const tables = await sql`select table_name as name from information_schema.columns
    where table_schema = 'private' and column_name = 'account' order by 1`
  const found = []
  for (const { name } of tables) {
    const rows = await sql`select from ${sql(`private.${name}`)} where account = ${id} limit 1`
    if (rows.length > 0) found.push(String(name))
  }
  return found
}

test('30 days later the owner, the logins, the mails and their keys are gone, and the alias stays taken', async () => {
  const person = await openPerson(world)
  const login = { site: 'https://shop.example.com', username: 'eve', password: 'a password' }
  await person.agent.post('/vault-store', login)
  await deliver(world.world, letterTo(person))
  const browser = await signInAs(world, person)
  await makeCodes(browser)
  await addPasskey(browser)
  await close(browser, person)
  const before = await tablesOf(person)

  await world.tick(30 * day - 60)
  await housekeep()
  const kept = await tablesOf(person)
  await world.tick(61)
  await housekeep()

  expect(before).toEqual(
    expect.arrayContaining(['account_keys', 'mails', 'owners', 'passkeys', 'vault_entries']),
  )
  expect(kept).toEqual(before)
  expect(await tablesOf(person)).toEqual([
    'activities',
    'credentials',
    'frozen_payments',
    'wallets',
  ])
  expect(
    (await sql`select from private.custody_keys where owner = ${person.agent.id}`).length,
  ).toBe(1)
  await expect(signInAs(world, person)).rejects.toThrow('not let in')
  await expect(deliver(world.world, letterTo(person))).rejects.toThrow('unknown_recipient')

  const visitor = openBrowser(world)
  await visitor.visit(`/web/register/${await linkFor(world, person.email)}`)
  const password = 'seven green kettles'
  const taken = await visitor.submit({ alias: person.agent.alias, password })
  const opened = await visitor.submit({ alias: `${person.agent.alias}-two`, password })
  expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('is taken')])
  expect(opened.status).toBe(200)
})

test('an account that was reopened is not erased', async () => {
  const { person, browser } = await closed()
  await browser.visit('/web/closed')
  await browser.submit({}, '/web/closed')
  await world.tick(31 * day)
  await housekeep()

  expect(await isIn(await signInAs(world, person))).toBe(true)
})

test('an owner who comes back with a recovery code has a week from the end of the hold', async () => {
  const [back, away] = [await openPerson(world), await openPerson(world)]
  for (const one of [back, away]) {
    const browser = await signInAs(world, one)
    const [code] = await makeCodes(browser)
    await close(browser, one)
    await world.tick(60)
    await sql`update private.accounts set erases_at = private.clock() + interval '1 day'
      where id = ${one.agent.id}`
    await byCode(world, one, code)
  }

  await world.tick(3 * day)
  const browser = await signInAs(world, back)
  await housekeep()
  await browser.visit('/web/closed')
  const reopened = await browser.submit({}, '/web/closed')
  await world.tick(5 * day)
  await housekeep()
  const kept = await tablesOf(away)
  await world.tick(day + 60)
  await housekeep()

  expect([reopened.path, await isClosed(back)]).toEqual(['/web/freeze', false])
  expect(kept).toContain('owners')
  expect(await tablesOf(away)).not.toContain('owners')
})

test('a sign-in under way at the erasure ends with it', async () => {
  const { person } = await closed()
  await world.tick(31 * day)
  const digest = 'a'.repeat(64)
  let erasing: Promise<unknown> = Promise.resolve()
  await sql.begin(async (signIn) => {
    await signIn`select api.login_with_password(${person.email}, o.password_hash, ${digest}, 'x',
      'direct') from private.owners o where o.account = ${person.agent.id}`
    erasing = housekeep()
    await expect.poll(async () => (await waits()).length, { timeout: 30_000 }).toBeGreaterThan(0)
  })
  await erasing

  expect(
    await sql`select from private.credentials where digest = ${digest} and revoked_at is null`,
  ).toHaveLength(0)
})
