/** A hosted action moves only as its state and browser allow, and the agent sees its outcome. */
import { beforeAll, expect, test } from 'vitest'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { newKey } from '../support/chain-world.ts'
import { lookAlike, payAs } from '../support/deposits.ts'
import { browserOf, linkOf, statusOf } from '../support/links.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })

beforeAll(async () => {
  await indexTransfers(world.world)
})

test('a link that nobody opens is pending, then expired, and opens no more', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'human_verification' })
  const phone = browserOf(world, link, 'phone')
  expect(await statusOf(agent, link)).toEqual({
    action_id: link.action_id,
    action_type: 'human_verification',
    status: 'pending',
    expires_at: link.expires_at,
  })

  await world.tick(901)

  expect(await statusOf(agent, link)).toMatchObject({ status: 'expired' })
  for (const step of ['open', 'verify', 'decline', 'look'] as const) {
    expect((await phone(step))?.action).toMatchObject({ status: 'expired' })
  }
})

test('looking at a link changes nothing, and shows an address only once it is opened', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'deposit' })
  const phone = browserOf(world, link, 'phone')
  const stored = () => world.db.sql`select to_jsonb(a) from private.hosted_actions a`
  const before = await stored()

  const scanned = await browserOf(world, link, 'mail scanner')('look')
  const seen = await phone('look')

  expect(await stored()).toEqual(before)
  for (const page of [scanned, seen]) {
    expect(page).toMatchObject({ alias: agent.alias, address: null, action: { status: 'pending' } })
  }
  expect(await phone('open')).toMatchObject({ address: agent.address })
})

test('of two browsers the first that opens a link has it; the other learns nothing and can do nothing', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'human_verification' })
  const browsers = ['phone', 'desktop'].map((name) => browserOf(world, link, name))

  const opened = await Promise.all(browsers.map((browser) => browser('open')))

  expect(opened.filter((page) => page?.action !== null)).toHaveLength(1)
  const late = opened[0]?.action ? browsers[1] : browsers[0]
  for (const step of ['look', 'open', 'decline', 'verify'] as const) {
    expect(await late?.(step)).toEqual({ action: null, alias: agent.alias, address: null })
  }
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
})

test('opening again by the same browser keeps the hour that the first opening gave', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'deposit' })
  const phone = browserOf(world, link, 'phone')
  const first = await phone('open')
  await world.tick(3_599)

  expect((await phone('open'))?.action).toEqual(first?.action)
  await world.tick(2)

  expect(await statusOf(agent, link)).toMatchObject({ status: 'expired' })
})

test('what was declined stays declined', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'human_verification' })
  const phone = browserOf(world, link, 'phone')

  await phone('decline')

  for (const step of ['open', 'verify', 'decline'] as const) {
    expect((await phone(step))?.action).toMatchObject({ status: 'declined' })
  }
  expect(await statusOf(agent, link)).not.toHaveProperty('result')
})

test('a verification is told with its end, entered in the feed, and given once', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'human_verification' })
  const phone = browserOf(world, link, 'phone')
  await phone('verify')
  expect(await statusOf(agent, link)).toMatchObject({ status: 'pending' })
  await phone('open')
  await world.db.setClock(new Date('2027-02-01T12:00:00Z'))
  await world.db.sql`update private.hosted_actions set expires_at = private.clock() + interval '1 h'
    where id = ${link.action_id}`

  await phone('verify')
  await world.tick(60)
  await phone('verify')

  expect(await statusOf(agent, link)).toMatchObject({
    status: 'finished',
    result: { verified_at: '2027-02-01T12:00:00.000Z', valid_until: '2027-02-01T13:00:00.000Z' },
  })
  const feed = await agent.get('/wallet-activity-list?category=security')
  expect(feed.body['items']).toMatchObject([{ type: 'human_verified' }])
})

test('of declining and confirming at once one counts, and the other changes nothing', async () => {
  const agent = await world.agent('read')
  for (let round = 0; round < 8; round += 1) {
    const link = await linkOf(agent, { action_type: 'human_verification' })
    const phone = browserOf(world, link, 'phone')
    await phone('open')

    const pages = await Promise.all([phone('verify'), phone('decline'), phone('verify')])

    const { status } = await statusOf(agent, link)
    expect(['finished', 'declined']).toContain(status)
    expect(new Set(pages.map((page) => page?.action?.status))).toContain(status)
    expect(await statusOf(agent, link)).toMatchObject({ status })
  }
})

test('a deposit that comes after the opening finishes a deposit action, one from before does not', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'deposit', chain: 'base-sepolia', amount: '2' })
  await payAs(world, newKey().at, agent.address, 1_000_000n)
  await indexTransfers(world.world)
  await browserOf(world, link, 'phone')('open')
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
  const from = newKey().at

  const tx_hash = await payAs(world, from, agent.address, 2_000_000n)
  await indexTransfers(world.world)

  expect(await statusOf(agent, link)).toMatchObject({
    status: 'finished',
    result: { amount: '2', token: 'USDC', chain: 'eip155:84532', tx_hash, from },
  })
  await world.db.sql`update private.deposits set reorged = true where tx_hash = ${tx_hash}`
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
})

test('neither bait nor another token finishes a deposit action', async () => {
  const agent = await world.agent('read')
  const known = newKey().at
  await world.acquaint(agent, known)
  const anyToken = await linkOf(agent, { action_type: 'deposit' })
  const euros = await linkOf(agent, { action_type: 'deposit', token: 'EURC' })
  await browserOf(world, anyToken, 'phone')('open')
  await browserOf(world, euros, 'phone')('open')

  await payAs(world, newKey().at, agent.address, 9n)
  await payAs(world, lookAlike(known), agent.address, 5_000_000n)
  await indexTransfers(world.world)
  expect(await statusOf(agent, anyToken)).toMatchObject({ status: 'opened' })
  await payAs(world, newKey().at, agent.address, 5_000_000n)
  await indexTransfers(world.world)

  expect(await statusOf(agent, anyToken)).toMatchObject({ status: 'finished' })
  expect(await statusOf(agent, euros)).toMatchObject({ status: 'opened' })
})

test('a connected wallet finishes with what came from itself, not with a gift of a stranger', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'walletconnect' })
  const phone = browserOf(world, link, 'phone')
  const wallet = newKey().at
  await phone('connect', { wallet })
  expect((await phone('open'))?.action).toMatchObject({ wallet: null })
  await phone('connect', { wallet })
  await browserOf(world, link, 'desktop')('connect', { wallet: newKey().at })

  await payAs(world, newKey().at, agent.address, 5_000_000n)
  await indexTransfers(world.world)
  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
  await payAs(world, wallet, agent.address, 3_000_000n)
  await indexTransfers(world.world)

  expect(await statusOf(agent, link)).toMatchObject({
    status: 'finished',
    result: { amount: '3', from: wallet },
  })
})

test("another account's action answers as one that does not exist", async () => {
  const link = await linkOf(await world.agent('read'), { action_type: 'login' })
  const stranger = await world.agent('full')
  const missing = { ...link, action_id: '0f8fad5b-d9cb-469f-a165-70867728950e' }

  const answers = await Promise.all([link, missing].map((one) => statusOf(stranger, one)))

  for (const body of answers) expect(body).toMatchObject({ error: 'action_not_found' })
})

test('a link that does not exist shows nothing', async () => {
  const url = `http://localhost/web/action/${'A'.repeat(43)}`

  expect(await browserOf(world, { url }, 'phone')('look')).toBeUndefined()
})
