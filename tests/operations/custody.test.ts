import { verifyTypedData } from 'ethers'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { AuthorizeRequest, CustodyPort } from '../../shared/custody/port.ts'
import { required } from '../../shared/env.ts'
import { project } from '../support/database.ts'
import { authorizationTypes } from '../support/eip3009.ts'
import { acquainted, statesOf } from '../support/ledger.ts'
import { randomUUID } from '../support/seed.ts'
import { gasNow, inTenMinutes } from '../support/signed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let custody: CustodyPort
beforeAll(async () => {
  world = await start({ chain: true })
  if (!world.world.custody) throw new Error('the world has no custody')
  custody = world.world.custody
})

const terms = {
  chain: 84532,
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount_atomic: '5000000',
  amount_usd_micros: '5000000',
}

/** Inserts an x402 payment as prepare does. Returns the request that would sign it. */
async function entered(payer: Agent, payee: string, pepper: string): Promise<AuthorizeRequest> {
  const credential = await credentialOf(payer.key, pepper)
  const [row] = await world.db.sql<{ id: string }[]>`
    select payment_row ->> 'id' as id from api.begin_payment(${credential}, 'x402', 'device',
      ${terms.chain}, ${terms.token}, ${terms.amount_atomic}, ${terms.amount_usd_micros}, '{}',
      600, ${payee})`
  return {
    credential,
    paymentId: row?.id ?? '',
    consentLevel: 'agent_asserted',
    factsVersion: 1,
    fundsAtomic: '1000000000',
    seenBlock: 1,
    validAfter: 0,
    validBefore: inTenMinutes(world),
  }
}

const enter = (payer: Agent, payee: string) =>
  entered(payer, payee, required(world.world.config, 'API_KEY_PEPPER'))

test('signs what the ledger holds for the payment, and ethers recovers the wallet from it', async () => {
  const { payer, payee } = await acquainted(world)

  const answer = await custody.authorize(await enter(payer, payee.address))

  if (answer.outcome !== 'signed' || !answer.authorization) throw new Error(answer.outcome)
  const { signature, ...message } = answer.authorization
  expect(message).toMatchObject({ from: payer.address, to: payee.address, value: '5000000' })
  const domain = { name: 'USDC', version: '2', chainId: 84532, verifyingContract: terms.token }
  expect(verifyTypedData(domain, authorizationTypes, message, signature)).toBe(payer.address)
})

test('answers the same signature again and never makes another', async () => {
  const { payer, payee } = await acquainted(world)
  const request = await enter(payer, payee.address)

  const first = await custody.authorize(request)
  const again = await custody.authorize({ ...request, validBefore: (request.validBefore ?? 0) + 1 })

  expect(first).toMatchObject({ outcome: 'signed', first: true })
  expect(again).toEqual({ ...first, first: false })
})

test.each([
  ['a digest', { digest: `0x${'1'.repeat(64)}` }],
  ['another amount', { valueAtomic: '1' }],
  ['another payee', { to: `0x${'1'.repeat(40)}` }],
  ['a raw transaction', { raw: '0x02' }],
  ['no payment', { paymentId: 'all' }],
  [
    'an absurd gas price',
    {
      relay: {
        chainId: 84532,
        fees: { ...gasNow, maxFeePerGas: '1'.repeat(40) },
        gasFrom: 'relayer',
        walletNonce: 0,
        walletWei: '0',
        gasPayers: [],
      },
    },
  ],
])('refuses to be asked with %s', async (_what, change) => {
  const { payer, payee } = await acquainted(world)
  const request = await enter(payer, payee.address)

  const odd = z.custom<AuthorizeRequest>().parse({ ...request, ...change })
  await expect(custody.authorize(odd)).rejects.toThrow()

  expect(await statesOf(world, payer)).toEqual(['awaiting_confirmation'])
})

test("does not find a stranger's payment or one that nobody entered", async () => {
  const { payer, payee } = await acquainted(world)
  const stranger = await acquainted(world)
  const request = await enter(payer, payee.address)
  const { credential } = await enter(stranger.payer, payee.address)

  const asStranger = await custody.authorize({ ...request, credential })
  const missing = await custody.authorize({ ...request, paymentId: randomUUID() })

  expect([asStranger, missing]).toEqual([{ outcome: 'not_found' }, { outcome: 'not_found' }])
})

test.each(['none', 'mandate', 'user_session', 'user_passkey'] as const)(
  'does not take the word of its caller for consent level %s',
  async (consentLevel) => {
    const payer = await world.agent('pay', { usdc: 100 })
    const payee = await world.agent('read')
    const request = await enter(payer, payee.address)

    expect(await custody.authorize({ ...request, consentLevel })).toEqual({ outcome: 'stale' })
    expect(await statesOf(world, payer)).toEqual(['awaiting_confirmation'])
  },
)

test('signs nothing for a key that may only read, was revoked, or whose account is frozen', async () => {
  const { payer, payee } = await acquainted(world)
  const request = await enter(payer, payee.address)
  const reader = await payer.withKey('read')
  const credential = await credentialOf(reader.key, required(world.world.config, 'API_KEY_PEPPER'))

  const asReader = await custody.authorize({ ...request, credential })
  await world.db
    .sql`update private.accounts set frozen_at = private.clock(), freezes = freezes + 1 where id = ${payer.id}`
  const frozen = await custody.authorize(request)
  await world.db
    .sql`update private.credentials set revoked_at = private.clock() where account = ${payer.id}`
  const revoked = await custody.authorize(request)

  expect([asReader, frozen, revoked]).toEqual([
    { outcome: 'refused', code: 'insufficient_scope' },
    { outcome: 'refused', code: 'account_frozen' },
    { outcome: 'refused', code: 'unauthorized' },
  ])
  expect(await statesOf(world, payer)).toEqual(['awaiting_confirmation'])
})

test('facts that the owner has changed since the decision make it stale', async () => {
  const { payer, payee } = await acquainted(world)
  const request = await enter(payer, payee.address)
  await world.db.sql`update private.accounts set facts_version = 2 where id = ${payer.id}`

  expect(await custody.authorize(request)).toEqual({ outcome: 'stale' })
})

test('only the custody role reaches keys, and it reaches nothing else', async () => {
  const call = (token: string, name: string) =>
    fetch(`${world.db.gatewayUrl}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: {
        apikey: project.apiKey,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-profile': 'api',
      },
      body: '{"payment":"00000000-0000-0000-0000-000000000000","batch":1}',
    })

  const asService = await call(project.tokens.service_role, 'custody_record')
  const asCustody = await call(project.tokens.custody, 'housekeeping_slots')

  expect(asService.status).toBeGreaterThanOrEqual(400)
  expect(asCustody.status).toBeGreaterThanOrEqual(400)
  const [rights] = await world.db.sql`
    select has_table_privilege('service_role', 'private.custody_keys', 'select') as service,
      has_table_privilege('custody', 'private.custody_keys', 'select') as custody,
      has_function_privilege('service_role', p.oid, 'execute') as service_authorizes
    from pg_proc p where p.proname = 'custody_authorize'`
  expect(rights).toEqual({ service: false, custody: false, service_authorizes: false })
})
