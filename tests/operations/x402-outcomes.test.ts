/** The outcome of an attempt is read from the chain; a merchant's claims only say where to look. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import {
  attemptOf,
  execute,
  openMarket,
  pay,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import { anyText } from '../support/matching.ts'
import type { Agent } from '../support/world.ts'

const market = await openMarket()
const { hostile, facilitator } = market
const usd = 1_000_000n

/** Returns the decoded payment headers that this agent sent to a path. */
function signaturesAt(path: string, agent: Agent) {
  return hostile
    .received(path)
    .map(({ headers }) => signature.parse(JSON.parse(atob(String(headers['payment-signature'])))))
    .filter(({ payload }) => payload.authorization.from === agent.address)
}

const signature = z.looseObject({
  payload: z.looseObject({ authorization: z.looseObject({ from: z.string() }) }),
  accepted: z.record(z.string(), z.unknown()),
})

/** Settles a payment later, as a merchant that received it can. */
async function settleLate(sent: z.output<typeof signature> | undefined): Promise<unknown> {
  const request = { x402Version: 2, paymentPayload: sent, paymentRequirements: sent?.accepted }
  const answer = await fetch(`${facilitator.url}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  return answer.json()
}

/** Answers with status, reason and the merchant's status while nothing is settled. */
const unsettled: [string, string, string | undefined, number | undefined][] = [
  ['ok', 'unknown', undefined, 200],
  ['no-receipt', 'unknown', undefined, 200],
  ['false-hash', 'unknown', undefined, 200],
  ['malformed-receipt', 'unknown', undefined, 200],
  ['huge-body', 'unknown', undefined, 200],
  ['status-500', 'unknown', 'not_delivered', 500],
  ['challenge-again', 'rejected_unpaid', 'payment_refused', 402],
  ['false-failure', 'unknown', 'settlement_failed', 402],
  ['false-pending', 'unknown', 'settlement_pending', 402],
  ['close-socket', 'unknown', 'merchant_unreachable', undefined],
  ['half-a-body', 'unknown', 'merchant_unreachable', 200],
  ['gzip-bomb', 'unknown', undefined, 200],
  ['never-answers', 'unknown', 'merchant_timeout', undefined],
  ['dribble', 'unknown', 'merchant_timeout', 200],
  ['redirect-elsewhere', 'unknown', 'redirected', 307],
  ['redirect-same-origin', 'unknown', 'redirected', 307],
  ['redirect-self', 'unknown', 'redirected', 307],
  ['redirect-private', 'unknown', 'redirected', 307],
]

/** Answers that neither deliver nor refuse, so the same signature is sent again. */
const sentAgain = new Set([
  'status-500',
  'false-failure',
  'false-pending',
  'close-socket',
  'half-a-body',
  'never-answers',
  'dribble',
])

test.concurrent.each(unsettled)(
  'a merchant that answers %s without settling leaves it %s',
  async (name, status, code, merchantStatus) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const path = `/paid/${name}`
    const attempt = attemptOf(await prepare(agent, { resource_url: hostile.url + path }))

    const answer = await execute(agent, attempt)
    const again = await execute(agent, attempt)

    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      status,
      reserved_until: anyText,
      reasons: [...(code === undefined ? [] : [{ code }]), { code: 'not_settled_yet' }],
    })
    expect(answer.body).not.toHaveProperty('tx_hash')
    const response = z.object({ status: z.int() }).optional().parse(answer.body['response'])
    expect(response?.status).toBe(merchantStatus)
    expect(again.body).toEqual(answer.body)
    const sent = signaturesAt(path, agent)
    expect(sent).toHaveLength(sentAgain.has(name) ? 2 : 1)
    expect(new Set(sent.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(await market.usdcOf(agent.address)).toBe(usd)
    expect(await reservedUsd(agent)).toBe('0.01')
  },
)

/** The same answers after the merchant has settled, each with its status. */
const settled: [string, string][] = [
  ['ok', 'settled'],
  ['no-receipt', 'settled'],
  ['false-hash', 'settled'],
  ['malformed-receipt', 'settled'],
  ['huge-body', 'settled'],
  ['status-500', 'paid_not_delivered'],
  ['challenge-again', 'paid_not_delivered'],
  ['false-failure', 'paid_not_delivered'],
  ['false-pending', 'paid_not_delivered'],
  ['close-socket', 'paid_not_delivered'],
  ['half-a-body', 'paid_not_delivered'],
  ['gzip-bomb', 'settled'],
  ['never-answers', 'paid_not_delivered'],
  ['dribble', 'paid_not_delivered'],
  ['redirect-elsewhere', 'settled'],
  ['redirect-same-origin', 'settled'],
  ['redirect-self', 'settled'],
  ['redirect-private', 'settled'],
]

test.concurrent.each(settled)(
  'a merchant that settles and answers %s is %s',
  async (name, status) => {
    const agent = await market.agent('pay', { usdc: 1 })

    const answer = await pay(agent, { resource_url: `${hostile.url}/settled/${name}` })

    expect(answer.body).toMatchObject({ status, requires_user_confirm: false })
    const { tx_hash } = z.object({ tx_hash: z.string() }).parse(answer.body)
    const proven = await agent.post('/transfer-status', { tx_hash, chain: 'eip155:84532' })
    expect(proven.body).toMatchObject({
      status: 'settled',
      to: hostile.payTo,
      amount_atomic: '10000',
    })
    expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
    expect(await reservedUsd(agent)).toBe('0')
  },
)

test('a redirect is not followed and takes no signature anywhere', () => {
  const elsewhere = [...hostile.requests('/elsewhere/paid/redirect-elsewhere')]
  const sameOrigin = [...hostile.requests('/elsewhere/paid/redirect-same-origin')]

  expect([elsewhere, sameOrigin]).toEqual([[], []])
})

test.each([
  ['ok', 'unknown'],
  ['challenge-again', 'rejected_unpaid'],
])(
  'an attempt answered %s is reserved until its validity passed on chain',
  async (name, status) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const resource_url = `${hostile.url}/paid/${name}?release`
    const attempt = attemptOf(await prepare(agent, { resource_url }))
    await execute(agent, attempt)

    await runHousekeeping(market.world)
    const during = await execute(agent, attempt)
    await market.tick(1_300)
    await runHousekeeping(market.world)
    const whileChainLags = await execute(agent, attempt)
    const reserved = await reservedUsd(agent)
    await market.passOnChain(1_300)
    await runHousekeeping(market.world)
    const after = await execute(agent, attempt)

    expect([during.body['status'], whileChainLags.body['status']]).toEqual([status, status])
    expect(reserved).toBe('0.01')
    expect(after.body).toMatchObject({ status: 'rejected_unpaid', requires_user_confirm: false })
    expect(after.body).not.toHaveProperty('reserved_until')
    expect(await reservedUsd(agent)).toBe('0')
    expect(await market.usdcOf(agent.address)).toBe(usd)
  },
)

test('a signature that came too late the first time settles the second time', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(await prepare(agent, { resource_url: `${hostile.url}/later/ok` }))

  const first = await execute(agent, attempt)
  const second = await execute(agent, attempt)
  const third = await execute(agent, attempt)

  expect(first.body).toMatchObject({ status: 'unknown', response: { status: 503 } })
  expect(second.body).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(third.body).toEqual(second.body)
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test.each(['challenge-again', 'never-answers'])(
  'a merchant that answers %s and settles afterwards is found to be paid',
  async (name) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const path = `/paid/${name}`
    const attempt = attemptOf(await prepare(agent, { resource_url: hostile.url + path }))
    await execute(agent, attempt)
    const [sent] = signaturesAt(path, agent)
    const settlement = await settleLate(sent)

    const { moved } = await runHousekeeping(market.world)
    const late = await execute(agent, attempt)

    expect(settlement).toMatchObject({ success: true })
    expect(moved).toBeGreaterThan(0)
    expect(late.body).toMatchObject({ status: 'paid_not_delivered', tx_hash: anyText })
    expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
    expect(await reservedUsd(agent)).toBe('0')
  },
)

test('asking again is enough to learn of a settlement, without the scheduled function', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const path = '/paid/status-500'
  const attempt = attemptOf(await prepare(agent, { resource_url: hostile.url + path }))
  const unknown = await execute(agent, attempt)
  const [sent] = signaturesAt(path, agent)
  await settleLate(sent)

  const again = await execute(agent, attempt)

  expect(unknown.body).toMatchObject({ status: 'unknown' })
  expect(again.body).toMatchObject({ status: 'paid_not_delivered', response: { status: 500 } })
})

test('what was paid is told while custody is silent', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(await prepare(agent, { resource_url: market.merchant.v2Url }))
  await execute(agent, attempt)
  const worker = market.worker()
  const silent = () => Promise.reject(new Error('custody is gone'))
  Object.assign(worker.world, { custody: { ...worker.world.custody, confirm: silent } })

  const order = { attempt_id: attempt, user_confirmed: true }
  const again = await worker.post(agent, '/x402-payment-execute', order)

  expect(again.body).toMatchObject({ status: 'settled', response: { status: 200 } })
})
