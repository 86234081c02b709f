/** Requests that our pages never send get a calm answer: no page fails, and none leads elsewhere. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Browser, openBrowser, ownForm } from '../support/browserless.ts'
import { excerptOf } from '../support/cases.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { linkFor } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:1'] } })
let browser: Browser

beforeAll(async () => {
  browser = await signInAs(world, await openPerson(world))
})

beforeEach(() => {
  world.log.length = 0
})

const pages = [
  '/activity?q=*',
  '/activity?category=*',
  '/activity?before=*',
  '/activity?hidden=*',
  '/activity.csv?q=*',
  '/activity/*',
  '/action/*',
  '/alias?alias=*',
  '/apps/*',
  '/approve/*',
  '/approvals?page=*',
  '/authorize?client_id=*&redirect_uri=*',
  '/authorize?client_id=https://*&redirect_uri=*',
  '/deposit?network=*&token=*',
  '/keep-wallet/*',
  '/keys/*',
  '/approve-batch?payment=*',
  '/mandate/*',
  '/mandate/0f8fad5b-d9cb-469f-a165-70867728950e?before=*',
  '/mandates?before=*',
  '/vault?q=*',
  '/vault?before=*',
  '/vault/*',
  '/mail?from=*&direction=*&unread=*',
  '/mail?before=*',
  '/mail/*',
  '/mail/0f8fad5b-d9cb-469f-a165-70867728950e?from=*',
  '/mail/0f8fad5b-d9cb-469f-a165-70867728950e/file/*',
  '/login?next=*',
  '/proof?next=*',
  '/recipients/add?recipient=*',
  '/recipients/add/*',
  '/register/*',
]
const odd = [
  '%00',
  'a%00b',
  '%%0000',
  '%ED%A0%80',
  '%E0%A4%A',
  '%F0%9F%90%A4',
  "';drop table x",
  '99999999999999999999',
  '-1',
  '%0d%0aset-cookie:x=1',
  '//evil.example',
  'x'.repeat(4_000),
]

test.each(pages)('%s takes anything in its place', async (page) => {
  const answers: Record<string, number> = {}
  for (const text of excerptOf(odd, 5)) {
    const { status, headers } = await browser.send(`/web${page.replaceAll('*', text)}`)
    answers[text.slice(0, 24)] = status
    expect(headers.get('location') ?? '/web').toMatch(/^\/web/)
    expect(headers.getSetCookie().filter((line) => line.startsWith('x='))).toEqual([])
  }

  expect(Object.entries(answers).filter(([, status]) => status >= 500)).toEqual([])
  expect(world.log).toEqual([])
})

const forms: [string, string, string][] = [
  ['/login', 'email', 'password'],
  ['/login/recovery', 'email', 'code'],
  ['/login/passkey', 'answer', 'next'],
  ['/proof', 'password', 'next'],
  ['/proof/passkey', 'answer', 'next'],
  ['/join', 'email', 'more'],
  ['/join/code', 'code', 'more'],
  ['/keys', 'label', 'scope'],
  ['/limits', 'limit', 'amount'],
  ['/apps', 'app', 'wanted'],
  ['/authorize?client_id=x&redirect_uri=y', 'decision', 'level'],
  ['/approve-batch', 'payment', 'asker'],
  ['/approvals', 'payment', 'decision'],
  ['/recipients', 'address', 'device'],
  ['/security/password', 'password', 'more'],
  ['/security/passkeys', 'passkey', 'label'],
  ['/security/sessions', 'session', 'more'],
  ['/vault/new', 'site', 'password'],
  ['/vault/new', 'username', 'fields'],
  ['/mail/codes', 'wanted', 'more'],
]

test.each(forms)('the form of %s takes anything as %s and %s', async (path, one, other) => {
  const token = ownForm(browser)
  const answers: Record<string, number> = {}
  for (const text of [...odd, '%F0%9F%90%A4'.repeat(40), '']) {
    const body = `form=${token}&${one}=${text}&${other}=${text}&deed=rename&wanted=x`
    const { status } = await browser.send(`/web${path}`, {
      method: 'POST',
      body,
      headers: {
        origin: 'http://localhost',
        'content-type': 'application/x-www-form-urlencoded',
        // Each try has its own address, so the rate limit refuses none.
        'cf-connecting-ip': `2001:db8:0:${Object.keys(answers).length}::1`,
      },
    })
    answers[text.slice(0, 24)] = status
  }

  expect(Object.entries(answers).filter(([, status]) => status >= 500)).toEqual([])
  expect(world.log).toEqual([])
})

test('a browser of a long name opens an account', async () => {
  const visitor = openBrowser(world)
  const path = `/web/register/${await linkFor(world, 'long@people.example')}`
  const name = { 'user-agent': `Mozilla/5.0 ${'in-app '.repeat(60)}` }
  await visitor.visit(path, name)
  const form = ownForm(visitor)

  const opened = await visitor.send(path, {
    method: 'POST',
    body: new URLSearchParams({ form, alias: 'long-name', password: 'seven blue kettles' }),
    headers: { origin: 'http://localhost', ...name },
  })

  expect(opened.status).toBe(200)
})
