/**
 * A secret goes unasked only where the agent has said nothing: what it put into an address or a form can name a
 * server, a tenant or a page of members, and a site may write it into any form in any way.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { approveAsked, codeOf, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'
const signIn = '<input name="user"><input type="password" name="password">'
const loginForm = `<form method="post" action="/login">${signIn}</form>`
const refused = { status: 403, body: { error: 'place_not_approved' } }

type Sent = { path: string; query: URLSearchParams; fields: URLSearchParams }
/** Pages by their paths; a path with `POST ` in front is a form that was sent there. */
type Pages = Record<string, string | ((sent: Sent) => string)>

/** Opens a site of these pages, an account with a login there, and calls for its agent. */
async function openSite(pages: Pages) {
  const posted: string[] = []
  const site = await serverThat((response, { method, url, body }) => {
    const { pathname: path, searchParams: query } = new URL(url, 'http://site')
    const fields = new URLSearchParams(body.toString())
    if (method === 'POST') posted.push(`${url} ${decodeURIComponent(fields.toString())}`)
    const page = pages[method === 'POST' ? `POST ${path}` : path] ?? pages['*'] ?? 'Welcome'
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(typeof page === 'string' ? page : page({ path, query, fields }))
  })
  const agent = await world.agent('vault')
  const { origin } = new URL(site.url)
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })
  const login = (path: string) => agent.post('/vault-login', { credential_id, path })
  const step = (session: unknown, order: object) =>
    agent.post('/vault-session', { session, ...order })
  const told = () => posted.filter((one) => one.includes('Canary'))
  return { agent, credential_id, login, step, told }
}

const hidden = (value: string) =>
  `<form method="post" action="/login">${signIn}<input type="hidden" name="server" value="${value}"></form>`
const junk = Array.from({ length: 64 }, (_, at) => `a${at}=junk${at}`).join('&')

test.each([
  [
    'the query of the page',
    '/login?server=imap.evil.example',
    `<form method="post">${signIn}</form>`,
  ],
  ['a path', '/imap.evil.example/login', hidden('imap.evil.example')],
  ['the name of a parameter', '/login?imap.evil.example=1', hidden('imap.evil.example')],
  [
    'a value that is escaped',
    '/login?s=imaps://evil.example',
    hidden('imaps%3A%2F%2Fevil.example'),
  ],
  ['a value that is rewritten', '/login?s=HTTPS:evil.example', hidden('https://evil.example/')],
  ['one of many values', `/login?s=evil.example&${junk}`, hidden('evil.example')],
  ['a path of two letters', '/xy/login', hidden('xy')],
])('a server that the agent named in %s is sent nothing unasked', async (_, path, page) => {
  const { login, told } = await openSite({ '*': page })

  expect(await login(path)).toMatchObject(refused)
  expect(told()).toEqual([])
})

test('nor is a tenant, whose sign-in the owner approves once, whatever codes its address has', async () => {
  let visits = 0
  const { login, told, credential_id } = await openSite({
    '*': ({ path }) => {
      visits += 1
      const action = `${path}login-actions/authenticate?session_code=c${visits}_8fJ2&client_id=shop`
      return `<form method="post" action="${action}">${signIn}</form>`
    },
  })

  expect(await login('/realms/acme/')).toMatchObject(refused)
  await approveAsked(world, credential_id)
  expect(await login('/realms/acme/')).toMatchObject({ status: 200 })
  expect(await login('/realms/acme/')).toMatchObject({ status: 200 })
  expect(await login('/realms/evil/')).toMatchObject(refused)
  expect(told()).toHaveLength(2)
})

test('nor is a server that the agent chose in a form before', async () => {
  const connect =
    '<form method="post" action="/connect"><input name="server"><select name="port"><option>993</select></form>'
  const { login, step, told } = await openSite({ '/': connect, 'POST /connect': loginForm })
  const { body } = await login('/')

  const chosen = await step(body['session'], { form: 0, fields: { server: 'imap.evil.example' } })
  const sent = await step(body['session'], { form: 0, secret: 'password' })

  expect(chosen).toMatchObject({ status: 200 })
  expect(sent).toMatchObject(refused)
  expect(told()).toEqual([])
})

test('a page of members behind a sign-in in two steps takes no password', async () => {
  const page = (next: string, field: string, action: string) =>
    `<form method="post" action="${action}"><input type="hidden" name="next" value="${next}">${field}</form>`
  const room =
    '<form method="post" action="/rooms/7"><input type="password" name="password"></form>'
  const { login, step, told, credential_id } = await openSite({
    '/login': ({ query }) =>
      page(query.get('next') ?? '/', '<input name="email" type="email">', '/login'),
    'POST /login': ({ fields }) =>
      page(fields.get('next') ?? '/', '<input type="password" name="password">', '/login/password'),
    'POST /login/password': room,
  })

  expect(await login('/login?next=/rooms/7')).toMatchObject(refused)
  await approveAsked(world, credential_id)
  const { body } = await login('/login?next=/rooms/7')
  const set = await step(body['session'], { form: 0, secret: 'password' })
  const plain = await login('/login')
  const again = await step(plain.body['session'], { form: 0, secret: 'password' })

  expect([set, again]).toMatchObject([refused, refused])
  expect(told().filter((one) => one.startsWith('/rooms'))).toEqual([])
})

test.each([
  ['that the agent opened', '', ['/rooms/7']],
  ['that has a value already', 'value="1234"', []],
])('a mailed code goes into no field %s', async (_, value, paths) => {
  const room = `<form method="post" action="/rooms/7"><input name="pin" ${value}></form>`
  const { agent, login, step, told } = await openSite({
    '/login': loginForm,
    'POST /login': room,
    '/rooms/7': room,
  })
  const handle = await codeOf(world, agent, { value: 'Canary-482915', hosts: ['127.0.0.1'] })
  const { body } = await login('/login')
  for (const path of paths) await step(body['session'], { path })

  const put = await step(body['session'], { form: 0, secret: `mail.${handle}` })

  expect(put).toMatchObject(refused)
  expect(told().filter((one) => one.startsWith('/rooms'))).toEqual([])
})

test('the seed of one-time codes is removed from what a site shows', async () => {
  const seed = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
  const site = await serverThat((response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<code>${seed}</code><a href="otpauth://totp/Shop:ada?secret=${seed}">Open</a>`)
  })
  const agent = await world.agent('vault')
  const totp = { seed, algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
  const given = { site: new URL(site.url).origin, username: 'ada', password, totp }
  const credential_id = await entryOf(world, agent, given)

  const { status, body } = await agent.post('/vault-login', { credential_id, path: '/' })

  expect(status).toBe(200)
  expect(JSON.stringify(body)).not.toContain(seed.slice(0, 8))
})
