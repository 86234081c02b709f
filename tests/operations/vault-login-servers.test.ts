/**
 * A password goes to its own site and nowhere else. At an honest site a field can name the server to
 * contact: a webmail signs in to the named mail server, and a monitor calls the named address with the
 * named user and password. So the agent supplies nothing beside a password.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse "battery"'
const pair = Buffer.from(`ada:${password}`).toString('base64')

/** Server of the agent, which answers and records every request. */
const agents = await serverThat((response) => void response.writeHead(204).end())
const heard = () => agents.received.map(({ headers }) => String(headers.authorization))

const html = { 'content-type': 'text/html; charset=utf-8' }
const webmail = `<form method="post" action="/login"><input name="_user" autocomplete="username">
  <input type="password" name="_pass"><input name="_host"><button>Sign in</button></form>`
const monitor = `<form method="post" action="/monitors"><input name="url" type="url">
  <input name="username"><input type="password" name="password"><button>Save</button></form>`

/** Serves a site that, by design, calls the server that a form names, with the form's user and password. */
async function openSite(names: { user: string; pass: string; server: string }) {
  const site = await serverThat(
    (response, { method, url, body }) =>
      void (async () => {
        const sent = new URLSearchParams(body.toString())
        const target = sent.get(names.server) ?? ''
        if (method === 'POST' && URL.canParse(target)) {
          const both = `${sent.get(names.user)}:${sent.get(names.pass)}`
          const authorization = `Basic ${Buffer.from(both).toString('base64')}`
          await fetch(target, { headers: { authorization } }).catch(() => undefined)
          return void response.writeHead(302, { location: '/home' }).end()
        }
        const pages: Record<string, string> = { '/login': webmail, '/monitors/new': monitor }
        response.writeHead(200, html).end(`<!doctype html>${pages[url] ?? 'Hello'}`)
      })(),
  )
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })
  return { agent, credential_id }
}

test('a sign-in form with a field for the server takes no server of the agent beside a password', async () => {
  const { agent, credential_id } = await openSite({ user: '_user', pass: '_pass', server: '_host' })

  await agent.post('/vault-login', { credential_id, path: '/login', fields: { _host: agents.url } })

  expect(heard()).not.toContain(`Basic ${pair}`)
})

test('neither does a form in the session that has an address and a password', async () => {
  const names = { user: 'username', pass: 'password', server: 'url' }
  const { agent, credential_id } = await openSite(names)
  const begun = await signInAt(world, agent, { credential_id })
  const step = (order: object) =>
    agent.post('/vault-session', { session: begun.body['session'], ...order })
  await step({ path: '/monitors/new' })

  await step({ form: 0, fields: { url: agents.url }, secret: 'password' })

  expect(heard()).not.toContain(`Basic ${pair}`)
})

test('the user name of a sign-in is the entry’s, where its end says which server is asked', async () => {
  const site = await serverThat(
    (response, { method, body }) =>
      void (async () => {
        const sent = new URLSearchParams(body.toString())
        const host = sent.get('email')?.split('@')[1] ?? ''
        if (method === 'POST' && URL.canParse(`http://${host}/autodiscover`)) {
          const authorization = `Basic ${Buffer.from(`ada:${sent.get('password')}`).toString('base64')}`
          await fetch(`http://${host}/autodiscover`, { headers: { authorization } }).catch(
            () => undefined,
          )
        }
        response.writeHead(200, html)
        response.end(
          `<form method="post"><input name="email"><input type="password" name="password"></form>`,
        )
      })(),
  )
  agents.received.length = 0
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const entry = { site: origin, username: 'ada@mail.invalid', password }
  const credential_id = await entryOf(world, agent, entry)

  const fields = { email: `ada@${new URL(agents.url).host}` }
  await agent.post('/vault-login', { credential_id, path: '/login', fields })

  expect(heard()).not.toContain(`Basic ${pair}`)
})

test('neither does the address of the page fill in another server (Adminer)', async () => {
  const site = await serverThat(
    (response, { method, url, body }) =>
      void (async () => {
        const sent = new URLSearchParams(body.toString())
        const server = sent.get('auth[server]') ?? ''
        if (method === 'POST' && URL.canParse(`http://${server}/`)) {
          const both = `${sent.get('auth[username]')}:${sent.get('auth[password]')}`
          const authorization = `Basic ${Buffer.from(both).toString('base64')}`
          await fetch(`http://${server}/`, { headers: { authorization } }).catch(() => undefined)
        }
        const given = new URL(url, 'http://site').searchParams.get('server') ?? 'localhost'
        response.writeHead(200, html)
        response.end(`<form method="post"><input type="hidden" name="auth[driver]" value="server">
      <input name="auth[server]" value="${given.replaceAll(/[^\w.:-]/g, '')}"><input name="auth[username]"
      autocomplete="username"><input type="password" name="auth[password]"></form>`)
      })(),
  )
  agents.received.length = 0
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })

  const path = `/?server=${new URL(agents.url).host}`
  await agent.post('/vault-login', { credential_id, path })

  expect(heard()).not.toContain(`Basic ${pair}`)
})
