/** Acts of the owner on the pages are reported to the owner's mailbox. */
import { expect, test } from 'vitest'
import { type Browser, openBrowser } from '../support/browserless.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const tests = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })

/** Returns a signed-in owner, and a way to read the subjects of later mails. */
async function home() {
  const person = await openPerson(tests)
  const browser = await signInAs(tests, person)
  await tests.mails(person.email)
  const told = async () => (await tests.mails(person.email)).slice(1).map((mail) => mail.subject)
  return { ...person, browser, told }
}

test('signing in is told with the way and the browser', async () => {
  const { email } = await home()

  const [mail] = await tests.mails(email)

  expect(mail).toMatchObject({ subject: 'New sign-in to your account' })
  expect(mail?.text).toContain('With: Password')
})

test('a browser that signed in before is not told again, until its session was ended from elsewhere', async () => {
  const person = await openPerson(tests)
  const told = async () => (await tests.mails(person.email)).map((mail) => mail.subject)
  const mine = await signInAs(tests, person)
  const again = async (browser: Browser) => {
    await browser.visit('/web')
    await browser.submit({}, '/web/logout')
    await browser.visit('/web/login')
    await browser.submit({ email: person.email, password: person.password }, '/web/login')
  }

  await again(mine)
  const known = await told()
  const theirs = await signInAs(tests, person)
  const second = await told()
  await mine.visit('/web/security/sessions')
  await mine.submit({ session: 'others' }, '/web/security/sessions')
  await theirs.visit('/web/login')
  await theirs.submit({ email: person.email, password: person.password }, '/web/login')
  await again(mine)

  expect([known.length, second.length, (await told()).length]).toEqual([1, 2, 3])
  expect(new Set(await told())).toEqual(new Set(['New sign-in to your account']))
})

test('who has seen a page of a known browser is told like any other, as no page shows what it is known by', async () => {
  const person = await openPerson(tests)
  const known = await signInAs(tests, person)
  const { html, headers } = await known.visit('/web/security')
  const thief = openBrowser(tests)
  await thief.visit('/web/login')
  const form = known.cookies.get('__Host-aoa_form') ?? ''
  thief.cookies.set('__Host-aoa_form', form)

  await thief.submit({ form, email: person.email, password: person.password }, '/web/login')

  expect(html).toContain(form)
  expect(html + JSON.stringify([...headers])).not.toContain(known.cookies.get('__Host-aoa_browser'))
  expect(await tests.mails(person.email)).toHaveLength(2)
})

test('one browser is new to each account', async () => {
  const [one, other] = [await openPerson(tests), await openPerson(tests)]
  const browser = await signInAs(tests, one)

  await browser.visit('/web/login')
  await browser.submit({ email: other.email, password: other.password }, '/web/login')

  expect(await tests.mails(other.email)).toHaveLength(1)
})

test('a new key and the one that replaces it are told by name, never the key itself', async () => {
  const { email, browser, told } = await home()
  await browser.visit('/web/keys')
  await browser.submit({ label: 'shop', scope: 'pay', days: '30' })
  const { html } = await browser.visit('/web/keys')
  const [, page = ''] = /href="(\/web\/keys\/[0-9a-f-]{36})"/.exec(html) ?? []
  await browser.visit(page)
  await browser.submit({ wanted: 'replaced', overlap: '24' }, page)

  expect(await told()).toEqual(['New API key for your account', 'New API key for your account'])
  const mails = JSON.stringify(await tests.mails(email))
  expect(mails).toContain('Label: shop')
  expect(mails).not.toMatch(/aoa_test_/)
})

test('raising a limit is told with the new amount, lowering it is not', async () => {
  const { email, browser, told } = await home()
  const set = async (usd: string) => {
    await browser.visit('/web/limits')
    await browser.submit({ usd_daily_spending_cap: usd }, '/web/limits')
  }

  await set('900')
  await set('2500')

  expect(await told()).toEqual(['Your limits were raised'])
  expect((await tests.mails(email)).at(-1)?.text).toContain(
    'Daily spending cap: from 900 to 2500 USD',
  )
})

test('a new recipient is told with its full address', async () => {
  const { email, browser, told } = await home()
  const friend = await tests.agent('read')

  await browser.visit(`/web/recipients/add/${friend.alias}`)
  await browser.submit()

  expect(await told()).toEqual(['New trusted recipient'])
  expect((await tests.mails(email)).at(-1)?.text).toContain(friend.address)
})

test('a freeze and its end are told once each', async () => {
  const { browser, told } = await home()
  const want = async (wanted: string) => {
    await browser.visit('/web/freeze')
    await browser.submit({ wanted }, '/web/freeze')
  }

  for (const wanted of ['frozen', 'frozen', 'unfrozen', 'unfrozen']) await want(wanted)

  expect((await told()).toSorted()).toEqual([
    'Your account can pay again',
    'Your account is frozen',
  ])
})
