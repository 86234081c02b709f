/** Passwords drawn in the vault are shown to nobody and never lost. */
import { expect, test } from 'vitest'
import { ownerOf } from '../support/owner.ts'
import { loginOf, site, vaultFeedOf } from '../support/vault.ts'
import { type Agent, start } from '../support/world.ts'

const tests = await start()

async function secretOf(agent: Agent, entry: unknown) {
  const { credential } = await ownerOf(tests, agent)
  const read = await tests.world.vault?.read({ credential, entry: String(entry) })
  if (!read || !('secret' in read) || !read.secret) throw new Error(JSON.stringify(read))
  return read.secret
}

test('a drawn password is kept before it is told of, and told to nobody', async () => {
  const agent = await tests.agent('vault')

  const { status, body } = await agent.post('/vault-generate', { site, username: 'me' })

  expect(status).toBe(200)
  const { credential_id, ...rest } = body
  expect(rest).toEqual({ site, username: 'me', version: 1, length: 24 })
  const { password } = await secretOf(agent, credential_id)
  expect(password).toHaveLength(24)
  expect(JSON.stringify(body)).not.toContain(password)
  expect(await vaultFeedOf(tests, agent)).toEqual(['password_generated', 'secret_shown'])
})

test('a drawn password keeps the rules of the site', async () => {
  const agent = await tests.agent('vault')
  const rules = 'minlength: 12; maxlength: 14; required: digit; allowed: upper'

  const { body } = await agent.post('/vault-generate', { site, rules, exclude: 'O0', length: 13 })

  expect(body).toMatchObject({ length: 13 })
  const { password } = await secretOf(agent, body['credential_id'])
  expect(password).toMatch(/^(?=.*[1-9])[A-NP-Z1-9]{13}$/)
})

test.each([
  ['rules that cannot be kept', { rules: 'minlength: 20; maxlength: 10' }],
  ['a length that the rules forbid', { rules: 'maxlength: 10', length: 11 }],
])('%s are refused and change nothing', async (_, wish) => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent)

  const answer = await agent.post('/vault-generate', { credential_id: id, ...wish })

  expect(answer).toMatchObject({ status: 422, body: { error: 'credential_refused' } })
  expect(await secretOf(agent, id)).toEqual({ password: 'a password of mine' })
})

test('earlier passwords stay until one is given, for a site that was not told of the new one', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent, { fields: { pin: '1' } })

  for (let time = 0; time < 4; time += 1) await agent.post('/vault-generate', { credential_id: id })
  const drawn = await secretOf(agent, id)
  await loginOf(agent, { password: 'given' })

  expect(drawn.previous_passwords).toHaveLength(3)
  expect(new Set([drawn.password, ...(drawn.previous_passwords ?? [])]).size).toBe(4)
  expect(drawn.fields).toEqual({ pin: '1' })
  expect(await secretOf(agent, id)).toEqual({ password: 'given', fields: { pin: '1' } })
})

test('the first password is still there after three others were drawn', async () => {
  const agent = await tests.agent('vault')
  const id = await loginOf(agent)

  for (let time = 0; time < 3; time += 1) await agent.post('/vault-generate', { credential_id: id })

  const { previous_passwords } = await secretOf(agent, id)
  expect(previous_passwords?.at(-1)).toBe('a password of mine')
})

test('asked again with its key, it draws no second password', async () => {
  const agent = await tests.agent('vault')
  const headers = { 'idempotency-key': 'draw-once' }

  const first = await agent.post('/vault-generate', { site }, headers)
  const again = await agent.post('/vault-generate', { site }, headers)

  expect(first.status).toBe(200)
  expect(again.body).toEqual(first.body)
})

test.each([
  ['neither site nor credential_id', {}],
  ['both', { site, credential_id: '0f8fad5b-d9cb-469f-a165-70867728950e' }],
])('a wish that names %s is no request', async (_, wish) => {
  const agent = await tests.agent('vault')

  const answer = await agent.post('/vault-generate', wish)

  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})
