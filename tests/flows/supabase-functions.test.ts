/**
 * The operations as they are written for Supabase, under real Deno: custody and the vault are called over HTTP, and
 * sign and use what they would over a binding.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { openDoor } from '../support/edge/door.ts'
import type { Front } from '../support/edge/fake-supabase-front.ts'
import { serveWritten } from '../support/edge/written.ts'
import { atEnd } from '../support/ending.ts'
import { answering, serverThat } from '../support/http.ts'
import { openMailbox } from '../support/mailbox.ts'
import { openMarket, priceAtomic } from '../support/market.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, userAgent } from '../support/world.ts'

const market = await openMarket()
const publishable = 'sb_publishable_of_the_project'
const directory = mkdtempSync(join(tmpdir(), 'aoa-supabase-'))
const lines: string[] = []
let front: Front
let url: string

beforeAll(async () => {
  // Deno has no clock of a test, and custody's side has to know its time.
  let door: ReturnType<typeof openDoor> | undefined
  const workers = await listen((request) => door?.enter(request) ?? Response.error())
  const config = { ...market.world.config, BASE_URL: workers.url }
  door = openDoor({ ...market.world, config, now: () => new Date() })
  atEnd(() => workers.close())
  const values = { ...market.bindings.product, BASE_URL: workers.url }
  front = await serveWritten(directory, values, (line) => lines.push(line))
  const served = await listen((request) => front.answer(request))
  atEnd(() => served.close())
  url = served.url
}, 60_000)
afterAll(async () => {
  await front.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function call(agent: Agent, name: string, body?: object) {
  const answer = await fetch(`${url}/functions/v1/${name}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      apikey: publishable,
      authorization: `Bearer ${agent.key}`,
      'user-agent': userAgent,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('every operation is there, and no function that holds keys, serves pages or takes mail', () => {
  expect(front.names.toSorted()).toEqual(
    [...new Set(contracts.map(({ folder }) => folder))].toSorted(),
  )
})

test('identity and balances are told to an agent that also sends the key of the project', async () => {
  const agent = await market.agent('pay', { usdc: 3 })

  expect(await call(agent, 'get-identity')).toMatchObject({
    status: 200,
    body: { alias: agent.alias },
  })
  const { status, body } = await call(agent, 'get-wallet-balances', {})
  expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('"3')])
})

test('keys of the project are no credentials, alone or beside one of ours', async () => {
  const agent = await market.agent('read')
  const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl'
  const refused = { status: 401, body: { error: 'unauthorized' } }

  for (const key of [publishable, jwt, 'sb_secret_of_the_project']) {
    expect(await call({ ...agent, key }, 'get-identity')).toMatchObject(refused)
  }
  const { functions } = createClient(url, publishable)
  const bare = await functions.invoke('get-identity', { method: 'GET' })
  const ours = await functions.invoke('get-identity', {
    method: 'GET',
    headers: { authorization: `Bearer ${agent.key}` },
  })
  expect(bare.response?.status).toBe(401)
  expect(ours.data).toMatchObject({ alias: agent.alias })
})

test('custody signs a transfer that was asked for at Supabase, and the chain shows it', async () => {
  const [payer, payee] = [await market.agent('pay', { usdc: 2 }), await market.agent('pay')]
  await market.acquaint(payer, payee.address)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1.5' }

  const paid = await call(payer, 'wallet-custodial-transfer', order)

  expect(paid).toMatchObject({ status: 200, body: { status: 'submitted' } })
  await expect.poll(() => market.usdcOf(payee.address)).toBe(1_500_000n)
})

test('a login is stored in the vault, and used at its site without being shown', async () => {
  const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  const agent = await market.agent('vault')
  const { origin } = new URL(site.url)
  const secret = { password: 'Canary-1 horse' }
  const stored = await call(agent, 'vault-store', {
    site: 'https://shop.example.com',
    username: 'me',
    ...secret,
  })
  const credential_id = await entryOf(market, agent, { site: origin, ...secret })
  await approveDestination(market, credential_id, { name: 'pass', path: '/login' })
  const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]

  const used = await call(agent, 'vault-use', {
    credential_id,
    method: 'POST',
    path: '/login',
    inject,
  })

  expect(stored).toMatchObject({ status: 200, body: { username: 'me', version: 1 } })
  expect(used).toMatchObject({ status: 200, body: { response: { status: 200 } } })
  expect(site.received[0]?.body.toString()).toBe('pass=Canary-1+horse')
  expect(JSON.stringify([stored, used])).not.toContain('Canary')
})

test('a mail is sent, one that came is read with its file, and both are listed', async () => {
  const box = await openMailbox(market)
  const { agent } = box
  const to = 'someone@people.example'

  const sent = await call(agent, 'mail-send', { to: [to], subject: 'Hello', text: 'Hello.' })
  const listed = await call(agent, 'mail-list?direction=out')
  await box.receiveFiles({ subject: 'A file' }, [{ filename: 'words.txt', content: 'Good day.' }])
  const { mail_id } = await box.newest()
  const file = await call(agent, `mail-read?mail_id=${mail_id}&attachment=1`)

  expect(sent).toMatchObject({ status: 200, body: { subject: 'Hello' } })
  expect((await market.mails(to)).map(({ subject }) => subject)).toEqual(['Hello'])
  expect(file.body).toMatchObject({ untrusted: { attachment: { text: 'Good day.' } } })
  expect(listed.body).toMatchObject({ mails: [{ mail_id: sent.body['mail_id'] }] })
})

test('an x402 resource is paid for once, to the unit, and handed over', async () => {
  const agent = await market.agent('pay', { usdc: 1 })

  const { body } = await call(agent, 'x402-payment-prepare', {
    resource_url: market.merchant.v2Url,
  })
  const { attempt_id } = body
  const bought = await call(agent, 'x402-payment-execute', { attempt_id, user_confirmed: true })
  const again = await call(agent, 'x402-payment-execute', { attempt_id, user_confirmed: true })

  expect([bought.status, again.status]).toEqual([200, 200])
  await expect.poll(() => market.usdcOf(agent.address)).toBe(1_000_000n - priceAtomic)
})
