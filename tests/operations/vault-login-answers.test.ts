/** The answer to a form with a secret is not shown; the page that the site leads to is, without the secret. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { echoes, spreadEchoes } from '../support/hostile-echo.ts'
import { serverThat } from '../support/http.ts'
import { codeOf, entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const username = 'ada'
const form = '<form method="post"><input name="user"><input name="password" type="password"></form>'
const codeForm = '<form method="post" action="/code"><input name="otp"></form>'

type Page = { status?: number; location?: string; html?: string }

/** Opens a site with these pages, by method and path, and an agent with a login there. */
async function openSite(
  pages: Readonly<Record<string, Page | ((said: string) => Page)>>,
  password = 'Canary-1 horse',
) {
  const site = await serverThat((response, { method, url, body }) => {
    const page = pages[`${method} ${new URL(url, 'http://site').pathname}`] ?? { status: 404 }
    const said = [...new URLSearchParams(body.toString()).values()].at(-1) ?? url
    const { status = 200, location, html } = typeof page === 'function' ? page(said) : page
    const headers = location === undefined ? {} : { location }
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html)
  })
  const { origin } = new URL(site.url)
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, username, password })
  const login = () => signInAt(world, agent, { credential_id })
  const step = (session: unknown, order: object) =>
    agent.post('/vault-session', { session, ...order })
  const asked = () => site.received.map(({ method, url }) => `${method} ${url}`)
  return { origin, agent, credential_id, login, step, asked }
}

test('a failed sign-in tells what the page asks for, however it repeats the password', async () => {
  const said = (secret: string) =>
    Object.values({ ...echoes, ...spreadEchoes })
      .map((echo) => String(echo(secret, { before: '', after: '' })))
      .join(' ')
  const { login } = await openSite({
    'GET /login': { html: form },
    'POST /login': (secret) => ({ status: 401, html: form + said(secret) }),
  })

  const { body } = await login()

  expect(body).toMatchObject({ filled: ['username', 'password'], asks: ['password'] })
  expect(body['response']).toMatchObject({ status: 401, body: '' })
  expect(body['withheld']).toBe('password_sent')
})

test('a code goes into the form that the answer to the password has, which is not shown', async () => {
  const { agent, login, step, asked } = await openSite({
    'GET /login': { html: form },
    'POST /login': { html: `Welcome, Canary-1 horse. ${codeForm}` },
    'POST /code': (code) => ({ location: code === '482913' ? '/home' : '/code', status: 303 }),
    'GET /home': { html: 'Inside.' },
  })
  const handle = await codeOf(world, agent, { value: '482913', hosts: ['127.0.0.1'] })

  const { body } = await login()
  const inside = await step(body['session'], { secret: `mail.${handle}` })

  expect(body).toMatchObject({ asks: ['code'], response: { status: 200, body: '' } })
  expect(inside.body).toMatchObject({ filled: ['code'], response: { body: 'Inside.' } })
  expect(inside.body).not.toHaveProperty('withheld')
  expect(asked().slice(1)).toEqual(['GET /login', 'POST /login', 'POST /code', 'GET /home'])
})

test('a site that welcomes without a redirect has its page opened again', async () => {
  const { login } = await openSite({
    'GET /login': (url) => ({ html: url === '/login' ? form : '' }),
    'POST /login': { html: 'Welcome.' },
  })
  const other = await openSite({
    'GET /login': { html: form.replace('method', 'action="/login/in" method') },
    'POST /login/in': { html: 'Welcome.' },
    'GET /login/in': { status: 405, html: 'Not so.' },
  })

  expect((await login()).body).toMatchObject({ response: { status: 200, body: form } })
  expect((await other.login()).body).toMatchObject({
    response: { status: 200, body: '' },
    withheld: 'password_sent',
    asks: [],
  })
})

test('the page behind the sign-in is shown without the password, and not at all with a short one', async () => {
  const pages = (password: string) => ({
    'GET /login': { html: form },
    'POST /login': { status: 303, location: '/home?from=login' },
    'GET /home': { html: `You signed in with (${encodeURIComponent(password)}).` },
  })
  const [long, short] = ['Canary-1 horse', '47a11']
  const one = await openSite(pages(long), long)
  const other = await openSite(pages(short), short)

  const { body } = await one.login()
  const pin = await other.login()

  expect(body).toMatchObject({
    response: { body: 'You signed in with ([secret removed]).', url: `${one.origin}/home` },
    removed: 1,
  })
  expect(pin.body).toMatchObject({ response: { status: 200, body: '' }, withheld: 'short_secret' })
})

test('a sign-in link of a mail is opened in the session, and its token is told nowhere', async () => {
  const token = 'Xk39dKq02LmZ'
  const { agent, credential_id, origin, step, login } = await openSite({
    'GET /login': { html: '<form method="post"><input name="user"></form>' },
    'POST /login': { html: 'We sent you a link.' },
    [`GET /magic/${token}`]: { status: 302, location: '/home' },
    'GET /ask': (url) => ({ html: `<form method="post"><input type="hidden" value="${url}">` }),
    'GET /home': { html: 'Inside.' },
  })
  const link = (path: string) =>
    codeOf(world, agent, { value: origin + path, hosts: ['127.0.0.1'], kind: 'link' })
  const { body } = await login()

  const inside = await step(body['session'], { secret: `mail.${await link(`/magic/${token}`)}` })
  const asked = await step(body['session'], { secret: `mail.${await link(`/ask?t=${token}`)}` })
  const away = await step(body['session'], {
    secret: `mail.${await codeOf(world, agent, { value: 'https://evil.example/', hosts: ['127.0.0.1'], kind: 'link' })}`,
  })

  expect(inside.body).toMatchObject({ response: { body: 'Inside.', url: `${origin}/home` } })
  expect(asked.body).toMatchObject({ withheld: 'password_sent', response: { body: '' } })
  expect(away).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(JSON.stringify([inside.body, asked.body])).not.toContain(token)
  const { body: feed } = await (await agent.withKey('read')).get('/wallet-activity-list')
  expect(JSON.stringify(feed)).toContain('GET a sign-in link')
  expect(JSON.stringify([feed, credential_id, world.log])).not.toContain(token)
})

test.each([
  ['its own address', { status: 404 }, ''],
  [
    'a site that repeats it',
    (said: string) => ({ html: `Nothing for ${decodeURIComponent(said)}` }),
    '',
  ],
  [
    'a form that the site answers with it',
    (said: string) => ({ html: `You wrote ${said}` }),
    'form',
  ],
])('a guess at a password is told alike, right or wrong, by %s', async (_, answer, way) => {
  const { agent, credential_id, step } = await openSite({
    'GET /': { html: '<form method="post" action="/x"><input name="name"></form>' },
    'GET /x': answer,
    'POST /x': answer,
  })
  const begun = await agent.post('/vault-login', { credential_id, path: '/' })
  const told = async (guess: string) => {
    const order =
      way === 'form'
        ? { form: 0, fields: { name: guess } }
        : { path: `/x?${encodeURIComponent(guess)}` }
    if (way === 'form') await step(begun.body['session'], { path: '/' })
    const { body } = await step(begun.body['session'], order)
    const { headers: _, ...shown } = z.looseObject({ url: z.string() }).parse(body['response'])
    return JSON.stringify(shown).replaceAll(guess, 'G').replaceAll(encodeURIComponent(guess), 'G')
  }

  const [right, wrong] = [await told('Canary-1 horse'), await told('Canary-2 horse')]

  expect(right).toBe(wrong)
  expect(right).not.toContain('removed')
})
