/** What an attempt comes to is read from the chain; what a merchant says only tells where to look. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import {
  attemptOf,
  execute,
  openMarket,
  pay,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import type { Agent } from '../support/world.ts'

const market = await openMarket({ deadlineMaxMilliseconds: 1_500 })
const { hostile, facilitator } = market
const usd = 1_000_000n

/** The payment headers that a path was given by this agent, opened. */
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

/** Answer of the merchant -> status, reason and the merchant's status while nothing is settled. */
const unsettled: [string, string, string | undefined, number | undefined][] = [
  ['ok', 'unknown', undefined, 200],
  ['no-receipt', 'unknown', undefined, 200],
  ['false-hash', 'unknown', undefined, 200],
  ['malformed-receipt', 'unknown', undefined, 200],
  ['huge-body', 'unknown', undefined, 200],
  ['status-500', 'unknown', undefined, 500],
  ['challenge-again', 'rejected_unpaid', 'payment_refused', 402],
  ['false-failure', 'rejected_unpaid', 'payment_refused', 402],
  ['close-socket', 'unknown', 'merchant_unreachable', undefined],
  ['half-a-body', 'unknown', 'merchant_unreachable', undefined],
  ['gzip-bomb', 'unknown', 'merchant_unreachable', undefined],
  ['never-answers', 'unknown', 'merchant_timeout', undefined],
  ['dribble', 'unknown', 'merchant_timeout', undefined],
  ['redirect-elsewhere', 'unknown', 'redirected', 307],
  ['redirect-same-origin', 'unknown', 'redirected', 307],
  ['redirect-self', 'unknown', 'redirected', 307],
  ['redirect-private', 'unknown', 'redirected', 307],
]

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
      reserved_until: expect.any(String),
      reasons: code === undefined ? [] : [{ code }],
    })
    expect(answer.body).not.toHaveProperty('tx_hash')
    const response = z.object({ status: z.int() }).optional().parse(answer.body['response'])
    expect(response?.status).toBe(merchantStatus)
    expect(again.body).toEqual(answer.body)
    expect(signaturesAt(path, agent)).toHaveLength(1)
    expect(await market.usdcOf(agent.address)).toBe(usd)
    expect(await reservedUsd(agent)).toBe('0.01')
  },
)

/** The same answers, given after the merchant has settled. */
const settled: [string, string][] = [
  ['ok', 'settled'],
  ['no-receipt', 'settled'],
  ['false-hash', 'settled'],
  ['malformed-receipt', 'settled'],
  ['huge-body', 'settled'],
  ['status-500', 'paid_not_delivered'],
  ['challenge-again', 'paid_not_delivered'],
  ['false-failure', 'paid_not_delivered'],
  ['close-socket', 'paid_not_delivered'],
  ['half-a-body', 'paid_not_delivered'],
  ['gzip-bomb', 'paid_not_delivered'],
  ['never-answers', 'paid_not_delivered'],
  ['dribble', 'paid_not_delivered'],
  ['redirect-elsewhere', 'paid_not_delivered'],
  ['redirect-same-origin', 'paid_not_delivered'],
  ['redirect-self', 'paid_not_delivered'],
  ['redirect-private', 'paid_not_delivered'],
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
