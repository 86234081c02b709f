/** The feed reports each deposit with its sender and finality, and hides deceptive ones. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { batchCalls, hex, known, newKey } from '../support/chain-world.ts'
import { lookAlike, payAs, sendAs, transferFrom } from '../support/deposits.ts'
import { proven } from '../support/ledger.ts'
import { anyText, textWith } from '../support/matching.ts'
import { type Agent, finalize, start } from '../support/world.ts'

const world = await start({ chain: true })
const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const { usdc } = known('eip155:84532')
// The types of matchers do not say that they are matchers.
const poisoning = textWith('another address')
const page = z.object({ items: z.array(z.record(z.string(), z.unknown())) })

beforeAll(async () => {
  await indexTransfers(world.world)
})

async function feed(agent: Agent, query = '') {
  const { status, body } = await agent.get(`/wallet-activity-list?limit=50${query}`)
  expect(status).toBe(200)
  return page.parse(body).items
}

test('a deposit is told with sender, amount, chain, transaction and finality', async () => {
  const agent = await world.agent('read')
  const sender = newKey().at
  const tx_hash = await payAs(world, sender, agent.address, 5_250_000n)

  await indexTransfers(world.world)

  expect(await feed(agent)).toEqual([
    {
      activity_id: anyText,
      at: anyText,
      category: 'deposit',
      type: 'received',
      summary: `Received 5.25 USDC on Base Sepolia from ${sender}.`,
      status: 'included',
      amount: '5.25',
      token: 'USDC',
      chain: 'eip155:84532',
      tx_hash,
      from: { address: sender },
      ref: { kind: 'deposit', id: anyText },
    },
  ])
})

test('a final deposit is told as finalized, one that was taken back as reorged', async () => {
  const agent = await world.agent('read')
  const sender = newKey().at
  await payAs(world, sender, agent.address, 1_000_000n)
  await payAs(world, sender, agent.address, 2_000_000n)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.db.sql`update private.deposits set reorged = true
    where wallet = ${agent.address} and amount_atomic = 2000000`

  expect(await feed(agent)).toMatchObject([
    {
      status: 'reorged',
      summary: `The chain took back 2 USDC on Base Sepolia from ${sender}.`,
    },
    { status: 'finalized', summary: `Received 1 USDC on Base Sepolia from ${sender}.` },
  ])
})

test('a transfer inside the service is a deposit of its receiver, who hears the alias', async () => {
  const payer = await world.agent('pay', { usdc: 10 })
  const payee = await world.agent('read')
  await indexTransfers(world.world)
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '2', recipient: payee.alias }
  const confirmed = { ...order, user_confirmed: true }
  const sent = await payer.post('/wallet-custodial-transfer', confirmed)
  await proven(payer, sent.body['tx_hash'])

  await indexTransfers(world.world)

  expect(await feed(payee)).toMatchObject([
    {
      category: 'deposit',
      summary: `Received 2 USDC on Base Sepolia from ${payer.alias} (${payer.address}).`,
      tx_hash: sent.body['tx_hash'],
      from: { address: payer.address, alias: payer.alias },
    },
  ])
  expect(await feed(payer, '&category=deposit')).toMatchObject([{ amount: '10' }])
})

test('what a wallet pays to itself is no deposit', async () => {
  const agent = await world.agent('read')
  await payAs(world, agent.address, agent.address, 3_000_000n)

  await indexTransfers(world.world)

  expect(await feed(agent)).toMatchObject([{ amount: '3', from: { address: zero } }])
})

test('equal transfers in one transaction are as many deposits', async () => {
  const agent = await world.agent('read')
  const payer = newKey().at
  await fund(world.chain, payer, { usdcAtomic: 2_000_000n })
  await sendAs(world, payer, approve(multicall3))
  const call = transferFrom(payer, agent.address, 1_000_000n)
  await sendAs(world, payer, batchCalls(usdc, [call, call]), multicall3)

  await indexTransfers(world.world)
  await indexTransfers(world.world)

  const items = await feed(agent)
  expect(items).toMatchObject([{ amount: '1' }, { amount: '1' }])
  expect(new Set(items.map(({ tx_hash }) => tx_hash)).size).toBe(1)
})

test('tokens that the registry knows are told, each by its symbol', async () => {
  const agent = await world.agent('read')
  await fund(world.chain, agent.address, { eurcAtomic: 7_000_000n, usdcAtomic: 8_000_000n })

  await indexTransfers(world.world)

  const amounts = (await feed(agent)).map(({ amount, token }) => [amount, token])
  expect(amounts).toEqual([
    ['7', 'EURC'],
    ['8', 'USDC'],
  ])
})

test('a look-alike of a known recipient is hidden and carries a warning when asked for', async () => {
  const agent = await world.agent('read')
  const friend = newKey().at
  await world.acquaint(agent, friend)
  const stranger = lookAlike(friend)
  await payAs(world, friend, agent.address, 1_000_000n)
  await payAs(world, stranger, agent.address, 1_000_000n)

  await indexTransfers(world.world)

  expect(await feed(agent)).toMatchObject([{ from: { address: friend } }])
  expect(await feed(agent, '&hidden=true')).toMatchObject([
    { from: { address: stranger }, warning: poisoning },
  ])
})

test.each([
  ['less than a cent from a stranger is hidden', 9_999n, false, 'bait'],
  ['a cent from a stranger is shown', 10_000n, false, undefined],
  ['less than a cent from a known recipient is shown', 1n, true, undefined],
  ['nothing from a stranger is hidden', 0n, false, 'anybody'],
  ['nothing in the name of a known recipient is hidden', 0n, true, 'anybody'],
])('%s', async (_, value, isKnown, warning) => {
  const agent = await world.agent('read')
  const sender = newKey().at
  if (isKnown) await world.acquaint(agent, sender)
  await payAs(world, sender, agent.address, value)

  await indexTransfers(world.world)

  const [shown, hidden] = [await feed(agent), await feed(agent, '&hidden=true')]
  expect([shown.length, hidden.length]).toEqual(warning ? [0, 1] : [1, 0])
  if (warning) expect(hidden[0]?.['warning']).toContain(warning)
  expect([...shown, ...hidden][0]).toMatchObject({ from: { address: sender } })
})

test('a transfer of nothing in the name of a wallet is never told as its own', async () => {
  const victim = await world.agent('read')
  const other = await world.agent('read')
  await sendAs(world, newKey().at, transferFrom(victim.address, other.address, 0n))

  await indexTransfers(world.world)

  for (const query of ['', '&hidden=true']) expect(await feed(victim, query)).toEqual([])
  expect(await feed(other)).toEqual([])
  expect(await feed(other, '&hidden=true')).toMatchObject([
    { amount: '0', from: { address: victim.address } },
  ])
  expect((await feed(other, '&hidden=true'))[0]).not.toHaveProperty('from.alias')
})

test('whoever deposits is not known for it', async () => {
  const agent = await world.agent('read')
  const sender = newKey().at
  await payAs(world, sender, agent.address, 500_000_000n)
  await finalize(world.chain)

  await indexTransfers(world.world)

  const { body } = await agent.post('/resolve-transfer-recipient', { recipient: sender })
  expect(body).toMatchObject({ known: false })
})

test.each(['false', '1', ''])('refuses hidden=%j', async (hidden) => {
  const agent = await world.agent('read')

  const answer = await agent.get(`/wallet-activity-list?hidden=${hidden}`)

  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

const zero = `0x${'0'.repeat(40)}`

/** Returns calldata that approves an unlimited allowance. */
function approve(spender: string) {
  return hex(`0x095ea7b3${spender.slice(2).padStart(64, '0')}${'f'.repeat(64)}`)
}
