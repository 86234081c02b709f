import { expect, test } from 'vitest'
import { type Browser, openBrowser } from '../support/browserless.ts'
import { codeFor, linkFor, mailsTo } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'seven green kettles'
const keyForm = /aoa_test_[0-9A-Za-z]{36}/
let people = 0
const newEmail = () => `visitor${(people += 1)}@example.com`

/** Opens a browser with a network of its own, as each person has. */
function person(): Browser {
  return openBrowser(world)
}

async function atCode(browser: Browser, email: string) {
  await browser.visit('/web/join')
  return browser.submit({ email })
}

async function signups(): Promise<unknown[]> {
  return [...(await world.db.sql`select * from private.signups order by id`)]
}

test('a person without an agent comes from a mail address to a working key', async () => {
  const [browser, email] = [person(), newEmail()]

  const code = await atCode(browser, email)
  expect(code).toMatchObject({ status: 200, path: '/web/join/code' })
  expect(code.text).toContain(email)
  const choices = await browser.submit({ code: await codeFor(world, email) })
  expect(choices.path).toMatch(/^\/web\/register\/[\w-]{43}$/)
  expect(choices.text).toContain(email)
  const opened = await browser.submit({ alias: 'my-helper', password })

  expect(opened.status).toBe(200)
  expect(opened.headers.get('cache-control')).toBe('no-store')
  expect(opened.text).toContain('my-helper@agents.example')
  const [key = ''] = keyForm.exec(opened.text) ?? []
  expect(opened.html).toContain(`AOA_API_KEY=${key}\nAOA_BASE_URL=http://aoa.example`)
  const headers = { authorization: `Bearer ${key}` }
  expect(await world.send('/get-identity', { headers })).toMatchObject({
    status: 200,
    body: { alias: 'my-helper' },
  })
  expect(await browser.visit('/web')).toMatchObject({ status: 200, path: '/web' })
})

test('the key is not shown again, whatever the person goes back to', async () => {
  const browser = person()
  const page = `/web/register/${await linkFor(world, newEmail())}`
  await browser.visit(page)
  const opened = await browser.submit({ alias: 'once-only', password })
  const [key = ''] = keyForm.exec(opened.text) ?? []

  await browser.visit('/web/join')
  const form = browser.cookies.get('__Host-aoa_form') ?? ''
  const again = await browser.send(page, {
    method: 'POST',
    body: new URLSearchParams({ form, alias: 'once-more', password }).toString(),
    headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
  })
  const reopened = await browser.visit(page)

  expect(key).toMatch(keyForm)
  for (const answer of [again, reopened]) {
    expect(answer.status).toBe(410)
    expect(answer.html).not.toMatch(keyForm)
    expect(answer.text).toContain('your account is open: sign in')
  }
})

test('opening a link changes nothing, however often', async () => {
  const page = `/web/register/${await linkFor(world, newEmail())}`
  const before = await signups()
  for (const method of ['GET', 'HEAD', 'GET']) {
    expect((await person().send(page, { method })).status).toBe(200)
  }
  expect(await signups()).toEqual(before)
})

test('a link that never was answers like one that was used', async () => {
  const browser = person()
  const used = `/web/register/${await linkFor(world, newEmail())}`
  await browser.visit(used)
  await browser.submit({ alias: 'used-up', password })

  const bodies = []
  for (const page of [used, `/web/register/${'A'.repeat(43)}`, '/web/register/x']) {
    const { status, text } = await browser.visit(page)
    bodies.push({ status, text })
  }
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
})

test('says beside the field what is wrong, and keeps the alias that was typed', async () => {
  await world.agent('read', { alias: 'dave' })
  const browser = person()
  await browser.visit(`/web/register/${await linkFor(world, newEmail())}`)

  const taken = await browser.submit({ alias: 'dave', password })
  expect(taken.status).toBe(409)
  expect(taken.text).toContain('This alias is taken. Free: dave-agent, dave-2, my-dave.')
  const weak = await browser.submit({ alias: 'dave-agent', password: 'password123' })
  expect(weak.status).toBe(422)
  expect(weak.text).toContain('guessed first')
  expect(weak.html).toContain('value="dave-agent"')
  expect(weak.html).not.toContain('password123')
  expect(await browser.submit({ password })).toMatchObject({ status: 200 })
})

test('the wish that an agent had for an alias stands in the form', async () => {
  const email = newEmail()
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({ email, alias: 'wished-for' })
  await world.send('/request-signup-verification', { method: 'POST', body, headers: json })
  const browser = person()
  const code = await codeFor(world, email)
  const confirmed = await world.send('/confirm-registration-code', {
    method: 'POST',
    body: JSON.stringify({ email, code }),
    headers: json,
  })

  const page = await browser.visit(String(confirmed.body['registration_url']))

  expect(page.html).toContain('value="wished-for"')
})

test('an owner who joins again sees what everybody sees, and is told by mail', async () => {
  const email = newEmail()
  const browser = person()
  await browser.visit(`/web/register/${await linkFor(world, email)}`)
  await browser.submit({ alias: 'known-one', password })

  const [known, unknown] = [await atCode(person(), email), await atCode(person(), newEmail())]

  const masked = (text: string) => text.replace(/visitor\d+@example\.com/g, 'somebody')
  expect(masked(known.text)).toBe(masked(unknown.text))
  expect((await mailsTo(world, email)).at(-1)?.subject).toBe('You already have an account')
})

test('a wrong code is told beside the field, and what is no address as well', async () => {
  const browser = person()
  expect((await atCode(browser, 'nobody')).text).toContain('not a valid email address')
  await atCode(browser, newEmail())
  expect((await browser.submit({ code: '12' })).text).toContain('The code has 6 digits')
  expect(await browser.submit({ code: '000 000' })).toMatchObject({ status: 422 })
})

test('who asks for too many codes is told when the next one can be sent', async () => {
  const email = newEmail()
  for (let asked = 0; asked < 3; asked += 1) await atCode(person(), email)
  const refused = await atCode(person(), email)
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('can be sent in 60 minutes')
})

test('without the address in its cookie the code page begins at the beginning', async () => {
  expect((await person().visit('/web/join/code')).path).toBe('/web/join')
})

test('the page asks about an alias while it is typed', async () => {
  const ask = async (alias: string) => (await person().send(`/web/alias?alias=${alias}`)).html
  expect(await ask('Quite-Free')).toBe('quite-free is free.')
  expect(await ask('dave')).toBe('This alias is taken. Free: dave-2, my-dave.')
})

test('what a new owner agrees to names the limits that the account begins with', async () => {
  const { id } = await world.agent('read')
  const [limits] = await world.db
    .sql`select automatic_daily_limit_usd_micros / 1000000 as automatic,
    asserted_new_recipient_limit_usd_micros / 1000000 as recipient,
    daily_spending_cap_usd_micros / 1000000 as cap,
    asserted_daily_limit_usd_micros = automatic_daily_limit_usd_micros as as_much
    from private.accounts where id = ${id}`

  const { text } = await openBrowser(world).visit(
    `/web/register/${await linkFor(world, newEmail())}`,
  )

  expect(limits).toEqual({ automatic: '200', recipient: '10', cap: '1000', as_much: true })
  expect(text).toContain('up to 200 USD in 24 hours that your agent pays on its own')
  expect(text).toContain('to recipients and from devices that you trust')
  expect(text).toContain('10 USD of that to each new recipient')
  expect(text).toContain('No more than 1,000 USD can leave')
})
