/** 500 events to receivers of all kinds: each arrives where the receiver lives, and nothing reaches another place. */
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'
import { type Answering, answering, expiring, serverThat } from '../support/http.ts'
import { start } from '../support/world.ts'

const aoa = await start()
const eventsOfEach = 25
const created = z.object({ webhook_id: z.uuid(), secret: z.string() })

/** Does the first on the given requests of each three, and answers 200 else. */
function sometimes(odd: Answering, nths: readonly number[]): Answering {
  let requests = 0
  return (response, received) => {
    requests += 1
    if (nths.includes(requests % 3)) odd(response, received)
    else response.end()
  }
}

/** Does the first on this many requests, and answers 200 after them. */
function atFirst(odd: Answering, count: number): Answering {
  let requests = 0
  return (response, received) => {
    requests += 1
    if (requests <= count) odd(response, received)
    else response.end()
  }
}

test('each event arrives where its receiver lives, signed, and nowhere else', async () => {
  const elsewhere = await serverThat(answering(200))
  const redirect = answering(302, { location: elsewhere.url })
  const living: [string, Answering][] = [
    ['well', answering(200)],
    ['failing now and then', sometimes(answering(500), [1])],
    ['down for its first 30 requests', atFirst(answering(503), 30)],
    ['silent now and then', sometimes(expiring(aoa), [1])],
    ['hanging up now and then', sometimes((response) => response.destroy(), [2])],
    ['redirecting now and then', sometimes(redirect, [0])],
    ['talkative', answering(200, {}, 'a'.repeat(200_000))],
  ]
  const dead: [string, Answering][] = [
    ['always failing', answering(500)],
    ['always redirecting', redirect],
    ['gone', answering(410)],
  ]
  const open = async ([kind, answer]: [string, Answering]) => {
    const agent = await aoa.agent('pay')
    const receiver = await serverThat(answer)
    const made = async () => {
      const { body } = await agent.post('/account-webhook-create', { url: `${receiver.url}hook` })
      return created.parse(body)
    }
    return { kind, agent, receiver, webhooks: [await made(), await made()] }
  }
  const all = await Promise.all([...living, ...dead].map(open))
  for (const { agent } of all) {
    await aoa.db.sql`insert into private.activities (account, category, type, summary)
      select ${agent.id}, 'account', 'noted', 'Something happened.'
        from generate_series(1, ${eventsOfEach})`
  }

  for (let minutes = 0; minutes < 7 * 24 * 60; minutes += minutes < 300 ? 1 : 30) {
    await deliverEvents(aoa.world)
    await aoa.tick(minutes < 300 ? 60 : 1_800)
  }

  const events = await aoa.db.sql<{ account: string; event: string; arrived: boolean }[]>`
    select w.account, w.id || ' ' || e.event as event, e.arrived_at is not null as arrived
      from private.webhook_events e join private.webhooks w on w.id = e.webhook`
  for (const { kind, agent, receiver, webhooks } of all) {
    const lives = living.some(([name]) => name === kind)
    const own = events.filter(({ account }) => account === agent.id)
    expect(own.length).toBeGreaterThanOrEqual(2 * eventsOfEach + 3)
    expect([kind, own.filter(({ arrived }) => arrived).length]).toEqual([
      kind,
      lives ? own.length : 0,
    ])
    for (const { headers, body } of receiver.received) {
      const id = String(headers['webhook-id'])
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      const signatures = webhooks.map(({ secret }) => new Webhook(secret).sign(id, at, body))
      expect(signatures).toContain(headers['webhook-signature'])
    }
  }
  expect(events.length).toBeGreaterThan(500)
  expect(elsewhere.received).toEqual([])
})
