/** Push services that never answer keep nobody else's notices waiting, and no owner enqueues pushes without bound. */
import { createECDH } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { serverThat } from '../support/http.ts'
import { openPerson } from '../support/person.ts'
import { randomBytes } from '../support/seed.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/web/notifications'
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Returns an owner's session, and a way to have a browser at this address receive pushes. */
async function withBrowsers() {
  const { agent } = await openPerson(world)
  const browser = await signedIn(world, agent)
  const p256dh = createECDH('prime256v1').generateKeys('base64url')
  const auth = Buffer.from(randomBytes(16)).toString('base64url')
  const add = async (endpoint: string) => {
    const { html } = await browser.visit(path)
    const [, form = ''] = /data-push-key.*?name="form" value="([^"]+)"/s.exec(html) ?? []
    const body = new URLSearchParams({ form, wanted: 'added', endpoint, p256dh, auth })
    return browser.send(path, { method: 'POST', body, headers: { origin: 'http://localhost' } })
  }
  return { agent, add }
}

test('the request of another account leaves, although a silent service was to get pushes before', async () => {
  const silent = await serverThat((_, { method, url, headers, body }) => {
    const sent = {
      method,
      url: new URL(url, silent.url).href,
      headers,
      body: body.toString('latin1'),
    }
    world.expire(sent)
  })
  const { add } = await withBrowsers()
  for (let n = 0; n < 40; n += 1) await add(`${silent.url}${Math.min(n, 9)}`)
  const victim = await openPerson(world, 100)
  const payee = await world.agent('read')
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '20.5' }
  await victim.agent.post('/wallet-custodial-transfer', order)

  const mails = await world.mails(victim.email)

  expect(mails.map(({ subject }) => subject)).toEqual([
    expect.stringContaining('Approve 20.5 USDC'),
  ])
  expect(silent.received).toHaveLength(5)
})

test('an owner who adds and removes browsers in turn is stopped after ten, for more than two hours', async () => {
  const { agent, add } = await withBrowsers()
  const statuses: number[] = []

  for (let n = 0; n < 11; n += 1) {
    statuses.push((await add(`http://127.0.0.1:9/${n}`)).status)
    await world.db.sql`delete from private.push_devices where account = ${agent.id}`
  }

  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429])
})

test('adding one browser again and again enqueues a bounded number of pushes', async () => {
  const { agent, add } = await withBrowsers()

  for (let n = 0; n < 60; n += 1) await add(`http://127.0.0.1:9/${Math.min(n, 9)}`)

  const [waiting] = await world.db.sql`select count(*)::integer as pushes from private.outbox
    where account = ${agent.id} and device is not null`
  expect(waiting?.['pushes']).toBeLessThanOrEqual(100)
})
