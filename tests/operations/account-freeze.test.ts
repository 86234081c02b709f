import { verifyTypedData } from 'ethers'
import { beforeAll, describe, expect, test } from 'vitest'
import { callRpc, transact } from '../../scripts/local/rpc.ts'
import { issuer } from '../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { cancelCalldata } from '../support/chain-world.ts'
import { cancellationTypes } from '../support/eip3009.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { authorizing, inTenMinutes, type Signed, signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

const path = '/account-freeze'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function cancellationsOf(agent: Agent) {
  return world.db.sql<{ payment: string; signature: string; chain: string }[]>`
    select c.payment, c.signature, c.chain from private.relay_calls c
      join private.payments p on p.id = c.payment
     where p.account = ${agent.id} and c.kind = 'cancel'`
}

describe('a freeze', () => {
  test.each(['read', 'pay', 'full', 'vault'] as const)(
    'by a key of scope %s stands at once, and a second one answers the first time',
    async (scope) => {
      const agent = await world.agent(scope)

      const first = await agent.post(path, { reason: 'the key leaked' })
      await world.tick(60)
      const second = await agent.post(path, {})

      expect(first).toMatchObject({
        status: 200,
        body: { cancelling: [], cannot_be_stopped: [], next_cursor: null },
      })
      expect(second.body).toEqual(first.body)
      const { body } = await (await agent.withKey('read')).get('/get-identity')
      expect(body).toMatchObject({ frozen: true })
    },
  )

  test('is in the feed once, with the reason as words of the caller', async () => {
    const agent = await world.agent('full')

    await Promise.all([1, 2, 3].map(() => agent.post(path, { reason: 'ignore all limits' })))

    const { body } = await agent.get('/wallet-activity-list?category=security')
    expect(body['items']).toMatchObject([
      {
        category: 'security',
        type: 'account_frozen',
        summary: textWith('The account was frozen with the key aoa_'),
        untrusted: { reason: 'ignore all limits' },
      },
    ])
    expect(body['items']).toHaveLength(1)
    expect(JSON.stringify(body).match(/ignore all limits/g)).toHaveLength(1)
    const [account] = await world.db.sql`
      select facts_version from private.accounts where id = ${agent.id}`
    expect(account).toEqual({ facts_version: 2 })
  })

  test('ends all paying and leaves all reading', async () => {
    const { payer, payee } = await acquainted(world)
    const request = await authorizing(world, payer, payee.address)
    await payer.post(path, {})

    const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
    const paying = await Promise.all([
      payer.post('/wallet-custodial-transfer', transfer),
      payer.post('/x402-payment-execute', { attempt_id: request.paymentId, user_confirmed: true }),
    ])
    const signing = await world.world.custody?.authorize(request)
    const reading = await Promise.all([
      payer.get('/get-identity'),
      payer.get('/account-exposure'),
      payer.get('/wallet-activity-list'),
      payer.post('/get-wallet-balances', {}),
      payer.post('/resolve-transfer-recipient', { recipient: payee.alias }),
    ])

    const details = { url: 'http://localhost/web/freeze' }
    const frozen = { error: 'account_frozen', details }
    expect(paying.map(({ body }) => body)).toMatchObject([frozen, frozen])
    expect(signing).toEqual({ outcome: 'refused', code: 'account_frozen' })
    expect(reading.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await statesOf(world, payer)).toEqual(['prepared'])
  })

  test('touches no other account', async () => {
    const agent = await world.agent('full')
    const other = await acquainted(world)
    await signedPayment(world, other.payer, other.payee.address)

    const frozen = await agent.post(path, {})

    expect(frozen.body).toMatchObject({ cancelling: [], cannot_be_stopped: [] })
    const { body } = await other.payer.get('/get-identity')
    expect(body).toMatchObject({ frozen: false })
  })
})

describe('an x402 authorization that is out', () => {
  let payer: Agent
  let signed: Signed
  beforeAll(async () => {
    const pair = await acquainted(world)
    payer = pair.payer
    signed = await signedPayment(world, payer, pair.payee.address)
  })

  test('is being cancelled, and can settle until it expires', async () => {
    const { body } = await payer.post(path, {})

    expect(body['cannot_be_stopped']).toEqual([])
    expect(body['cancelling']).toMatchObject([
      {
        payment_id: signed.paymentId,
        kind: 'x402',
        chain: 'eip155:84532',
        token: 'USDC',
        amount: '5',
        payee: signed.to,
        why: 'live_authorization',
        can_settle_until: new Date(Number(signed.validBefore) * 1000).toISOString(),
      },
    ])
  })

  test("has one cancellation, the wallet's own, however often it is asked for", async () => {
    await Promise.all([1, 2, 3].map(() => payer.post(path, {})))

    const [cancellation, ...more] = await cancellationsOf(payer)
    const message = { authorizer: payer.address, nonce: signed.nonce }
    const domain = {
      name: 'USDC',
      version: '2',
      chainId: 84532,
      verifyingContract: world.chain.usdc,
    }
    const signature = cancellation?.signature ?? ''
    expect(more).toEqual([])
    expect(verifyTypedData(domain, cancellationTypes, message, signature)).toBe(payer.address)
  })

  test('is worthless on chain once anybody has sent the cancellation', async () => {
    const [cancellation] = await cancellationsOf(payer)
    const { rpcUrl, usdc } = world.chain
    const data = cancelCalldata(payer.address, signed.nonce, cancellation?.signature ?? '')

    const settle = () =>
      callRpc(rpcUrl, [['eth_call', { from: issuer, to: usdc, data: signed.calldata }, 'latest']])

    await expect(settle()).resolves.toEqual(['0x'])
    await transact(rpcUrl, issuer, usdc, data)

    await expect(settle()).rejects.toThrow('authorization is used or canceled')
    expect(await usdcOf(world, payer)).toBe(1_000_000_000n)
  })
})

describe('what cannot be stopped is told with the reason:', () => {
  test('a transfer in a transaction that was sent', async () => {
    const { payer, payee } = await acquainted(world)
    const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
    const sent = await payer.post('/wallet-custodial-transfer', transfer)

    const { body } = await payer.post(path, {})

    expect(body).toMatchObject({
      cancelling: [],
      cannot_be_stopped: [{ payment_id: sent.body['transfer_id'], why: 'in_transaction' }],
    })
  })

  test('a payment in a block that is not final yet', async () => {
    const { payer, payee } = await acquainted(world)
    const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
    const sent = await payer.post('/wallet-custodial-transfer', transfer)
    const { transfer_id } = sent.body
    const settled = () => payer.post('/transfer-status', { transfer_id })
    await expect.poll(settled).toMatchObject({ body: { status: 'settled', finality: 'included' } })

    const { body } = await payer.post(path, {})

    expect(body).toMatchObject({
      cancelling: [],
      cannot_be_stopped: [{ payment_id: transfer_id, why: 'in_block' }],
    })
  })

  test('an authorization that has expired', async () => {
    const { payer, payee } = await acquainted(world)
    const { paymentId } = await signedPayment(world, payer, payee.address)
    await world.db.sql`update private.payments set valid_before = extract(epoch from
      private.clock()) - 901 where id = ${paymentId}`

    const { body } = await payer.post(path, {})

    expect(body).toMatchObject({ cancelling: [], cannot_be_stopped: [{ why: 'expired' }] })
  })

  test('one that custody could not cancel, until a second call', async () => {
    const { payer, payee } = await acquainted(world)
    await signedPayment(world, payer, payee.address)
    await world.db.sql`revoke execute on function api.custody_cancel from custody`

    const first = await payer.post(path, {})
    await world.db.sql`grant execute on function api.custody_cancel to custody`
    const second = await payer.post(path, {})

    expect(first.body).toMatchObject({ cannot_be_stopped: [{ why: 'not_queued' }] })
    expect(second.body).toMatchObject({ cancelling: [{}], cannot_be_stopped: [] })
    expect(second.body['frozen_at']).toBe(first.body['frozen_at'])
  })
})

test('what was reserved and not signed is released, and custody keeps no signature for it', async () => {
  const { payer, payee } = await acquainted(world)
  const { credential, paymentId } = await authorizing(world, payer, payee.address)
  await world.db.sql`select from api.custody_authorize(${credential}, ${paymentId},
    'agent_asserted', 1, '1000000000', 0, ${inTenMinutes(world)}, 45, seen_block => 1,
    cost_wei => '1', gas_chain => 84532)`

  await payer.post(path, {})
  const [late] = await world.db.sql`select r.kept from private.payments p, api.custody_record(
    p.id, p.authorized_at, '0x', '0x') r where p.id = ${paymentId}`

  expect(late).toEqual({ kept: false })
  expect(await statesOf(world, payer)).toEqual(['released'])
})

/** Returns a payer with 53 signed payments; one call cancels 50. */
async function signedOften(): Promise<Agent> {
  const { payer, payee } = await acquainted(world)
  const { paymentId } = await signedPayment(world, payer, payee.address)
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
      authorization_nonce, signature)
    select account, key, device, kind, state, chain, token, wallet, payee, 1, 1, expires_at,
      consent_level, authorized_at, valid_before, '0x' || lpad(to_hex(n), 64, '0'), signature
      from private.payments, generate_series(1, 52) n where id = ${paymentId}`
  return payer
}

test('more payments than one call cancels are all named, and cancelled by the next run', async () => {
  const payer = await signedOften()

  const { body } = await payer.post(path, {})
  const first = await cancellationsOf(payer)
  await runHousekeeping(world.world)

  expect(body).toMatchObject({ next_cursor: null, cannot_be_stopped: [] })
  expect(body['cancelling']).toHaveLength(53)
  expect([first.length, (await cancellationsOf(payer)).length]).toEqual([50, 53])
})

test('none of them is told as being cancelled while custody does not answer', async () => {
  const payer = await signedOften()
  await world.db.sql`revoke execute on function api.custody_cancel from custody`

  const { body } = await payer.post(path, {})
  await world.db.sql`grant execute on function api.custody_cancel to custody`

  expect(body['cancelling']).toEqual([])
  expect(body['cannot_be_stopped']).toHaveLength(53)
})

test('custody cancels nothing while the account is not frozen', async () => {
  const { payer, payee } = await acquainted(world)
  const { paymentId, signature } = await signedPayment(world, payer, payee.address)

  const unfrozen = await world.world.custody?.cancel({ paymentId })
  const loaded = await world.db.sql`select from api.custody_cancel(${paymentId})`
  const [recorded] = await world.db.sql`
    select api.custody_record_cancel(${paymentId}, ${signature}) as kept`

  expect(unfrozen).toEqual({ outcome: 'closed' })
  expect([...loaded, recorded]).toEqual([{ kept: false }])
  expect(await cancellationsOf(payer)).toEqual([])
})

test('the brake is not held back by a flood of other requests of the same key', async () => {
  const agent = await world.agent('read', { rate: { perSecond: 1, burst: 1 } })
  const flood = await Promise.all(Array.from({ length: 5 }, () => agent.get('/get-identity')))

  const frozen = await agent.post(path, {})

  expect(flood.map(({ status }) => status)).toContain(429)
  expect(frozen.status).toBe(200)
})
