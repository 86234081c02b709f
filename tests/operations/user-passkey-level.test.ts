/** Consent of an owner with a passkey: it is requested and counted at the level of the passkey. */
import { beforeAll, expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { passkeyOwnerOf } from '../support/consents.ts'
import { askMandate } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import { textWith } from '../support/matching.ts'
import { ownerOf } from '../support/owner.ts'
import { openPerson } from '../support/person.ts'
import type { Agent } from '../support/world.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

/** Sets the limit on an agent's own word to zero. */
async function wordless(agent: Agent): Promise<Agent> {
  const owner = await ownerOf(market, agent)
  await owner.call('owner_set_limits', { limits: { asserted_daily: '0' } })
  return agent
}

const ask = (agent: Agent) => prepare(agent, { resource_url: market.merchant.v2Url })

test('an attempt is asked for, approved and paid at the level of the passkey', async () => {
  const agent = await wordless(await market.agent('pay', { usdc: 1 }))
  const owner = await passkeyOwnerOf(market, agent)

  const prepared = await ask(agent)
  const attempt = attemptOf(prepared)
  const early = await execute(agent, attempt)
  expect(await owner.approve(attempt)).toBe('approved')
  const told = await execute(agent, attempt, false)
  const paid = await execute(agent, attempt)

  const level = 'user_passkey'
  expect(prepared.body).toMatchObject({ confirmation: { level, status: 'pending' } })
  expect(early.body).toMatchObject({ status: 'awaiting_confirmation', confirmation: { level } })
  expect(told.body).toMatchObject({ confirmation: { level, status: 'approved' } })
  expect(paid.body).toMatchObject({ status: 'settled', consent_level: level })
})

test('the owner hears by mail of what waits for the passkey', async () => {
  const { agent, email } = await openPerson(market)
  await fund(market.chain, agent.address, { usdcAtomic: 1_000_000n })
  await passkeyOwnerOf(market, await wordless(agent))

  const attempt = attemptOf(await ask(agent))

  expect(await market.mails(email)).toMatchObject([{ text: textWith(`/approve/${attempt}`) }])
})

test('what was approved before there was a passkey is paid at the level that it had', async () => {
  const agent = await wordless(await market.agent('pay', { usdc: 1 }))
  const owner = await ownerOf(market, agent)
  const attempt = attemptOf(await ask(agent))
  await owner.decide(attempt, 'approved')
  await passkeyOwnerOf(market, agent)

  const paid = await execute(agent, attempt)

  expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'user_session' })
})

test('a mandate that was approved with the passkey carries payments', async () => {
  const agent = await wordless(await market.agent('pay', { usdc: 1 }))
  const owner = await passkeyOwnerOf(market, agent)
  const { id: mandate, digest } = await askMandate(market, agent)
  const assertion = await owner.assertion(digest)
  await owner.call('owner_decide_mandate', { mandate, decision: 'approved', digest, assertion })

  const paid = await execute(agent, attemptOf(await ask(agent)), false)

  expect(paid.body).toMatchObject({ status: 'settled', mandate_id: mandate })
})
