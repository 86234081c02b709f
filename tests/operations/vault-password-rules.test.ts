/** The rules for a new password cannot choose it: rules that leave few passwords are refused. */
import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const username = 'ada@mail.example'

test('an agent does not choose a password by the rules of vault_generate', async () => {
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
