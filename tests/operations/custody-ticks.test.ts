/** Custody enforces the owner's ticks, and the key or app that the approval was given for. */
import { beforeAll, expect, test } from 'vitest'
import type { AuthorizeRequest, CustodyPort } from '../../shared/custody/port.ts'
import {
  asset,
  authorizeRequest,
  type PasskeyOwner,
  passkeyOwnerOf,
  waitingPayment,
} from '../support/consents.ts'
import type { MandateOrder } from '../support/mandates.ts'
import { feedOf, paymentOf } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let custody: CustodyPort
beforeAll(async () => {
  world = await start()
  if (!world.world.custody) throw new Error('the world has no custody')
  custody = world.world.custody
  await world.db.sql.unsafe(`
    create or replace function private.within_limits(a private.accounts, s private.spending,
      p private.payments, payer uuid, consent text, mandate uuid) returns boolean language sql
      as 'select true';
    create or replace function private.may_pay(p private.payments, payer uuid) returns boolean
      language sql as 'select true'`)
})

type Level = AuthorizeRequest['consentLevel']

async function waiting(payer: Agent) {
  const payment = await waitingPayment(world, payer)
  return {
    payment,
    authorize: async (level: Level, mandateId?: string) =>
      custody.authorize(await authorizeRequest(world, payer, payment, level, mandateId)),
  }
}

async function household() {
  const payer = await world.agent('pay')
  return { payer, owner: await passkeyOwnerOf(world, payer) }
}

/** Creates a mandate that covers these payments, approved with the owner's passkey. */
function granted(payer: Agent, owner: PasskeyOwner, order: MandateOrder = {}): Promise<string> {
  const whole = { max_day_usd_micros: '20000000', max_total_usd_micros: '100000000' }
  const pins = { max_payments: 50, chains: [84532], tokens: [asset.token] }
  const merchant = { merchant_domain: 'shop.example', ttl_seconds: 3600 }
  return owner.grant(payer, { ...merchant, ...whole, ...pins, ...order })
}

/** Asserts a refusal that leaves nothing behind except the activity feed. */
async function expectRefused(payer: Agent, payment: string, answer: unknown) {
  expect(answer).toEqual({ outcome: 'refused', code: 'consent_invalid' })
  const row = await paymentOf(world.db, payment)
  expect(row).toMatchObject({ state: 'released', signature: null })
  expect(row.failure).toBe('its approval did not hold')
  expect((await feedOf(world.db, payer)).at(-1)).toBe('x402_consent_invalid')
}

const tickChanges = [
  ['any key', 'any_key', 'for_any_key = false'],
  ['the payee', 'remember_payee', 'remembers_payee = false'],
  ['the device', 'remember_device', 'remembers_device = false'],
  ['another device', 'remember_device', `device = 'another'`],
] as const

test.each(tickChanges)(
  'what was approved with a tick for %s is signed so, and not once the row says otherwise',
  async (_, tick, change) => {
    const { payer, owner } = await household()
    const [kept, changed] = [await waiting(payer), await waiting(payer)]
    expect(await owner.approve(kept.payment, undefined, tick)).toBe('approved')
    expect(await owner.approve(changed.payment, undefined, tick)).toBe('approved')
    await world.db.sql.unsafe(
      `update private.payments set ${change} where id = '${changed.payment}'`,
    )

    expect(await kept.authorize('user_passkey')).toMatchObject({ outcome: 'signed' })
    await expectRefused(payer, changed.payment, await changed.authorize('user_passkey'))
  },
)

test('what was approved for one key is signed for no other, whatever the ledger lets through', async () => {
  const { payer, owner } = await household()
  const other = await payer.withKey('pay')
  const [{ payment }, second] = [await waiting(payer), await waiting(payer)]
  await owner.approve(payment)
  await owner.approve(second.payment, undefined, 'any_key')
  const authorize = async (id: string) =>
    custody.authorize(await authorizeRequest(world, other, id, 'user_passkey'))

  await expectRefused(payer, payment, await authorize(payment))
  expect(await authorize(second.payment)).toMatchObject({ outcome: 'signed' })
})

test('a mandate of one key carries nothing for another, whatever the ledger lets through', async () => {
  const { payer, owner } = await household()
  const other = await payer.withKey('pay')
  const mandate = await granted(payer, owner)
  const { payment } = await waiting(other)

  const request = await authorizeRequest(world, other, payment, 'mandate', mandate)
  await expectRefused(payer, payment, await custody.authorize(request))
})
