import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { proven, statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { anew } from '../support/wish.ts'
import { mailDomain, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC', amount: '5' }

const missing = z.object({
  url: z.url(),
  next: z.object({ arguments: z.record(z.string(), z.unknown()) }),
})

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function pair(usdc = 1000) {
  const payer = await world.agent('pay', { usdc })
  return { payer, payee: await world.agent('read') }
}

describe('a transfer', () => {
  test('moves the amount to the unit from one alias to another and is proven by its hash', async () => {
    const { payer, payee } = await pair()

    const sent = await payer.post(path, { ...order, recipient: payee.alias, user_confirmed: true })
    const proof = await proven(payer, sent.body['tx_hash'])

    expect(sent).toMatchObject({
      status: 200,
      body: {
        status: 'submitted',
        finality: 'submitted',
        consent_level: 'agent_asserted',
        amount_atomic: '5000000',
        recipient: { alias: payee.alias, address: payee.address },
      },
    })
    expect(proof.body).toMatchObject({
      status: 'settled',
      finality: 'included',
      from: payer.address,
      to: payee.address,
      amount: '5',
    })
    expect([await usdcOf(world, payer), await usdcOf(world, payee)]).toEqual([
      995_000_000n,
      5_000_000n,
    ])
  })

  test('reaches a payee by mail address and by EIP-55 address alike', async () => {
    const { payer, payee } = await pair()
    const recipients = [`${payee.alias}@${mailDomain}`, payee.address]

    for (const recipient of recipients) {
      const sent = await payer.post(path, anew({ ...order, recipient, user_confirmed: true }))
      expect(sent).toMatchObject({ status: 200, body: { status: 'submitted' } })
      await proven(payer, sent.body['tx_hash'])
    }

    expect(await usdcOf(world, payee)).toBe(10_000_000n)
  })

  test('asks for a confirmation of a new recipient and a new device, and reserves nothing', async () => {
    const { payer, payee } = await pair()

    const asked = await payer.post(path, { ...order, recipient: payee.alias })

    expect(asked.body).toMatchObject({
      status: 'awaiting_confirmation',
      requires_user_confirm: true,
      reasons: [{ code: 'new_recipient' }, { code: 'new_device' }],
      confirmation: { level: 'agent_asserted', status: 'pending' },
      summary: `Pay 5 USDC on Base Sepolia to ${payee.alias} (${payee.address}).`,
    })
    const balances = await payer.post('/get-wallet-balances', {})
    expect(balances.body).toMatchObject({ reserved_usd: '0', available_usd: '1000' })
  })

  test('goes on with its transfer_id once confirmed, on the same terms only', async () => {
    const { payer, payee } = await pair()
    const body = { ...order, recipient: payee.alias }
    const { transfer_id } = (await payer.post(path, body)).body

    const changed = await payer.post(path, {
      ...body,
      amount: '6',
      transfer_id,
      user_confirmed: true,
    })
    const sent = await payer.post(path, { ...body, transfer_id, user_confirmed: true })
    const again = await payer.post(path, { ...body, transfer_id, user_confirmed: true })

    expect(changed).toMatchObject({ status: 409, body: { error: 'terms_changed' } })
    expect(JSON.stringify(changed.body)).not.toMatch(/prepare/i)
    expect(sent.body).toMatchObject({ transfer_id, status: 'submitted' })
    expect(again.body).toMatchObject({ transfer_id, tx_hash: sent.body['tx_hash'] })
    await proven(payer, sent.body['tx_hash'])
    expect(await usdcOf(world, payee)).toBe(5_000_000n)
  })

  test('to a known recipient from a known device needs no confirmation', async () => {
    const { payer, payee } = await pair()
    await world.acquaint(payer, payee.address)

    const sent = await payer.post(path, { ...order, recipient: payee.alias })

    expect(sent.body).toMatchObject({ status: 'submitted', consent_level: 'none' })
  })

  test('from another device of the same key asks again', async () => {
    const { payer, payee } = await pair()
    await world.acquaint(payer, payee.address)

    const body = { ...order, recipient: payee.alias }
    const asked = await payer.post(path, body, { 'x-device-id': 'another' })

    expect(asked.body).toMatchObject({ reasons: [{ code: 'new_device' }] })
  })

  test("above what the agent's word carries waits for the owner", async () => {
    const { payer, payee } = await pair()

    const body = { ...order, amount: '10.000001', recipient: payee.alias, user_confirmed: true }
    const asked = await payer.post(path, body)

    expect(asked.body).toMatchObject({
      requires_user_confirm: true,
      reasons: [{ code: 'asserted_new_recipient_limit', headroom_usd: '10' }],
      confirmation: { level: 'user_session' },
    })
    expect(await usdcOf(world, payee)).toBe(0n)
  })

  test('over the daily spending cap is refused with the headroom', async () => {
    const { payer, payee } = await pair(5000)

    const body = { ...order, amount: '1000.01', recipient: payee.alias, user_confirmed: true }
    const refused = await payer.post(path, body)

    expect(refused).toMatchObject({
      status: 403,
      body: {
        error: 'limit_exceeded',
        details: { reasons: [{ code: 'daily_spending_cap', headroom_usd: '1000' }] },
      },
    })
  })
})

describe('nothing is changed by', () => {
  const amounts = [
    '1e3',
    '-1',
    '0',
    '0.0000001',
    'NaN',
    ' 1',
    '１',
    '4611686018428',
    '999999999999999999.999999',
    `1${'0'.repeat(40)}`,
    '',
    '.5',
    '5.',
  ]

  test.each(amounts)('the amount %j', async (amount) => {
    const { payer, payee } = await pair(100)

    const body = { ...order, amount, recipient: payee.alias, user_confirmed: true }
    const refused = await payer.post(path, body)

    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(refused.body['message']).toContain('amount')
    expect(await statesOf(world, payer)).toEqual([])
  })

  test('more than the wallet holds', async () => {
    const { payer, payee } = await pair(4)

    const refused = await payer.post(path, {
      ...order,
      recipient: payee.alias,
      user_confirmed: true,
    })

    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: 'insufficient_funds',
        details: { available: '4', needed: '5', token: 'USDC', chain: 'eip155:84532' },
        hint: textWith('1 USDC on Base Sepolia are missing'),
      },
    })
    const { next, url } = missing.parse(refused.body['details'])
    expect(new URL(url).pathname).toBe('/web/deposit')
    const link = await payer.post('/create-hosted-action', next.arguments)
    expect(link.status).toBe(200)
  })

  test.each([
    ['an unknown alias', 'nobody-here', 404, 'recipient_not_found'],
    ['a mail address elsewhere', 'bob@elsewhere.example', 404, 'recipient_not_found'],
    ['the zero address', `0x${'0'.repeat(40)}`, 422, 'recipient_refused'],
    ['a burn address', '0x000000000000000000000000000000000000dEaD', 422, 'recipient_refused'],
    ['a mistyped checksum', '0x036CbD53842c5426634e7929541eC2318f3dCF7E', 400, 'invalid_request'],
  ])('%s as recipient', async (_what, recipient, status, error) => {
    const { payer } = await pair(100)

    const refused = await payer.post(path, { ...order, recipient, user_confirmed: true })

    expect(refused).toMatchObject({ status, body: { error } })
    expect(await statesOf(world, payer)).toEqual([])
  })

  test('a chain or a token that the service does not pay with', async () => {
    const { payer, payee } = await pair(100)
    const body = { ...order, recipient: payee.alias, user_confirmed: true }

    const chain = await payer.post(path, { ...body, chain: 'base' })
    const token = await payer.post(path, { ...body, token: 'DOGE' })
    const unpriced = await payer.post(path, { ...body, token: 'EURC' })

    expect(chain).toMatchObject({ status: 422, body: { error: 'unsupported_chain' } })
    expect(token).toMatchObject({ status: 422, body: { error: 'unsupported_token' } })
    expect(unpriced).toMatchObject({ status: 422, body: { error: 'unsupported_token' } })
  })

  test("a stranger's transfer_id, which answers as a missing one", async () => {
    const { payer, payee } = await pair(100)
    const stranger = await world.agent('pay', { usdc: 100 })
    const body = { ...order, recipient: payee.alias }
    const { transfer_id } = (await payer.post(path, body)).body

    const answer = await stranger.post(path, { ...body, transfer_id, user_confirmed: true })

    expect(answer).toMatchObject({ status: 404, body: { error: 'payment_not_found' } })
  })
})

test('a transfer that nobody confirmed in time is closed', async () => {
  const { payer, payee } = await pair()
  const body = { ...order, recipient: payee.alias }
  const { transfer_id } = (await payer.post(path, body)).body
  await world.tick(86_401)

  const late = await payer.post(path, { ...body, transfer_id, user_confirmed: true })

  expect(late).toMatchObject({ status: 409, body: { error: 'payment_closed' } })
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('who comes late to a transfer that another request paid hears what came of it', async () => {
  const { payer, payee } = await pair(5)
  await world.db.sql`update private.accounts set automatic_daily_limit_usd_micros = 0
    where id = ${payer.id}`
  const body = { ...order, recipient: payee.address }
  const { transfer_id } = (await payer.post(path, body)).body
  const again = { ...body, transfer_id, user_confirmed: true }
  const reached = Promise.withResolvers<void>()
  const paid = Promise.withResolvers<void>()
  const slow = world.worker({
    fetch: async (input, init) => {
      if (new Request(input).url.startsWith(world.chain.rpcUrl)) {
        reached.resolve()
        await paid.promise
      }
      return fetch(input, init)
    },
  })

  const late = slow.post(payer, path, again)
  await reached.promise
  const first = await payer.post(path, again)
  await proven(payer, first.body['tx_hash'])
  paid.resolve()

  expect((await late).body).toMatchObject({ transfer_id, tx_hash: first.body['tx_hash'] })
  expect(await usdcOf(world, payer)).toBe(0n)
})
