/** The caps of a key or app bound what it moves by itself, whatever the consent. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { resolveAll } from '../support/books.ts'
import { appWith, type CapsUsd, keyWith } from '../support/capped.ts'
import { acquainted } from '../support/ledger.ts'
import { giveMandate } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import { ownerOf } from '../support/owner.ts'
import { type Agent, type Answer, finalize } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC' }

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

async function home(caps: CapsUsd, holds = appWith) {
  const { payer, payee } = await acquainted(market, 900)
  const send = (agent: Agent, amount: string, more: object = {}) =>
    agent.post(path, { ...order, amount, recipient: payee.address, ...more })
  return { payer, payee, send, app: await holds(market, payer, caps) }
}

const reasonsOf = z.object({ reasons: z.array(z.object({ code: z.string() })) })
const statusOf = ({ body }: Answer) => body['status'] ?? body['error']

test.each([
  ['a key', keyWith],
  ['an app', appWith],
])('%s pays up to its cap for one payment, and is told what would pass', async (_, holds) => {
  const { app, send } = await home({ each: 5 }, holds)

  const over = await send(app, '5.000001', { user_confirmed: true })
  const within = await send(app, '5')

  expect(over).toMatchObject({
    status: 403,
    body: {
      error: 'limit_exceeded',
      details: {
        reasons: [{ code: 'credential_payment_cap', headroom_usd: '5' }],
        would_pass: [
          { change: 'pay_less', amount_usd: '5', user_confirmed: true },
          { change: 'raise_limit', limit: 'credential_payment_cap', limit_usd: '5.000001' },
        ],
      },
    },
  })
  expect(statusOf(within)).toBe('submitted')
})

test('what was paid and reserved in 24 hours never passes the cap, and frees up a day after its end', async () => {
  const { app, send } = await home({ day: 10 })
  await send(app, '6')

  const over = await send(app, '4.000001')
  const rest = await send(app, '4')
  const spent = await app.get('/get-identity')
  await resolveAll(market)
  await market.passOnChain(1)
  await runHousekeeping(market.world)
  await market.tick(86_400 + 601)
  const next = await send(app, '10')

  expect(over.body).toMatchObject({
    error: 'limit_exceeded',
    details: {
      reasons: [{ code: 'credential_daily_cap', headroom_usd: '4' }],
      windows: { credential_daily: { limit_usd: '10', left_usd: '4' } },
    },
  })
  expect([statusOf(rest), statusOf(next)]).toEqual(['submitted', 'submitted'])
  expect(spent.body).toMatchObject({
    credential: {
      kind: 'oauth',
      caps: { max_per_payment_usd: null, max_per_day_usd: '10', left_today_usd: '0' },
    },
  })
})

test('an app without caps is told of none', async () => {
  const { app } = await home({})

  expect((await app.get('/get-identity')).body['credential']).not.toHaveProperty('caps')
})

test('neither the owner nor a mandate lets an app pass its cap', async () => {
  const { app, payer, payee, send } = await home({ day: 300 })
  const owner = await ownerOf(market, payer)
  await giveMandate(market, payer, { pay_to: [payee.address], max_payment_usd_micros: '5000000' })
  const { transfer_id } = (await send(app, '299', { user_confirmed: true })).body
  await owner.decide(String(transfer_id), 'approved')
  const repeat = () => send(app, '299', { user_confirmed: true, transfer_id })

  await owner.call('owner_set_caps', { holder: app.holder, max_per_day_usd_micros: '298000000' })
  const capped = await repeat()
  await owner.call('owner_set_caps', { holder: app.holder, max_per_day_usd_micros: '300000000' })
  const paid = await repeat()
  const covered = await send(app, '2')

  const codes = ({ body }: Answer) => reasonsOf.parse(body['details']).reasons[0]?.code
  expect([codes(capped), codes(covered)]).toEqual(['credential_daily_cap', 'credential_daily_cap'])
  expect(paid.body).toMatchObject({ status: 'submitted', consent_level: 'user_session' })
  expect(await send(payer, '2')).toMatchObject({ body: { consent_level: 'mandate' } })
})

test('purchases and transfers count against one cap', async () => {
  const { app, send } = await home({ day: 1 })
  const buy = async () => prepare(app, { resource_url: market.merchant.v2Url })

  const attempt = attemptOf(await buy())
  const bought = await execute(app, attempt)
  const over = await send(app, '0.990001')
  const rest = await send(app, '0.99')
  const last = await buy()

  expect(bought.body).toMatchObject({ status: 'settled', amount: '0.01' })
  expect([statusOf(over), statusOf(rest)]).toEqual(['limit_exceeded', 'submitted'])
  expect(last.body).toMatchObject({
    error: 'limit_exceeded',
    details: { reasons: [{ code: 'credential_daily_cap', headroom_usd: '0' }] },
  })
})

test('what waited for one app and any may pay counts for the one that pays it', async () => {
  const { app, payer, send } = await home({ day: 300 })
  const other = await appWith(market, payer, { day: 299 })
  const owner = await ownerOf(market, payer)
  const { transfer_id } = (await send(app, '300', { user_confirmed: true })).body
  await owner.decide(String(transfer_id), 'approved', 'any_key')

  const refused = await send(other, '300', { user_confirmed: true, transfer_id })
  const paid = await send(payer, '300', { user_confirmed: true, transfer_id })

  expect([statusOf(refused), statusOf(paid)]).toEqual(['limit_exceeded', 'submitted'])
  const left = (await app.get('/get-identity')).body['credential']
  expect(left).toMatchObject({ caps: { left_today_usd: '300' } })
})

test('what one app moves leaves the caps of another as they are', async () => {
  const { app, payer, send } = await home({ day: 10 })
  const other = await appWith(market, payer, { day: 10 })

  await send(app, '10')

  expect(statusOf(await send(other, '10'))).toBe('submitted')
  expect(statusOf(await send(app, '0.000001'))).toBe('limit_exceeded')
})

test('the worst case of an app ends at its caps', async () => {
  const { app, payer, send } = await home({ day: 10 })
  await send(payer, '100')
  await resolveAll(market)
  await finalize(market.chain)
  await runHousekeeping(market.world)

  const { body } = await app.get('/account-exposure')
  const owner = await ownerOf(market, payer)

  expect(body['horizons']).toMatchObject([
    { hours: 1, total_usd: '10', bound_by: ['credential_daily_cap'] },
    { hours: 24, total_usd: '10' },
    { hours: 168, total_usd: '70' },
  ])
  expect(await owner.call('owner_list_exposures')).toMatchObject([
    { exposure: { caps: { day: null } } },
    { key: app.holder, exposure: { caps: { day: '10000000' } } },
  ])
})
