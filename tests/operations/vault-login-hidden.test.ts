/** No place for the owner to approve is hidden behind what an agent wrote. */
import { expect, test } from 'vitest'
import { readTotp } from '../../shared/vault/entries/totp.ts'
import { serverThat } from '../support/http.ts'
import { seed } from '../support/vault.ts'
import { entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const signIn = '<input name="user"><input type="password" name="password">'
const loginForm = `<form method="post" action="/login">${signIn}</form>`

async function openSite(pageAt: (path: string, posted: URLSearchParams) => string) {
  const site = await serverThat((response, { url, body }) => {
    const page = pageAt(new URL(url, 'http://site').pathname, new URLSearchParams(body.toString()))
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  })
  const agent = await world.agent('vault')
  const { origin } = new URL(site.url)
  const login = { site: origin, username: 'ada', password: 'Canary-1 horse "battery"' }
  const totp = readTotp(seed)
  if ('refused' in totp) throw new Error(totp.refused)
  const credential_id = await entryOf(world, agent, { ...login, totp })
  const open = async (path: string) =>
    (await agent.post('/vault-login', { credential_id, path })).body['session']
  const step = (session: unknown, order: object) =>
    agent.post('/vault-session', { session, ...order })
  return { agent, credential_id, open, step }
}

test('the owner reads what the agent said, also beside a code and in any encoding', async () => {
  const { agent, credential_id, open, step } = await openSite((path, posted) =>
    path === '/connect'
      ? loginForm.replace('</form>', `<input type="hidden" name="${posted.get('server')}"></form>`)
      : '<form method="post" action="/connect"><input name="server"></form>',
  )
  const session = await open('/')
  const { body } = await agent.post('/vault-totp', { credential_id })
  const filler = Buffer.from(`it is ${String(body['code'])} now and more`).toString('base64url')
  await step(session, { path: `/${filler}` })
  await step(session, { path: '/' })
  await step(session, { form: 0, fields: { server: 'imap.evil.example' } })

  expect(await step(session, { form: 0, secret: 'password' })).toMatchObject({
    status: 403,
    body: { error: 'place_not_approved' },
  })

  const [place] = await world.db.sql`
    select beside from private.vault_places where entry = ${credential_id}`
  expect(JSON.parse(String(place?.['beside']))).toEqual({
    agent: [`GET /${filler}`, 'form /connect', 'server=imap.evil.example'],
    fields: ['imap.evil.example'],
  })
})

test('an agent that said too much to read has no secret filled in', async () => {
  const { agent, credential_id, open, step } = await openSite((path) =>
    path === '/login' ? loginForm : 'Welcome',
  )
  const { body } = await agent.post('/vault-totp', { credential_id })
  const long = `is ${String(body['code'])} now${' and more of the same words'.repeat(52)}`
  const path = `/${Buffer.from(long).toString('base64url').slice(0, 1_990)}`
  const session = await open('/')
  for (const next of [path, path, path, '/login']) await step(session, { path: next })

  expect(await step(session, { form: 0, secret: 'password' })).toMatchObject({
    status: 422,
    body: { error: 'form_refused' },
  })
})
