/** One press secures an account: nothing that anybody made in it opens or pays anything, and the owner rebuilds it. */
import { beforeEach, expect, test } from 'vitest'
import { connectApp } from '../support/apps.ts'
import { type Browser, openBrowser } from '../support/browserless.ts'
import { addPasskey, makeKey, openPerson, type Person, signInAs } from '../support/person.ts'
import { byPasskey, isIn, makeCodes } from '../support/ways-in.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const renewed = 'another long sentence of mine'
const securePath = '/web/secure'
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
let person: Person
beforeEach(async () => {
  person = await openPerson(world)
  await world.tick(3_600)
})

const withPassword = (password = person.password) => signInAs(world, { ...person, password })

async function raiseLimit(browser: Browser, usd: string) {
  await browser.visit('/web/limits')
  await browser.submit({ usd_automatic_daily: usd }, '/web/limits')
}

async function addRecipient(browser: Browser) {
  const path = `/web/recipients/add/${payee}`
  await browser.visit(path)
  await browser.submit({ address: payee }, path)
}

async function secure(browser: Browser) {
  await browser.visit(securePath)
  return browser.submit({ password: renewed }, securePath)
}

/** Returns limits, known recipients and whether the account is frozen. */
async function factsOf({ agent: { id } }: Person) {
  const [row] = await sql`select a.automatic_daily_limit_usd_micros::text as automatic,
      a.asserted_daily_limit_usd_micros::text as asserted,
      a.asserted_new_recipient_limit_usd_micros::text as new_recipient,
      a.daily_spending_cap_usd_micros::text as cap, a.frozen_at is not null as frozen,
      (select count(*)::integer from private.known_recipients r where r.account = a.id) as recipients,
      (select count(*)::integer from private.mandates m where m.account = a.id
        and m.state in ('pending_approval', 'active', 'suspended')) as mandates
    from private.accounts a where a.id = ${id}`
  return row
}

test('whoever knew the password is out with all that they made, and so are keys, apps and codes', async () => {
  const thief = await withPassword()
  const codes = await makeCodes(thief)
  const theirs = await makeKey(world, thief, 'Mine')
  const { app } = await connectApp(world, person.agent)
  await raiseLimit(thief, '90000')
  await addRecipient(thief)
  await world.tick(60)
  const owner = await withPassword()

  const done = await secure(owner)

  expect(done.path).toBe('/web/secure/done')
  expect([await isIn(thief), await isIn(owner)]).toEqual([false, true])
  expect([await theirs(), (await person.agent.get('/get-identity')).status]).toEqual([401, 401])
  const [grant] =
    await sql`select revoked_at is not null as ended from private.credentials where id = ${app}`
  expect(grant).toEqual({ ended: true })
  const found = openBrowser(world)
  await found.visit('/web/login/recovery')
  expect((await found.submit({ email: person.email, code: codes[0] ?? '' })).status).toBe(403)
  await expect(withPassword()).rejects.toThrow('not let in')
  expect(await isIn(await withPassword(renewed))).toBe(true)
  const fresh = await factsOf(await openPerson(world))
  expect(await factsOf(person)).toEqual({ ...fresh, frozen: true })
})

test('a passkey of somebody else is removed, and that of the proof stays', async () => {
  const mine = await addPasskey(await withPassword())
  const owner = await byPasskey(world, mine)
  const theirs = await addPasskey(owner)
  const again = await byPasskey(world, mine)

  await secure(again)

  expect(await isIn(await byPasskey(world, mine))).toBe(true)
  expect(await isIn(await byPasskey(world, theirs))).toBe(false)
})

test('it takes a fresh proof, which leads back to the page', async () => {
  const owner = await withPassword()
  await world.tick(601)

  const asked = await owner.visit(securePath)
  const shown = await owner.submit({ password: person.password }, '/web/proof')

  expect([asked.path, shown.path]).toEqual([expect.stringContaining('/web/proof'), securePath])
})

test('what ended is made again by one press each: a key, a recipient and a limit', async () => {
  const owner = await withPassword()
  await makeKey(world, owner, 'Shopping')
  await addRecipient(owner)
  await raiseLimit(owner, '500')
  await secure(owner)
  const list = '/web/secure/done'
  const press = async (action: string) => {
    await owner.visit(list)
    return owner.submit({}, action)
  }

  const key = await press('/web/keys')
  await press(`/web/recipients/add/${payee}`)
  await press('/web/limits')
  const { text } = await owner.visit(list)

  expect(key.text).toContain('Your new API key')
  expect(await factsOf(person)).toMatchObject({
    automatic: '500000000',
    recipients: 1,
    frozen: true,
  })
  expect(text.match(/Done/g)?.length).toBeGreaterThanOrEqual(2)
})

test('an owner whose session was stolen is safe in three presses', async () => {
  const thief = await withPassword()
  const owner = await withPassword()
  const notices = await world.mails(person.email)
  const link = /https?:\/\/\S+\/secure/.exec(notices.map(({ text }) => text).join('\n'))?.[0] ?? ''

  const opened = await owner.visit(new URL(link).pathname)
  await owner.submit({ password: renewed }, securePath)

  expect(opened.path).toBe(securePath)
  expect([await isIn(thief), await isIn(owner)]).toEqual([false, true])
})
