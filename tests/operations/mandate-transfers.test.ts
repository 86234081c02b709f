/** A mandate covers a transfer only if it names the address that is paid. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { usdcOf } from '../support/ledger.ts'
import { failedRules, giveMandate, type MandateOrder } from '../support/mandates.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC', amount: '2' }

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Returns a payer whose mandate names one payee. */
async function paying(terms: MandateOrder = {}) {
  const payer = await world.agent('pay', { usdc: 10 })
  const payee = await world.agent('read')
  const given = await giveMandate(world, payer, { pay_to: [payee.address], ...terms })
  return { payer, payee, ...given }
}

const send = (payer: Agent, { address }: Agent, more: object = {}) =>
  payer.post(path, { ...order, recipient: address, ...more })

test('a transfer to an address that the mandate names is sent with nobody asked', async () => {
  const { payer, payee, id } = await paying()

  const { body } = await send(payer, payee)
  const seen = await payer.post('/transfer-status', { transfer_id: body['transfer_id'] })

  expect(body).toMatchObject({
    status: 'submitted',
    requires_user_confirm: false,
    consent_level: 'mandate',
    covered_by: { mandate_id: id },
  })
  expect(seen.body).toMatchObject({ consent_level: 'mandate', mandate_id: id })
  expect(await usdcOf(world, payee)).toBe(2_000_000n)
})

test('a transfer to another address is asked about, and nothing of the mandate is told', async () => {
  const { payer, id } = await paying()

  const { body } = await send(payer, await world.agent('read'))

  expect(body).toMatchObject({ status: 'awaiting_confirmation', consent_level: null })
  expect(failedRules(body, id)).toEqual([])
})

test('a mandate for a merchant alone carries no transfer', async () => {
  const payer = await world.agent('pay', { usdc: 10 })
  await giveMandate(world, payer)

  const { body } = await send(payer, await world.agent('read'))

  expect(body).toMatchObject({ status: 'awaiting_confirmation' })
})

test('a transfer over what is left says how much is, and when there is more', async () => {
  const { payer, payee, id } = await paying({ max_day_usd_micros: '5000000', ttl_seconds: 200_000 })
  await send(payer, payee)
  await send(payer, payee)

  const { body } = await send(payer, payee)

  expect(failedRules(body, id)).toMatchObject([{ code: 'mandate_day_limit', headroom_usd: '1' }])
  const changes = z.array(z.looseObject({ change: z.string() })).parse(body['would_pass'])
  const resets = failedRules(body, id)[0]?.resets_at ?? ''
  expect(changes).toContainEqual({ change: 'pay_less', amount_usd: '1', user_confirmed: false })
  const wait = changes.find(({ change }) => change === 'wait')
  expect(Math.abs(Date.parse(String(wait?.['until'])) - Date.parse(resets))).toBeLessThan(1_000)
})

test('a transfer that waits is sent once a mandate carries it', async () => {
  const payer = await world.agent('pay', { usdc: 10 })
  const payee = await world.agent('read')
  const { transfer_id } = (await send(payer, payee)).body
  await giveMandate(world, payer, { pay_to: [payee.address] })

  const { body } = await send(payer, payee, { transfer_id })

  expect(body).toMatchObject({ status: 'submitted', consent_level: 'mandate' })
})

test('the feed tells what became of a mandate, and whose it is', async () => {
  const { payer, id, owner } = await paying()
  await owner.call('owner_revoke_mandate', { mandate: id })

  const { body } = await payer.get('/wallet-activity-list?category=mandate')

  const ref = { kind: 'mandate', id }
  expect(body).toMatchObject({
    items: [
      { type: 'mandate_revoked', ref },
      { type: 'mandate_approved', ref },
      { type: 'mandate_requested', ref },
    ],
  })
})
