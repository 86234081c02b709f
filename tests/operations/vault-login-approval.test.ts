/**
 * A password of the owner goes into the field of a page that the owner approved once, in a session that begins
 * at that page. One that a key made is that key's to type at its site. A code goes into the form that answers
 * the sign-in.
 */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { serverThat } from '../support/http.ts'
import { textWith } from '../support/matching.ts'
import { ownerOf } from '../support/owner.ts'
import { loginOf } from '../support/vault.ts'
import { approveAsked, codeOf, entryOf, signInAt } from '../support/vault-rows.ts'
import { type Answer, start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'
const signIn = '<input name="user"><input type="password" name="password">'
const loginForm = `<form method="post" action="/login">${signIn}</form>`
const notApproved = { status: 403, body: { error: 'destination_not_approved' } }
const refused = { status: 422, body: { error: 'form_refused' } }

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
  const agent = await world.agent('full')
  const { origin } = new URL(site.url)
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })
  const login = (path = '/login') => agent.post('/vault-login', { credential_id, path })
  const approved = (path = '/login') => signInAt(world, agent, { credential_id, path })
  const step = ({ body }: Answer, order: object) =>
    agent.post('/vault-session', { session: body['session'], ...order })
  const told = () => posted.filter((one) => one.includes('Canary'))
  return { agent, origin, credential_id, login, approved, step, posted, told }
}

test('the owner reads page, address and fields, approves once, and is not asked again', async () => {
  let visits = 0
  const { agent, origin, credential_id, login, told } = await openSite({
    '/login': () => {
      visits += 1
      const action = `/in;jsessionid=A${visits}?session_code=c${visits}_8fJ2&client_id=shop`
      return `<form method="post" action="${action}"><input type="hidden" name="csrf" value="${visits}">${signIn}</form>`
    },
  })
  const browser = await signedIn(world, agent)

  const asked = await login()
  const { approval_url } = asked.body['details'] as { approval_url: string }
  const page = await browser.visit(approval_url)
  const sentBefore = told().length
  await browser.submit({ decision: 'approved' })
  const answers = [await login(), await login()]

  const form = `POST ${origin}/in?session_code=*&client_id=shop (* is any value), password as field "password" of the form; username as field "user" of the form`
  expect(asked).toMatchObject({
    ...notApproved,
    body: {
      details: {
        untrusted: { destinations: [`On ${origin}/login: ${form}`] },
        next: { tool: 'vault_login', arguments: { credential_id, path: '/login' } },
      },
    },
  })
  expect(page.text).toContain(`${origin}/login`)
  expect(sentBefore).toBe(0)
  expect(answers).toMatchObject([{ status: 200 }, { status: 200 }])
  expect(told()).toHaveLength(2)
})

test.each<[string, string, string]>([
  ['another page', '/other', loginForm],
  ['a page with a query', '/login?server=imap.evil.example', loginForm],
  ['a form that leads elsewhere', '/login', loginForm.replace('/login', '/connect')],
  ['another field', '/login', loginForm.replace('name="password"', 'name="bio"')],
  ['another field for the name', '/login', loginForm.replace('name="user"', 'name="server"')],
])('what was approved is not approved for %s', async (_, path, form) => {
  let page = loginForm
  const { login, approved, told } = await openSite({ '*': () => page })
  await approved()
  page = form

  expect(await login(path)).toMatchObject(notApproved)
  expect(told()).toHaveLength(1)
})

test('where several fields could be meant the owner picks one, and the others are not asked for again', async () => {
  const page = `<form method="post"><input type="password" name="trap">${signIn}</form>`
  const { agent, credential_id, login, told } = await openSite({ '/login': page })
  const browser = await signedIn(world, agent)

  const asked = await login()
  const { details } = asked.body as { details: { approval_url: string; untrusted: object } }
  const { html } = await browser.visit(details.approval_url)
  const forms = html.split('<form').filter((form) => form.includes('field &quot;password&quot;'))
  const picked = /action="([^"]+)"/.exec(forms[0] ?? '')?.[1]
  await browser.submit({ decision: 'approved' }, picked)
  const answer = await login()

  expect(details.untrusted).toMatchObject({
    destinations: [textWith('"trap"'), textWith('"password"')],
  })
  expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(told()).toEqual([`/login trap=&user=ada&password=${password.replaceAll(' ', '+')}`])
  const rows = await world.db
    .sql`select from private.vault_destinations where entry = ${credential_id}`
  expect(rows).toHaveLength(1)
})

test.each([
  ['no form at all', 'Welcome'],
  ['a search alone', '<form action="/search"><input name="q"></form>'],
  [
    'a form for another site',
    `<form method="post" action="https://evil.example/">${signIn}</form>`,
  ],
  [
    'a form that is sent in plain text',
    `<form method="post" enctype="text/plain">${signIn}</form>`,
  ],
])('a page with %s is refused with the reason, and not filled in silently', async (_, page) => {
  const { approved, posted } = await openSite({ '/login': page })

  const answer = await approved()

  expect(answer).toMatchObject(refused)
  expect(answer.body['message']).toMatch(/form/)
  expect(posted).toEqual([])
})

test('a sign-in on two pages is asked about once, as of the page that it begins at', async () => {
  const { login, approved, posted } = await openSite({
    '/login':
      '<form method="post" action="/name"><input name="user" autocomplete="username"></form>',
    'POST /name': '<form method="post" action="/secret"><input type="password" name="pw"></form>',
  })

  const first = await approved()
  const again = await login()

  expect(first).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(again).toMatchObject({ status: 200 })
  expect(posted.map((one) => one.split(' ')[0])).toEqual([
    '/name',
    '/name',
    '/secret',
    '/name',
    '/secret',
  ])
})

test.each([
  ['a server that the agent chose in a form before', '/', { server: 'imap.evil.example' }],
  ['a page that the agent opened', '/wiki/mallory', undefined],
])('in a session no password of the owner goes to %s', async (_, path, fields) => {
  const { approved, step, told } = await openSite({
    '/login': loginForm,
    '/': '<form method="post" action="/connect"><input name="server"></form>',
    'POST /connect': loginForm,
    '*': loginForm,
  })
  const begun = await approved()
  await step(begun, { path })
  if (fields) await step(begun, { form: 0, fields })

  expect(await step(begun, { form: 0, secret: 'password' })).toMatchObject(refused)
  expect(told()).toHaveLength(1)
})

test('a password that a key made is that key’s to type at its site, sign-up with two fields included', async () => {
  const { agent, origin, step, posted } = await openSite({
    '/login': loginForm,
    '/join':
      '<form method="post"><input name="email"><input type="password" name="p"><input type="password" name="again"><input type="password" name="trap" hidden></form>',
    '/change':
      '<form method="post"><input type="password" name="old"><input type="password" name="new"><input type="password" name="new2"></form>',
  })
  const { body } = await agent.post('/vault-generate', { site: origin, username: 'bot' })
  const credential_id = String(body['credential_id'])
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })
  const drawn = new URLSearchParams(posted[0]?.split(' ')[1]).get('password')

  await step(begun, { path: '/join' })
  await step(begun, { secret: 'password', fields: { email: 'bot@mail.example' } })
  await agent.post('/vault-generate', { credential_id })
  await step(begun, { path: '/change' })
  const changed = await step(begun, { secret: 'password' })

  const [, joined, last] = posted.map((one) => new URLSearchParams(one.slice(one.indexOf(' ') + 1)))
  expect(Object.fromEntries(joined ?? [])).toEqual({
    email: 'bot@mail.example',
    p: drawn,
    again: drawn,
    trap: '',
  })
  expect([last?.get('old'), last?.get('new')]).toEqual([drawn, last?.get('new2')])
  expect(last?.get('new')).not.toBe(drawn)
  expect(changed).toMatchObject({ status: 200, body: { filled: ['password'] } })
})

test('what the owner changed, and what another key made, is asked about', async () => {
  const { agent, origin } = await openSite({ '/login': loginForm })
  const credential_id = await loginOf(agent, { site: origin, username: 'bot' })
  const other = await agent.withKey('vault')
  const inject = [{ where: 'form_field', name: 'bio', secret: 'password' }]
  const ask = (of: typeof agent) => [
    of.post('/vault-login', { credential_id, path: '/login' }),
    of.post('/vault-use', { credential_id, method: 'POST', path: '/', inject }),
  ]

  const own = await Promise.all(ask(agent))
  const others = await Promise.all(ask(other))
  const { credential } = await ownerOf(world, agent)
  const entry = { site: origin, username: 'bot', password: 'Canary of the owner' }
  await world.world.vault?.store({ credential, entry })
  const after = await Promise.all(ask(agent))

  expect(own).toMatchObject([{ status: 200 }, { status: 200 }])
  expect([...others, ...after]).toMatchObject(Array.from({ length: 4 }, () => notApproved))
})

test.each([
  ['the form that answers the sign-in', '<input name="otp">', [], { status: 200 }],
  ['a form that the agent opened', '<input name="otp">', ['/otp'], notApproved],
  ['a field for a text', '<input name="status">', [], notApproved],
  ['a field beside a text', '<input name="otp"><input name="bio">', [], refused],
  ['a field that has a value', '<input name="otp" value="1234">', [], refused],
])('a mailed code that is sent to %s is answered so', async (_, fields, paths, expected) => {
  const form = `<form method="post" action="/otp">${fields}</form>`
  const { agent, credential_id, approved, step, told } = await openSite({
    '/login': loginForm,
    'POST /login': form,
    '/otp': form,
  })
  const handle = await codeOf(world, agent, { value: 'Canary-482915', hosts: ['127.0.0.1'] })
  const begun = await approved()
  for (const path of paths) await step(begun, { path })

  const put = await step(begun, { form: 0, secret: `mail.${handle}` })

  expect(put).toMatchObject(expected)
  expect(told().filter((one) => one.startsWith('/otp'))).toHaveLength(
    expected.status === 200 ? 1 : 0,
  )
  await approveAsked(world, credential_id)
  const again = await step(begun, { form: 0, secret: `mail.${handle}` })
  if (expected === notApproved) expect(again).toMatchObject({ status: 200 })
})

test('a code behind the user name alone is asked about once, since the agent chose the page', async () => {
  const { agent, login, step, told } = await openSite({
    '*': '<form method="post" action="/name"><input name="user" autocomplete="username"></form>',
    'POST /name': '<form method="post" action="/otp"><input name="otp"></form>',
  })
  const send = async (path: string) => {
    const handle = await codeOf(world, agent, { value: 'Canary-482916', hosts: ['127.0.0.1'] })
    return step(await login(path), { secret: `mail.${handle}` })
  }

  const asked = await send('/wiki/mallory')
  const { details } = asked.body as { details: { approval_url: string } }
  const browser = await signedIn(world, agent)
  await browser.visit(details.approval_url)
  await browser.submit({ decision: 'approved' })

  expect(asked).toMatchObject(notApproved)
  expect(told()).toEqual([])
  expect(await send('/login')).toMatchObject({ status: 200, body: { filled: ['code'] } })
})
