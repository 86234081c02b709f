/** The rules for a new password cannot choose it: rules that leave few passwords are refused. */
import { expect, test } from 'vitest'
import type { LoginPages } from '../support/login-site.ts'
import { openLoginSite } from '../support/login-site.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const username = 'ada@mail.example'
const old = 'Canary-1 horse "battery"'
const fresh = ['new_password', 'new_password_confirmation']
const pages: LoginPages = {
  login: `<form method="post" action="/login">{csrf}<input name="username">
    <input type="password" name="password"><button>Sign in</button></form>`,
  change: {
    form: `<form method="post" action="/password">{csrf}
      <input type="password" name="current_password" autocomplete="current-password">
      <input type="password" name="new_password" autocomplete="new-password">
      <input type="password" name="new_password_confirmation"></form>`,
    current: 'current_password',
    fresh,
  },
}

test.each([
  ['one character', 'allowed: [a]; maxlength: 8', (password: string) => password === 'aaaaaaaa'],
  [
    'two characters',
    'allowed: [ab]; maxlength: 8',
    (password: string) => /^[ab]{8}$/.test(password),
  ],
])('an agent does not choose the new password by rules of %s', async (_, rules, isGuessed) => {
  const site = await openLoginSite(pages, { username, password: old })
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: site.origin, username, password: old })
  const place = { kind: 'form', secret: 'new_password', path: '/password' } as const
  const also = [{ name: 'current_password' }]
  await approvePlace(world, credential_id, { ...place, name: fresh.join(' + '), also })
  const { body } = await agent.post('/vault-login', { credential_id, path: '/login' })
  const step = (order: object) =>
    agent.post('/vault-session', { session: body['session'], ...order })
  await step({ path: '/password' })

  const changed = await step({ form: 0, secret: 'new_password', rules })

  expect(changed).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(isGuessed(site.account.password)).toBe(false)
  expect(site.account.password).toBe(old)
})

test('neither by rules of vault_generate, which shows it to nobody', async () => {
  const agent = await world.agent('full')
  const wide = { site: 'https://shop.example.com', username, length: 12 }

  const drawn = await agent.post('/vault-generate', { ...wide, rules: 'allowed: [a]' })
  const guessed = await agent.post('/vault-generate', { ...wide, rules: 'allowed: digit' })
  const other = await agent.post('/vault-generate', { ...wide, rules: 'allowed: lower' })

  for (const answer of [drawn, guessed]) {
    expect(answer).toMatchObject({ status: 422, body: { error: 'credential_refused' } })
  }
  expect(other.status).toBe(200)
})
