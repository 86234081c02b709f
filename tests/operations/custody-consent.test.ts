/**
 * Custody relies on an owner's consent only after checking it again. The tests switch off the ledger's
 * own checks and change its rows as an intruder would.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { batchTerms } from '../../shared/consent/consent.ts'
import { paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
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
import type { PasskeyAlgorithm } from '../support/passkey-key.ts'
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

const { payee } = asset
const otherAddress = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

type Level = AuthorizeRequest['consentLevel']

async function waiting(payer: Agent) {
  const payment = await waitingPayment(world, payer)
  return {
    payment,
    authorize: async (level: Level, mandateId?: string) =>
      custody.authorize(await authorizeRequest(world, payer, payment, level, mandateId)),
  }
}

async function household(algorithm?: PasskeyAlgorithm) {
  const payer = await world.agent('pay')
  return { payer, owner: await passkeyOwnerOf(world, payer, algorithm) }
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

describe.each<PasskeyAlgorithm>(['ES256', 'EdDSA', 'RS256'])(
  'with a passkey of %s',
  (algorithm) => {
    test('what the owner approved is signed, alone, in a batch and under a mandate', async () => {
      const { payer, owner } = await household(algorithm)
      const [alone, one, two, under] = [
        await waiting(payer),
        await waiting(payer),
        await waiting(payer),
        await waiting(payer),
      ]
      expect(await owner.approve(alone.payment)).toBe('approved')
      expect(await owner.approveBatch([two.payment, one.payment])).toBe('approved')
      const mandate = await granted(payer, owner)

      const answers = [
        await alone.authorize('user_passkey'),
        await one.authorize('user_passkey'),
        await two.authorize('user_passkey'),
        await under.authorize('mandate', mandate),
      ]

      expect(answers.map(({ outcome }) => outcome)).toEqual(Array(4).fill('signed'))
    })
  },
)

const paymentChanges = [
  ['amount', 'amount_atomic = amount_atomic + 1'],
  ['payee', `payee = '${otherAddress}'`],
  ['token', `token = '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', chain = 421614`],
  ['chain', `chain = 8453, token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'`],
  ['expiry', `expires_at = expires_at + interval '1 hour'`],
  ['origin', `terms = terms || '{"origin": "https://evil.example"}'`],
  ['absence of an origin', `terms = terms - 'origin'`],
  ['request', `terms = terms || '{"request_digest": "bb"}'`],
  ['word on who pays', 'for_any_key = not for_any_key'],
  ['word on the payee', 'remembers_payee = not remembers_payee'],
  ['word on the device', 'remembers_device = not remembers_device'],
] as const

test.each(paymentChanges)('another %s than the approved one is not signed', async (_, change) => {
  const { payer, owner } = await household()
  const [alone, one, two] = [await waiting(payer), await waiting(payer), await waiting(payer)]
  await owner.approve(alone.payment)
  await owner.approveBatch([one.payment, two.payment])
  for (const { payment, authorize } of [alone, one]) {
    await world.db.sql.unsafe(`update private.payments set ${change} where id = '${payment}'`)
    await expectRefused(payer, payment, await authorize('user_passkey'))
  }
  expect(await two.authorize('user_passkey')).toMatchObject({ outcome: 'signed' })
})

const flipped = (column: string) =>
  `${column} = overlay(${column} placing (case substr(${column}, 30, 1) when 'A' then 'B' else 'A' end) from 30 for 1)`
const consentChanges = [
  ['digest', `digest = '${'ab'.repeat(32)}'`],
  ['public key', flipped('public_key')],
  ['client data', flipped('client_data')],
  ['authenticator data', flipped('authenticator_data')],
  ['signature', flipped('signature')],
  [
    'level',
    `level = 'user_session', passkey = null, passkey_added_at = null, public_key = null,
      client_data = null, authenticator_data = null, signature = null`,
  ],
  ['list', `leaves = array[digest, '${'ab'.repeat(32)}']`],
] as const

test.each(consentChanges)('consent with another %s carries nothing', async (_, change) => {
  const { payer, owner } = await household()
  const { payment, authorize } = await waiting(payer)
  await owner.approve(payment)
  await world.db.sql.unsafe(`update private.consents set ${change} where account = '${payer.id}'`)

  await expectRefused(payer, payment, await authorize('user_passkey'))
})

test.each([
  ['for another origin', { origin: 'https://evil.example' }],
  ['for another host', { host: 'evil.example' }],
  ['whose holder was not verified', { isUserVerified: false }],
  ['within a frame', { clientData: { crossOrigin: true } }],
  ['for a new passkey', { clientData: { type: 'webauthn.create' } }],
])('an assertion %s carries nothing, whoever took it', async (_, fault) => {
  const { payer, owner } = await household()
  const { payment, authorize } = await waiting(payer)
  const digest = await termsDigest(paymentTerms(await paymentOf(world.db, payment)))
  expect(await owner.assertion(digest, fault)).toBeUndefined()

  expect(await owner.approve(payment, await owner.unverified(digest, fault))).toBe('approved')

  await expectRefused(payer, payment, await authorize('user_passkey'))
})

test('an assertion that was copied to another payment carries nothing', async () => {
  const { payer, owner } = await household()
  const [signed, other, batched] = [
    await waiting(payer),
    await waiting(payer),
    await waiting(payer),
  ]
  await owner.approve(signed.payment)
  const answer = await owner.unverified('ab'.repeat(32))
  await owner.approve(batched.payment, answer)
  const point = (payment: string) => world.db.sql`
    insert into private.approvals (payment, account, session, decision, level, digest, consent)
    select ${payment}, o.account, o.session, 'approved', o.level, o.digest, o.consent
      from private.approvals o where o.payment = ${signed.payment}`
  await point(other.payment)

  await expectRefused(payer, other.payment, await other.authorize('user_passkey'))
  await expectRefused(payer, batched.payment, await batched.authorize('user_passkey'))
  expect(await signed.authorize('user_passkey')).toMatchObject({ outcome: 'signed' })
})

test.each<Level>(['user_session', 'user_passkey', 'mandate'])(
  'a payment at the level %s without anybody’s consent is not signed',
  async (level) => {
    const { payer, owner } = await household()
    const { payment, authorize } = await waiting(payer)
    const mandate = level === 'mandate' ? await granted(payer, owner) : undefined
    await world.db.sql`update private.mandates set state = 'revoked', consent = null,
      revoked_at = private.clock(), revoked_by = 'agent'`

    await expectRefused(payer, payment, await authorize(level, mandate))
  },
)

const mandateChanges = [
  ['merchant', `merchant_domain = 'evil.example'`],
  ['merchant above', `merchant_domain = 'example'`],
  ['word on subdomains', 'include_subdomains = true'],
  ['cap per payment', 'max_payment_usd_micros = 6000000'],
  ['cap per day', 'max_day_usd_micros = 30000000'],
  ['open day', 'max_day_usd_micros = null'],
  ['total', 'max_total_usd_micros = max_total_usd_micros + 1'],
  ['number of payments', 'max_payments = 51'],
  ['chain', 'chains = chains || 8453'],
  ['open chain', 'chains = null'],
  ['token', `tokens = tokens || '${otherAddress}'::text`],
  ['payee', `pay_to = array['${payee}']`],
  ['expiry', `expires_at = expires_at + interval '1 second'`],
  ['word on who pays', 'for_any_key = true'],
  ['device', `device = 'another'`],
] as const

test.each(mandateChanges)(
  'a mandate with another %s than the approved one carries nothing',
  async (_, change) => {
    const { payer, owner } = await household()
    const mandate = await granted(payer, owner)
    const { payment, authorize } = await waiting(payer)
    await world.db.sql.unsafe(`update private.mandates set ${change} where id = '${mandate}'`)

    await expectRefused(payer, payment, await authorize('mandate', mandate))
  },
)

test.each<[string, MandateOrder]>([
  ['for another merchant', { merchant_domain: 'other.example' }],
  ['for a merchant above', { merchant_domain: 'p.example' }],
  ['for less', { max_payment_usd_micros: '4999999' }],
  ['for another payee', { pay_to: [otherAddress] }],
  ['for another chain', { chains: [8453] }],
  ['for another token', { tokens: [otherAddress] }],
])('a mandate %s carries nothing', async (_, order) => {
  const { payer, owner } = await household()
  const mandate = await granted(payer, owner, order)
  const { payment, authorize } = await waiting(payer)

  await expectRefused(payer, payment, await authorize('mandate', mandate))
})

test('a mandate that is over, suspended or another account’s carries nothing', async () => {
  const { payer, owner } = await household()
  const other = await household()
  const theirs = await granted(other.payer, other.owner)
  const [suspended, expired] = [await granted(payer, owner), await granted(payer, owner)]
  await world.db.sql`update private.mandates set state = 'suspended' where id = ${suspended}`
  for (const mandate of [theirs, suspended]) {
    const { payment, authorize } = await waiting(payer)
    await expectRefused(payer, payment, await authorize('mandate', mandate))
  }

  await world.tick(3601)
  const late = await waiting(payer)
  await expectRefused(payer, late.payment, await late.authorize('mandate', expired))
})

test('a mandate that was slipped into a list of payments carries nothing', async () => {
  const { payer, owner } = await household()
  const mandate = await granted(payer, owner)
  const { payment, authorize } = await waiting(payer)
  const { sql } = world.db
  const [given] = await sql<{ digest: string; consent: string }[]>`
    select private.mandate_digest(m) as digest, m.consent from private.mandates m where id = ${mandate}`
  if (!given) throw new Error('the mandate is gone')
  const leaves = [given.digest, 'ab'.repeat(32)].sort()
  const digest = await termsDigest(await batchTerms(payer.id, leaves))
  const signed = await owner.unverified(digest)
  await sql`update private.consents c set digest = ${digest}, leaves = ${leaves},
    client_data = s ->> 'client_data', authenticator_data = s ->> 'authenticator_data',
    signature = s ->> 'signature'
    from (select ${JSON.stringify(signed)}::text::jsonb as s) given where c.id = ${given.consent}`

  await expectRefused(payer, payment, await authorize('mandate', mandate))
})

test('what a payment counts for is worked out from what it moves', async () => {
  const { payer, owner } = await household()
  const mandate = await granted(payer, owner)
  const { payment, authorize } = await waiting(payer)
  await world.db.sql`update private.payments set amount_atomic = 5000001 where id = ${payment}`

  await expectRefused(payer, payment, await authorize('mandate', mandate))
})
