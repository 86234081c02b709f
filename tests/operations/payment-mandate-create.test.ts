/** A requested mandate is stored as asked, in one canonical form, and pays nothing until approved. */
import { expect, test } from 'vitest'
import { mandateTerms, termsDigest } from '../../shared/consent/terms.ts'
import { mandateRow } from '../../shared/mandates/mandate-row.ts'
import { openPerson } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start({
  rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'], 'eip155:421614': ['http://127.0.0.1:9'] },
})
const path = '/payment-mandate-create'
const usdc = {
  base: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  arbitrum: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
}
const payees = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
] as const
const least = {
  merchant_domain: 'shop.example.com',
  max_amount_per_payment_usd: '5',
  ttl_seconds: 86_400,
}
const gap = { gap_id: 'GAP_PAYMENT_MANDATE_V1', gap_status: 'partial_live' }

test('what is not named is not limited, and waits for the owner', async () => {
  const agent = await world.agent('pay')
  await world.db.setClock(new Date('2027-01-01T12:00:00Z'))

  const { status, body } = await agent.post(path, least)

  const { mandate_id, digest, ...others } = body
  expect(status).toBe(200)
  expect(digest).toMatch(/^[0-9a-f]{64}$/)
  expect(others).toEqual({
    ...gap,
    status: 'pending_approval',
    summary: 'Pay shop.example.com up to 5 USD each, until 2027-01-02 12:00 UTC.',
    merchant_domain: 'shop.example.com',
    include_subdomains: false,
    caps: {
      max_amount_per_payment_usd: '5',
      max_amount_per_day_usd: null,
      max_total_usd: null,
      max_payments: null,
    },
    chains: null,
    tokens: null,
    pay_to: null,
    spent: { today_usd: '0', total_usd: '0', payments: 0 },
    left: { today_usd: null, today_resets_at: null, total_usd: null, payments: null },
    narrowed: false,
    created_at: '2027-01-01T12:00:00.000Z',
    expires_at: '2027-01-02T12:00:00.000Z',
    decided_at: null,
    revoked_at: null,
    approval_url: `http://localhost/web/mandate/${String(mandate_id)}`,
  })
})

test('every cap and pin is kept in its one form, and stands in the sentence', async () => {
  const agent = await world.agent('pay')
  await world.db.setClock(new Date('2027-01-01T12:00:00Z'))
  const order = {
    merchant_domain: 'B\u00fccher.DE',
    include_subdomains: true,
    max_amount_per_payment_usd: '5.50',
    max_amount_per_day_usd: '20',
    max_total_usd: '100.000001',
    max_payments: 30,
    ttl_seconds: 7_776_000,
    chains: ['arbitrum-sepolia', 'eip155:84532', 84532],
    tokens: ['usdc', usdc.base.toLowerCase()],
    pay_to: [payees[0].toLowerCase(), payees[1], payees[0]],
  }

  const { body } = await agent.post(path, order)

  expect(body).toMatchObject({
    merchant_domain: 'xn--bcher-kva.de',
    merchant_name: 'b\u00fccher.de',
    include_subdomains: true,
    caps: {
      max_amount_per_payment_usd: '5.5',
      max_amount_per_day_usd: '20',
      max_total_usd: '100.000001',
      max_payments: 30,
    },
    chains: ['eip155:84532', 'eip155:421614'],
    tokens: [usdc.base, usdc.arbitrum],
    pay_to: [payees[1], payees[0]],
    left: { today_usd: '20', total_usd: '100.000001', payments: 30 },
    expires_at: '2027-04-01T12:00:00.000Z',
    summary:
      'Pay xn--bcher-kva.de (reads as b\u00fccher.de) and every host below it up to 5.5 USD each, ' +
      '20 USD a day and 100.000001 USD in all, in at most 30 payments, only on Base Sepolia or ' +
      `Arbitrum Sepolia, only in USDC, only to ${payees[1]} or ${payees[0]}, by transfer too, until 2027-04-01 12:00 UTC.`,
  })
})

test('the digest is that of the terms as they are kept', async () => {
  const agent = await world.agent('pay')
  const { body } = await agent.post(path, { ...least, tokens: ['USDC'], pay_to: [payees[0]] })
  const [row] = await world.db.sql`
    select private.mandate_json(m) as mandate from private.mandates m
     where m.id = ${String(body['mandate_id'])}`

  const kept = mandateRow.parse(row?.['mandate'])

  expect(await termsDigest(mandateTerms(kept))).toBe(body['digest'])
})

test.each([
  [{ merchant_domain: 'https://shop.example.com/a' }, 'merchant_refused', 'url'],
  [{ merchant_domain: 'shop.example.com:8443' }, 'merchant_refused', 'port'],
  [{ merchant_domain: 'github.io' }, 'merchant_refused', 'public_suffix'],
  [{ merchant_domain: 'sh\u043ep.example.com' }, 'merchant_refused', 'mixed_scripts'],
  [{ merchant_domain: '' }, 'merchant_refused', 'empty'],
  [{ merchant_domain: '\u0001' }, 'merchant_refused', 'invisible_character'],
  [
    { merchant_domain: 'amazonaws.com', include_subdomains: true },
    'merchant_refused',
    'shared_subdomains',
  ],
  [{ merchant_domain: 'localhost:4021' }, undefined, undefined],
  [{ chains: ['base'] }, 'unsupported_chain', undefined],
  [{ chains: ['8453'] }, 'unsupported_chain', undefined],
  [{ tokens: ['DOGE'] }, 'unsupported_token', undefined],
  [{ tokens: ['ETH'] }, 'unsupported_token', undefined],
  [{ chains: ['arbitrum-sepolia'], tokens: ['EURC'] }, 'unsupported_token', undefined],
  [{ pay_to: [usdc.base] }, 'recipient_refused', undefined],
  [{ pay_to: [`0x${'0'.repeat(40)}`] }, 'recipient_refused', undefined],
])('%j is answered %s %s', async (more, error, problem) => {
  const agent = await world.agent('pay')

  const answer = await agent.post(path, { ...least, ...more })

  if (error === undefined) return expect(answer.status).toBe(200)
  expect(answer).toMatchObject({ status: 422, body: { error } })
  if (problem !== undefined) expect(answer.body).toMatchObject({ details: { problem } })
  expect(await mandatesOf(agent)).toBe(0)
})

test.each([
  { max_amount_per_payment_usd: '0' },
  { max_amount_per_payment_usd: '0.0000001' },
  { max_amount_per_payment_usd: '1000000.000001' },
  { max_amount_per_payment_usd: '-1' },
  { max_amount_per_payment_usd: '1e3' },
  { max_amount_per_payment_usd: 5.5 },
  { max_amount_per_payment_usd: '05' },
  { max_amount_per_day_usd: '4.999999' },
  { max_amount_per_day_usd: '0' },
  { max_total_usd: '4.999999' },
  { max_total_usd: '999999999999999999' },
  { max_payments: 0 },
  { max_payments: 1.5 },
  { ttl_seconds: 59 },
  { ttl_seconds: 7_776_001 },
  { chains: [] },
  { tokens: [] },
  { pay_to: [] },
  { pay_to: ['shop'] },
  { pay_to: [payees[0].replace('C8', 'c8')] },
  { pay_to: Array.from({ length: 21 }, () => payees[0]) },
  { include_subdomains: 'true' },
  { max_amount_per_week_usd: '5' },
])('%j is no order', async (more) => {
  const agent = await world.agent('pay')

  const answer = await agent.post(path, { ...least, ...more })

  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(await mandatesOf(agent)).toBe(0)
})

test('the bounds themselves can be had', async () => {
  const agent = await world.agent('pay')
  const bounds = [
    { max_amount_per_payment_usd: '0.000001', ttl_seconds: 60, max_payments: 1 },
    {
      max_amount_per_payment_usd: '1000000',
      max_amount_per_day_usd: '1000000',
      max_total_usd: '1000000',
      max_payments: 1_000_000,
    },
  ]

  for (const more of bounds) {
    expect((await agent.post(path, { ...least, ...more })).status).toBe(200)
  }
})

test('at most 20 mandates of an account wait for the owner, however many are asked for', async () => {
  const agent = await world.agent('pay')
  const ask = () => agent.post(path, { ...least, ttl_seconds: 60 })

  const answers = await Promise.all(Array.from({ length: 24 }, ask))

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(answers.find(({ status }) => status !== 200)).toMatchObject({
    status: 409,
    body: { error: 'too_many_mandates' },
  })
  await world.tick(61)
  expect((await ask()).status).toBe(200)
})

test('asking again with the same Idempotency-Key asks once', async () => {
  const agent = await world.agent('pay')
  const headers = { 'idempotency-key': 'mandate-1' }

  const first = await agent.post(path, least, headers)
  const second = await agent.post(path, least, headers)

  expect(second.body).toEqual(first.body)
  expect(await mandatesOf(agent)).toBe(1)
})

test('the owner is told by mail where to decide, and at most six times an hour', async () => {
  const { agent, email } = await openPerson(world)
  const merchant_domain = 'b\u00fccher.de'

  const { body } = await agent.post(path, { ...least, merchant_domain, max_total_usd: '50' })

  const [mail] = await world.mails(email)
  expect(mail?.subject).toBe(
    'Always allow payments to xn--bcher-kva[.]de (reads as b\u00fccher[.]de)?',
  )
  expect(mail?.text).toMatch(/^Requested by: full\n/)
  expect(mail?.text).toContain('Merchant: xn--bcher-kva[.]de (reads as b\u00fccher[.]de)')
  expect(mail?.text).toContain('Up to: 5 USD each and 50 USD in all')
  expect(mail?.text).toContain(`http://localhost/web/mandate/${String(body['mandate_id'])}`)
  for (let more = 0; more < 8; more += 1) await agent.post(path, least)
  expect(await world.mails(email)).toHaveLength(6)
})

test('a frozen account asks for nothing', async () => {
  const agent = await world.agent('full')
  await agent.post('/account-freeze', {})

  expect(await agent.post(path, least)).toMatchObject({ body: { error: 'account_frozen' } })
})

async function mandatesOf({ id }: { id: string }) {
  const rows = await world.db.sql`select from private.mandates where account = ${id}`
  return rows.length
}
