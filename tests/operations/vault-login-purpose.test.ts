/**
 * Without approval, a password goes only into a form that signs in with the entry's user name, judged by
 * its target. It never goes into a form that creates, shows or stores something, even if its field has a
 * usual name.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'
const html = { 'content-type': 'text/html; charset=utf-8' }

const register = `<h1>Create your account</h1><form method="post" action="/register" id="sign-up">
  <input name="email" type="email"><input name="password" type="password"><button>Sign up</button></form>`
const room = `<h1>New room</h1><form method="post" action="/rooms"><input name="topic">
  <input name="invite" type="email"><input name="password" type="password"><button>Open</button></form>`
const reset = `<h1>Choose a new password</h1><form method="post" action="/reset">
  <input name="password" type="password"><button>Set password</button></form>`

function formOf(action: string, fields = '<input name="username">', more = '') {
  const password = '<input type="password" name="password">'
  return `<form method="post" action="${action}" ${more}>${fields}${password}</form>`
}

test.each([
  [
    'a sign-up, which mails its data to the new member',
    '/register',
    register,
    { email: 'me@evil.example' },
  ],
  [
    'a room, which tells its password to who is invited',
    '/rooms/new',
    room,
    { invite: 'me@evil.example' },
  ],
  ['a new password after a reset', '/reset?t=1', reset, {}],
  ['a profile', '/profile', formOf('/profile', '<input name="name">'), {}],
  ['a share', '/share/7', formOf('/share/7'), {}],
  ['a comment', '/post/7', formOf('/comments', '<input name="user">'), {}],
  ['a webhook', '/hooks', formOf('/hooks', '<input name="user">'), {}],
  ['a page of a wiki that is called so', '/wiki/login', formOf('/wiki/login'), {}],
  ['a sign-up where the site signs in', '/login', formOf('/login', '', 'id="sign-up"'), {}],
  ['a sign-up below it', '/login', formOf('/login/register'), {}],
  ['a form without a user name', '/login', formOf('/login', ' '), {}],
])('%s takes no password of the entry', async (_, path, page, fields) => {
  const mails: string[] = []
  const site = await serverThat((response, { method, body }) => {
    const sent = new URLSearchParams(body.toString())
    const to = sent.get('email') ?? sent.get('invite') ?? 'the page'
    if (method === 'POST') mails.push(`To: ${to}\n\nThe password is: ${sent.get('password')}`)
    response.writeHead(200, html).end(method === 'POST' ? 'Done' : page)
  })
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })

  await agent.post('/vault-login', { credential_id, path, fields })

  expect(mails.join('\n')).not.toContain(password)
})

async function user(pages: Record<string, string>) {
  const sent: string[] = []
  const site = await serverThat((response, { method, url, body }) => {
    const { pathname } = new URL(url, 'http://site')
    if (method === 'POST') sent.push(`${pathname} ${body.toString()}`)
    response.writeHead(200, html).end(pages[`${method} ${pathname}`] ?? 'Done')
  })
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, {
    site: origin,
    username: 'ada',
    password: 'pw-4711',
  })
  const login = (path: string) => agent.post('/vault-login', { credential_id, path })
  const step = (session: unknown, order: object) =>
    agent.post('/vault-session', { session, ...order })
  return { credential_id, login, step, sent }
}

test.each([
  '/login',
  '/users/sign_in',
  '/wp-login.php',
  '/doLogin',
  '/session',
  '/api/auth/callback/credentials',
  '/j_spring_security_check',
  '/account/logon',
])('a form that leads to %s signs in unasked', async (action) => {
  const { login, sent } = await user({ 'GET /': formOf(action) })

  const answer = await login('/')

  expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(sent).toEqual([`${action} username=ada&password=pw-4711`])
})

test('any other form that signs in does so once its owner approved it', async () => {
  const { credential_id, login, sent } = await user({ 'GET /': formOf('/index.php?route=account') })

  const before = await login('/')
  const path = '/index.php?route=account'
  await approvePlace(world, credential_id, { kind: 'form', name: 'password', path })
  const after = await login('/')

  expect(before).toMatchObject({ status: 403, body: { error: 'place_not_approved' } })
  expect(after).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(sent).toHaveLength(1)
})

test('of several forms of a page the one that signs in is sent', async () => {
  const { login, sent } = await user({ 'GET /': formOf('/register') + formOf('/login') })

  expect(await login('/')).toMatchObject({ status: 200 })
  expect(sent).toEqual(['/login username=ada&password=pw-4711'])
})

const first = '<form method="post" action="/login"><input name="email" type="email"></form>'
const second = '<form method="post" action="/next"><input type="password" name="password"></form>'

test('a page for the password alone is filled in behind the entry’s name, and behind no other', async () => {
  const pages = { 'GET /login': first, 'POST /login': second, 'GET /next': second }
  const { login, step, sent } = await user(pages)

  const whole = await login('/login')
  const later = await step(whole.body['session'], { path: '/login' })
  const other = await step(whole.body['session'], { form: 0, fields: { email: 'me@evil.example' } })
  await step(whole.body['session'], { path: '/next' })
  const alone = await step(whole.body['session'], { form: 0, secret: 'password' })
  const fresh = await step((await login('/')).body['session'], { path: '/login' })
  await step(fresh.body['session'], { form: 0 })
  const again = await step(fresh.body['session'], { form: 0, secret: 'password' })

  expect([whole, later, again].map(({ status }) => status)).toEqual([200, 200, 200])
  expect(other).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(alone).toMatchObject({ status: 403, body: { error: 'place_not_approved' } })
  expect(sent.filter((one) => one.includes('pw-4711'))).toHaveLength(2)
})
