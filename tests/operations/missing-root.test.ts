/** A function that lacks a root that is still in use loses nothing, and works again once it has it. */
import { beforeAll, expect, test } from 'vitest'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import { deliver, messageOf } from '../support/inbound.ts'
import { rootKeys, storedKeys } from '../support/rotation.ts'
import { type Agent, mailDomain, start, type TestWorld, type Worker } from '../support/world.ts'

const site = 'https://shop.example.com'
const login = { site, username: 'me', password: 'a password', totp_secret: 'JBSWY3DPEHPK3PXP' }

let world: TestWorld
let agent: Agent
let bereft: Worker
let entry: unknown
beforeAll(async () => {
  world = await start({ rootKeys: rootKeys([1]) })
  agent = await world.agent('pay')
  bereft = world.worker({ rootKeys: rootKeys([2]) })
  entry = (await agent.post('/vault-store', login)).body['credential_id']
  await deliver(world.world, letterTo(agent))
})

function letterTo({ alias }: Agent) {
  const text = 'Your code is 481516.'
  return { to: `${alias}@${mailDomain}`, from: 'shop@shop.example.com', subject: 'Hello', text }
}

async function everything() {
  const { sql } = world.db
  return {
    keys: await storedKeys(world.db),
    entries: await sql`select id, version, sealed from private.vault_entries`,
    mails: await sql`select id, sealed_head, sealed_body from private.mails`,
  }
}

const inject = [{ where: 'bearer', secret: 'password' }]

test.each([
  ['vault-store', () => ({ ...login, password: 'another' })],
  ['vault-generate', () => ({ site, username: 'me' })],
  ['vault-totp', () => ({ credential_id: entry })],
  ['vault-use', () => ({ credential_id: entry, method: 'GET', path: '/', inject })],
])('%s answers 503, tells the operator which root, and changes nothing', async (path, input) => {
  const before = await everything()

  const answer = await bereft.post(agent, `/${path}`, input())

  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(world.log.at(-1)?.['log']).toContain('vault has no root of version 1')
  expect(await everything()).toEqual(before)
  expect((await agent.post('/vault-totp', { credential_id: entry })).status).toBe(200)
})

test('mail is not shown without its root, and is there again with it', async () => {
  const answer = await bereft.get(agent, '/mail-list')

  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(world.log.at(-1)?.['log']).toContain('mail has no root of version 1')
  expect((await agent.get('/mail-list')).body['mails']).toHaveLength(1)
})

test('mail that comes in meanwhile is to be sent again later, and is kept then', async () => {
  const [to, from] = [`${agent.alias}@${mailDomain}`, 'shop@shop.example.com']
  const raw = new TextEncoder().encode(messageOf({ ...letterTo(agent), subject: 'Again' }))
  const delivery = { envelopeFrom: from, envelopeTo: to, raw }

  expect(await receiveMail(bereft.world, delivery)).toEqual({ refused: 'unavailable' })
  expect(await receiveMail(world.world, delivery)).toBe('kept')
})
