/** The status of a mandate shows its state, its use and what is left, page by page. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { askMandate, giveMandate } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import type { Agent } from '../support/world.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

const path = '/payment-mandate-status'
const someId = '0f8fad5b-d9cb-469f-a165-70867728950e'

const mandate = z.looseObject({ mandate_id: z.string(), status: z.string(), summary: z.string() })
const listed = z.looseObject({ mandates: z.array(mandate), next_cursor: z.string().nullable() })

async function list(agent: Agent, query: Record<string, string> = {}) {
  const answer = await agent.get(`${path}?${new URLSearchParams(query).toString()}`)
  return listed.parse(answer.body)
}

async function statusOf(agent: Agent, id: string) {
  const { mandates } = await list(agent, { mandate_id: id })
  expect(mandates).toHaveLength(1)
  return mandates[0]?.status
}

/** Pays the honest test merchant 0.01 USD. */
async function buy(agent: Agent) {
  const prepared = await prepare(agent, { resource_url: market.merchant.v2Url })
  return execute(agent, attemptOf(prepared), false)
}

test('every state is told by its name and found by it', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const asked = await askMandate(market, agent)
  const declined = await askMandate(market, agent)
  const ending = await giveMandate(market, agent, { ttl_seconds: 60 })
  const suspended = await giveMandate(market, agent)
  const revoked = await giveMandate(market, agent)
  const used = await giveMandate(market, agent, { max_payments: 1, ttl_seconds: 3_600 })
  const { owner } = used
  await owner.call('owner_decide_mandate', {
    mandate: declined.id,
    decision: 'declined',
    digest: declined.digest,
  })
  await owner.call('owner_suspend_mandate', { mandate: suspended.id, suspended: true })
  await agent.post('/payment-mandate-revoke', { mandate_id: revoked.id })
  await market.tick(61)
  await buy(agent)
  const active = await giveMandate(market, agent)

  const states = {
    active: active.id,
    exhausted: used.id,
    revoked: revoked.id,
    suspended: suspended.id,
    expired: ending.id,
    declined: declined.id,
    pending_approval: asked.id,
  }

  for (const [status, id] of Object.entries(states)) {
    expect(await statusOf(agent, id)).toBe(status)
    const { mandates } = await list(agent, { status })
    expect(mandates.map((one) => one.mandate_id)).toEqual([id])
  }
  const { mandates } = await list(agent)
  expect(mandates.map((one) => one.mandate_id)).toEqual(Object.values(states))
})

test('what a payment uses is spent at once, and of today for 24 hours', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id } = await giveMandate(market, agent, {
    max_day_usd_micros: '5000000',
    max_total_usd_micros: '100000000',
    max_payments: 30,
  })

  await buy(agent)
  await market.passOnChain(1)
  await runHousekeeping(market.world)

  const today = await list(agent, { mandate_id: id })
  expect(today.mandates).toMatchObject([
    {
      status: 'active',
      spent: { today_usd: '0.01', total_usd: '0.01', payments: 1 },
      left: { today_usd: '4.99', total_usd: '99.99', payments: 29 },
    },
  ])
  const resets = z
    .object({ left: z.object({ today_resets_at: z.iso.datetime() }), created_at: z.string() })
    .parse(today.mandates[0])
  const hours = (Date.parse(resets.left.today_resets_at) - Date.parse(resets.created_at)) / 3.6e6
  // The day begins with the end of the signature, minutes later.
  expect(hours).toBeGreaterThan(24)
  expect(hours).toBeLessThan(24.2)
})

test('a cap that the owner narrowed is told as narrowed', async () => {
  const agent = await market.agent('pay')
  const { id } = await askMandate(market, agent)
  const { owner } = await giveMandate(market, agent)
  await owner.call('owner_narrow_mandate', {
    mandate: id,
    max_payment_usd_micros: '1000000',
    max_day_usd_micros: '2000000',
    max_total_usd_micros: null,
    max_payments: null,
    include_subdomains: false,
    expires_at: new Date(market.world.now().getTime() + 3_600_000).toISOString(),
  })

  const { mandates } = await list(agent, { mandate_id: id })

  expect(mandates).toMatchObject([
    {
      narrowed: true,
      caps: { max_amount_per_payment_usd: '1', max_amount_per_day_usd: '2', max_total_usd: null },
    },
  ])
})

test('pages follow one another without a gap, newest first', async () => {
  const agent = await market.agent('pay')
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) ids.unshift((await askMandate(market, agent)).id)

  const first = await list(agent, { limit: '2' })
  const second = await list(agent, { limit: '2', cursor: first.next_cursor ?? '' })
  const third = await list(agent, { limit: '2', cursor: second.next_cursor ?? '' })

  const pages = [first, second, third].map((page) => page.mandates.map((one) => one.mandate_id))
  expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
  expect(third.next_cursor).toBeNull()
})

test("a stranger's mandate is answered like one that does not exist, in every operation", async () => {
  const { id } = await giveMandate(market, await market.agent('pay'))
  const stranger = await market.agent('full')
  await giveMandate(market, stranger)
  const askAbout = (mandate_id: string) =>
    Promise.all([
      stranger.get(`${path}?mandate_id=${mandate_id}`),
      stranger.get(`/payment-mandate-statement?mandate_id=${mandate_id}`),
      stranger.post('/payment-mandate-revoke', { mandate_id }),
    ])

  const [theirs, nobodys] = await Promise.all([askAbout(id), askAbout(someId)])

  const told = (answers: typeof theirs) =>
    answers.map(({ status, body }) => ({ status, body: { ...body, request_id: '' } }))
  expect(told(theirs)).toEqual(told(nobodys))
  expect(told(theirs)).toMatchObject([{ status: 404 }, { status: 404 }, { status: 404 }])
  expect(JSON.stringify(told(theirs))).toContain('mandate_not_found')
})

test.each([
  'status=gone',
  'limit=51',
  'limit=0',
  'cursor=-1',
  'mandate_id=1',
  `mandate_id=${someId}&limit=5`,
])('%s is no question', async (query) => {
  const agent = await market.agent('read')

  expect(await agent.get(`${path}?${query}`)).toMatchObject({ status: 400 })
})
