/** Beside a secret, an agent gives only what a person could choose; values that browsers keep stay. */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { approveAsked, approvePlace, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()

test.each([
  ['a select', '<select name="server"><option value="eu"><option value="us"></select>'],
  ['a field that is read only', '<input name="server" value="eu" readonly>'],
])('no other value of %s goes beside a password', async (_, field) => {
  const site = await serverThat((response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      `<form method="post"><input name="user"><input type="password" name="password">${field}</form>`,
    )
  })
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })

  const fields = { server: 'evil.example' }
  await agent.post('/vault-login', { credential_id, path: '/login', fields })

  const bodies = site.received.map(({ body }) => body.toString())
  expect(bodies.filter((body) => body.includes('Canary') && body.includes('evil'))).toEqual([])
})

/** Serves a page with this form. Returns calls to sign in and to read what was submitted. */
async function sendsOf(form: string, path: string) {
  const site = await serverThat((response, { url }) => {
    const told = new URL(url, 'http://site').searchParams.get('told') ?? ''
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<form method="post" action="/login">${form.replace('{told}', told)}</form>`)
  })
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  const login = (fields?: object) => agent.post('/vault-login', { credential_id, path, fields })
  const sent = () =>
    site.received.flatMap(({ method, body }) =>
      method === 'POST' ? [Object.fromEntries(new URLSearchParams(body.toString()))] : [],
    )
  return { credential_id, login, sent }
}

const usual = '<input name="user"><input type="password" name="password">'
const filledIn = { user: 'me', password: 'Canary-1 horse' }

test('what the page lets a person choose is chosen, and the rest stays as it is', async () => {
  const form = `${usual}<select name="at"><option value="eu">Europe<option>us</select>
    <input type="checkbox" name="keep" value="1"><input type="hidden" name="csrf" value="c">
    <input name="realm" value="main"><button name="go" value="in">In</button>
    <button name="go" value="link">By mail</button>`
  const { login, sent, credential_id } = await sendsOf(form, '/login')

  const refused = await login({ at: 'us', keep: '1', go: 'in' })
  await approveAsked(world, credential_id)
  const answer = await login({ at: 'us', keep: '1', go: 'in' })
  const other = await login({ at: 'eu', keep: '1', go: 'in' })

  expect([refused, other].map(({ status }) => status)).toEqual([403, 403])
  expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  const own = { csrf: 'c', realm: 'main' }
  expect(sent()).toEqual([{ ...filledIn, ...own, at: 'us', keep: '1', go: 'in' }])
})

test.each([
  ['a realm', { realm: 'other' }],
  ['a hidden field', { csrf: 'x' }],
  ['a text', { note: 'x' }],
  ['the user name', { user: 'mallory' }],
  ['a choice that is off', { at: 'off' }],
])('%s is not the agent’s to give beside a password', async (_, fields) => {
  const form = `${usual}<select name="at"><option>eu<option disabled>off</select>
    <input type="hidden" name="csrf"><input name="realm"><textarea name="note"></textarea>`
  const { login, sent } = await sendsOf(form, '/login')

  const answer = await login(fields)

  expect(answer).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(sent()).toEqual([])
})

test.each([
  ['a text', '<input name="server" value="{told}">'],
  ['a part of a text', '<input name="server" value="imap://{told}/in">'],
  ['a hidden field', '<input type="hidden" name="server" value="{told}">'],
  ['a choice', '<select name="server"><option>eu<option>{told}</select>'],
])('%s that the query of the page fills in is for the owner to approve', async (_, field) => {
  const { credential_id, login, sent } = await sendsOf(usual + field, '/login?told=evil.example')

  const before = await login()
  await world.db.sql`update private.vault_places set approved_at = private.clock()
    where entry = ${credential_id}`
  const [asked] = await world.db.sql<{ beside: string }[]>`
    select beside from private.vault_places where entry = ${credential_id}`
  const after = await login()

  expect(before).toMatchObject({ status: 403, body: { error: 'place_not_approved' } })
  expect(asked?.beside).toContain('evil.example')
  expect(after).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(sent()).toHaveLength(1)
})

test('a place for a form with one filled in field is none for it with another', async () => {
  const field = '<input name="server" value="{told}">'
  const { credential_id, login } = await sendsOf(usual + field, '/login?told=evil.example')
  const place = { kind: 'form', name: 'password', path: '/login' } as const
  await approvePlace(world, credential_id, { ...place, beside: '{"server":"mail.example"}' })

  expect(await login()).toMatchObject({ status: 403, body: { error: 'place_not_approved' } })
})

test('a box is ticked unasked, and the way that a page leads on to is approved with its words', async () => {
  const box = '<input type="checkbox" name="keep" value="1">'
  const next = '<input type="hidden" name="next" value="{told}">'
  const ticked = await sendsOf(usual + box, '/login')
  const { login, sent, credential_id } = await sendsOf(usual + next, '/login?told=/home')

  expect(await ticked.login({ keep: '1' })).toMatchObject({ status: 200 })
  expect(ticked.sent()).toEqual([{ ...filledIn, keep: '1' }])
  expect(await login()).toMatchObject({ status: 403, body: { error: 'place_not_approved' } })
  await approveAsked(world, credential_id)
  expect(await login()).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  expect(sent()).toEqual([{ ...filledIn, next: '/home' }])
})
