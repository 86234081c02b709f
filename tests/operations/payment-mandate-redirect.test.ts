/** A mandate covers only the origin that is really requested; nothing is paid where it redirects. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { giveMandate } from '../support/mandates.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import { requirementV2 } from '../support/x402.ts'

const market = await openMarket()
const { hostile } = market
const merchant_domain = new URL(hostile.url).host

const redirects = [
  'redirect-elsewhere',
  'redirect-same-origin',
  'redirect-self',
  'redirect-private',
]

test.each(redirects)(
  'a covered payment that is answered with %s goes nowhere else',
  async (name) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const { id } = await giveMandate(market, agent, { merchant_domain })

    const prepared = await prepare(agent, { resource_url: `${hostile.url}/paid/${name}` })
    const executed = await execute(agent, attemptOf(prepared), false)

    expect(prepared.body).toMatchObject({ covered_by: { mandate_id: id } })
    expect(executed.body).toMatchObject({
      status: 'unknown',
      consent_level: 'mandate',
      reasons: [{ code: 'redirected' }, { code: 'not_settled_yet' }],
    })
    expect(hostile.received(`/paid/${name}`)).toHaveLength(1)
    expect(hostile.requests(`/elsewhere/paid/${name}`)).toEqual([])
  },
)

test('the place that a covered origin redirects to is another merchant', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  await giveMandate(market, agent, { merchant_domain })
  const accepts = [requirementV2({ asset: market.chain.usdc })]

  const answer = await prepare(agent, {
    resource_url: `${hostile.elsewhereUrl}/elsewhere/paid/ok`,
    x402Version: 2,
    accepts,
  })

  expect(answer.body).toMatchObject({ requires_user_confirm: true })
  expect(answer.body).not.toHaveProperty('covered_by')
})

test.each(redirects)('terms are not taken from where %s leads', async (name) => {
  const agent = await market.agent('pay', { usdc: 1 })
  await giveMandate(market, agent, { merchant_domain })
  const resource_url = `${hostile.url}/unpaid/${name}`
  const accepts = [requirementV2({ asset: market.chain.usdc })]

  const fetched = await prepare(agent, { resource_url })
  const brought = await prepare(agent, { resource_url, x402Version: 2, accepts })

  expect(fetched).toMatchObject({ status: 502, body: { error: 'resource_unavailable' } })
  expect(brought.body).toMatchObject({ requires_user_confirm: true })
  const { reasons } = z
    .object({ reasons: z.array(z.looseObject({ code: z.string() })) })
    .parse(brought.body)
  expect(reasons.map(({ code }) => code)).toContain('challenge_not_heard')
  expect(hostile.requests(`/elsewhere/unpaid/${name}`)).toEqual([])
})
