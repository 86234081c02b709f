import { getAddress } from 'ethers'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { mailDomain, start } from '../support/world.ts'

const path = '/get-identity'
const rpcUrls = { 'eip155:84532': ['http://127.0.0.1:9'], 'eip155:421614': ['http://127.0.0.1:9'] }
const world = await start({ rpcUrls })

test('tells the account, its mail address and where it can be paid', async () => {
  const agent = await world.agent('read', { alias: 'bob-the-agent' })

  const { status, body } = await agent.get(path)

  expect(status).toBe(200)
  expect(body).toMatchObject({
    account_id: agent.id,
    alias: 'bob-the-agent',
    mail_address: `bob-the-agent@${mailDomain}`,
    frozen: false,
  })
  const chains = ['eip155:84532', 'eip155:421614']
  expect(body['wallets']).toEqual([{ chain_family: 'evm', address: agent.address, chains }])
  expect(getAddress(agent.address)).toBe(agent.address)
})

test('tells what the key is and never the key', async () => {
  const agent = await (await world.agent('full')).withKey('pay')

  const { body } = await agent.get(path)

  expect(body['credential']).toMatchObject({
    kind: 'api_key',
    label: 'pay',
    scopes: ['pay'],
    expires_at: null,
  })
  expect(JSON.stringify(body)).not.toContain(agent.key.slice(9, 20))
  const [row] = await world.db.sql`select digest, shown from private.credentials
    where account = ${agent.id} and label = 'pay'`
  expect(JSON.stringify(body)).not.toContain(row?.['digest'])
})

test('tells when the key expires, as all times are told', async () => {
  const agent = await world.agent('read')
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  await world.db.sql`update private.credentials set expires_at = ${expiresAt}
    where account = ${agent.id}`

  const { body } = await agent.get(path)

  expect(body['credential']).toMatchObject({ expires_at: expiresAt })
})

test('tells the limits of a new account as they are published, all of them left', async () => {
  const { body } = await (await world.agent('read')).get(path)
  expect(body['limits']).toEqual({
    automatic_daily: { limit_usd: '200', left_usd: '200', resets_at: null },
    asserted_daily: { limit_usd: '200', left_usd: '200', resets_at: null },
    daily_spending_cap: { limit_usd: '1000', left_usd: '1000', resets_at: null },
    monthly_spending_cap: { limit_usd: '30000', left_usd: '30000', resets_at: null },
    asserted_new_recipient_usd: '10',
    relayed_transfers: [],
  })
})

test('counts what may still be executed whatever its age, and what settled for 24 hours', async () => {
  const agent = await world.agent('read')
  await enterPayment(agent, { state: 'authorized', consent: 'none', usd: 5 })
  await enterPayment(agent, { state: 'settled', consent: 'none', usd: 45 })
  await enterPayment(agent, { state: 'signed', consent: 'agent_asserted', usd: 30 })
  await enterPayment(agent, { state: 'released', consent: 'none', usd: 100 })

  const before = await agent.get(path)
  await world.tick(86_400)
  const after = await agent.get(path)

  expect(before.body['limits']).toMatchObject({
    automatic_daily: { limit_usd: '200', left_usd: '150' },
    asserted_daily: { left_usd: '170' },
    daily_spending_cap: { left_usd: '920' },
  })
  expect(JSON.stringify(before.body['limits'])).not.toContain('null')
  expect(after.body['limits']).toMatchObject({
    automatic_daily: { left_usd: '200', resets_at: null },
    asserted_daily: { left_usd: '170' },
    daily_spending_cap: { left_usd: '970' },
  })
})

test('says that an account is frozen, and has nothing below zero after a lowered limit', async () => {
  const agent = await world.agent('read')
  await enterPayment(agent, { state: 'signed', consent: 'none', usd: 50 })
  await world.db.sql`update private.accounts set frozen_at = private.clock(),
    automatic_daily_limit_usd_micros = 20000000 where id = ${agent.id}`

  const { body } = await agent.get(path)

  expect(body['frozen']).toBe(true)
  expect(body['limits']).toMatchObject({ automatic_daily: { limit_usd: '20', left_usd: '0' } })
})

test('names the maturity of what is offered', async () => {
  const { body } = await (await world.agent('read')).get(path)

  const told = z.array(z.looseObject({ gap_id: z.string(), status: z.string() }))
  const lowered = told.parse(body['gaps']).filter(({ status }) => status !== 'live')
  expect(lowered).toMatchObject([
    { gap_id: 'GAP_X402_V1', status: 'partial_live' },
    { gap_id: 'GAP_PAYMENT_MANDATE_V1', status: 'partial_live' },
    { gap_id: 'GAP_DEFI_AUTOMATION_V1', status: 'unavailable', reasons: ['vaults_not_offered'] },
  ])
})

test('tells each account of itself alone', async () => {
  const [one, other] = [await world.agent('read'), await world.agent('read')]
  await enterPayment(other, { state: 'signed', consent: 'none', usd: 50 })

  const { body } = await one.get(path)

  expect(body['account_id']).toBe(one.id)
  expect(body['limits']).toMatchObject({ automatic_daily: { left_usd: '200' } })
})

type Entry = { state: string; consent: string; usd: number }

/** Inserts a payment in progress, as other operations leave it. */
async function enterPayment(payer: { id: string; address: string }, entry: Entry) {
  const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
      tx_hash, block_hash, finality)
    select ${payer.id}, k.id, 'a device', 'transfer', ${entry.state}, 84532, ${usdc},
      ${payer.address}, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', ${entry.usd * 1_000_000},
      ${entry.usd * 1_000_000}, private.clock(), ${entry.consent}, private.clock(),
      floor(extract(epoch from private.clock()))::bigint,
      ${`0x${'1'.repeat(64)}`}, ${entry.state === 'settled' ? '0x' : null},
      ${entry.state === 'settled' ? 'finalized' : null}
    from private.credentials k where k.account = ${payer.id} limit 1`
}
