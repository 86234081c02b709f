import { beforeAll, expect, test } from 'vitest'
import type { Received, TestServer } from '../support/http.ts'
import { answering, serverThat } from '../support/http.ts'
import { entryOf } from '../support/vault-rows.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

const path = '/vault-use'
const password = 'Canary-1 horse "battery"'
const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]

let world: TestWorld
let shop: TestServer
let site: string
beforeAll(async () => {
  world = await start()
  shop = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  site = new URL(shop.url).origin
})

async function stored(agent: Agent, origin = site) {
  const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 }
  return entryOf(world, agent, {
    site: origin,
    username: 'me@example.com',
    password,
    totp: { ...totp, algorithm: 'SHA1' },
    fields: { token: 'tok-4711-xyz' },
  })
}

function last({ received }: TestServer): Received {
  const request = received.at(-1)
  if (!request) throw new Error('the site was asked nothing')
  return request
}

test('sends the secret to the site in one request and answers what the site said', async () => {
  const agent = await world.agent('vault')
  const credential_id = await stored(agent)

  const answer = await agent.post(path, {
    credential_id,
    method: 'POST',
    path: '/login?next=%2F',
    headers: { Accept: 'text/plain' },
    form: { user: 'me' },
    inject,
  })

  const { method, url, headers, body } = last(shop)
  expect(answer).toMatchObject({
    status: 200,
    body: { status: 200, body: 'welcome', cookies: [], truncated: false, removed: 0 },
  })
  expect(answer.body['headers']).toMatchObject({ 'content-type': 'text/plain' })
  expect([method, url, headers['accept']]).toEqual(['POST', '/login?next=%2F', 'text/plain'])
  expect([...new URLSearchParams(body.toString())]).toEqual([
    ['user', 'me'],
    ['pass', password],
  ])
})
