/** In a sign-in an agent ticks boxes and gives nothing else; values that the page has stay. */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const form = `<form method="post" action="/login"><input name="user"><input type="password" name="password">
  <select name="at"><option value="eu">Europe<option>us<option disabled>off</select>
  <input type="checkbox" name="keep" value="1"><input type="hidden" name="csrf" value="c">
  <input name="realm" value="main"><textarea name="note"></textarea><input name="fixed" value="a" readonly>
  <button name="go" value="in">In</button><button name="go" value="link">By mail</button></form>`

async function user() {
  const site = await serverThat((response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(form),
  )
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  const login = (fields: object) => signInAt(world, agent, { credential_id, fields })
  const sent = () =>
    site.received.flatMap(({ method, body }) =>
      method === 'POST' ? [Object.fromEntries(new URLSearchParams(body.toString()))] : [],
    )
  return { login, sent }
}

test('a box is ticked, and everything else is sent as the page has it', async () => {
  const { login, sent } = await user()

  const answer = await login({ keep: '1' })

  expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
  const own = { at: 'eu', csrf: 'c', realm: 'main', note: '', fixed: 'a', go: 'in' }
  expect(sent()).toEqual([{ user: 'me', password: 'Canary-1 horse', keep: '1', ...own }])
})

test.each([
  ['a realm', { realm: 'other' }],
  ['a hidden field', { csrf: 'x' }],
  ['a text', { note: 'x' }],
  ['a field that is read only', { fixed: 'x' }],
  ['the user name', { user: 'mallory' }],
  ['the password', { password: 'mine' }],
  ['a choice', { at: 'us' }],
  ['a choice that is off', { at: 'off' }],
  ['a button', { go: 'link' }],
])('%s is not the agent’s to give beside a password', async (_, fields) => {
  const { login, sent } = await user()

  const answer = await login(fields)

  expect(answer).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(sent()).toEqual([])
})
