/** The owner freezes, and sets limits, recipients and devices, with a fresh proof where it widens. */
import { beforeAll, describe, expect, test } from 'vitest'
import { feedOf, ownerOf } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const known = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const imitation = `0x7099${'0'.repeat(32)}79C8`

let world: TestWorld
beforeAll(async () => {
  // A silent chain counts as able to pay, so prepare makes the decision.
  world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
})

async function account(provenMinutesAgo = 0) {
  const agent = await world.agent('pay')
  return { agent, owner: await ownerOf(world, agent, provenMinutesAgo) }
}

/** Returns the decision about this amount to the known recipient, without any confirmation. */
async function passes(agent: Agent, usd: number): Promise<unknown> {
  const offer = {
    scheme: 'exact',
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    amount: String(usd * 1_000_000),
    payTo: known,
    maxTimeoutSeconds: 60,
    extra: { name: 'USDC', version: '2' },
  }
  const challenge = { x402Version: 2, accepts: [offer] }
  const body = { resource_url: 'https://www.example.com/data', ...challenge }
  const answer = await agent.post('/x402-payment-prepare', body)
  return answer.body['requires_user_confirm'] ?? answer.body['error']
}

describe('unfreezing', () => {
  test('lets payments go on, and is told once', async () => {
    const { agent, owner } = await account()
    await world.acquaint(agent, known)
    await agent.post('/account-freeze', {})
    expect(await passes(agent, 1)).toBe('account_frozen')

    const answers = [await owner.unfreeze(), await owner.unfreeze()]

    expect(answers).toEqual([[{ unfrozen: true }], [{ unfrozen: false }]])
    expect(await passes(agent, 1)).toBe(false)
    expect(await feedOf(world.db, agent)).toEqual(['account_frozen', 'account_unfrozen'])
  })

  test('needs a proof of a short time ago', async () => {
    const { agent, owner } = await account(11)
    await agent.post('/account-freeze', {})

    expect(await owner.unfreeze()).toEqual({ refused: 'proof_required' })
    expect((await agent.get('/get-identity')).body).toMatchObject({ frozen: true })
  })
})

describe('a limit', () => {
  const set = (name: string, usd: number) => ({ limits: { [name]: `${usd}000000` } })

  test('is lowered and raised, holds from the next decision on, and is told with both figures', async () => {
    const { agent, owner } = await account()
    await world.acquaint(agent, known)

    const lowered = await owner.call('owner_set_limits', set('automatic_daily', 5))
    expect([await passes(agent, 5), await passes(agent, 6)]).toEqual([false, true])
    const raised = await owner.call('owner_set_limits', set('automatic_daily', 300))
    expect([await passes(agent, 300), await passes(agent, 301)]).toEqual([false, true])

    expect([lowered, raised]).toEqual([
      [{ name: 'automatic_daily', outcome: 'lowered', before: '200000000' }],
      [{ name: 'automatic_daily', outcome: 'raised', before: '5000000' }],
    ])
    const told = await world.db.sql`select summary from private.activities
      where account = ${agent.id} and type like 'limit%' order by id desc limit 1`
    expect(told[0]?.['summary']).toBe(
      'The daily limit for payments without confirmation was raised from 5 to 300 USD.',
    )
  })

  test('is lowered without a fresh proof, and never raised', async () => {
    const { owner } = await account(11)

    expect(await owner.call('owner_set_limits', set('daily_spending_cap', 10))).toMatchObject([
      { outcome: 'lowered' },
    ])
    expect(await owner.call('owner_set_limits', set('daily_spending_cap', 11))).toEqual({
      refused: 'proof_required',
    })
  })

  test('has bounds, and the name of none is none', async () => {
    const { owner } = await account()

    const wrong = [set('daily_spending_cap', 1_000_001), set('other', 1)]
    for (const one of [...wrong, { limits: { automatic_daily: '-1' } }]) {
      expect(await owner.call('owner_set_limits', one)).toMatchObject([
        { outcome: 'out_of_bounds' },
      ])
    }
    expect(await owner.call('owner_set_limits', set('asserted_daily', 200))).toMatchObject([
      { outcome: 'same' },
    ])
  })

  test('that two raise and lower at once ends as one of both left it', async () => {
    const { agent, owner } = await account()
    const stale = await ownerOf(world, agent, 11)

    const [lowered, raised] = await Promise.all([
      owner.call('owner_set_limits', set('asserted_daily', 50)),
      stale.call('owner_set_limits', set('asserted_daily', 100)),
    ])

    // 100 is a decrease from 200 and an increase from 50; the function knows which under the lock.
    expect(Array.isArray(lowered)).toBe(true)
    expect([
      [{ name: 'asserted_daily', outcome: 'lowered', before: '200000000' }],
      { refused: 'proof_required' },
    ]).toContainEqual(raised)
  })
})

describe('a recipient', () => {
  test('that the owner added is paid without asking until it is removed', async () => {
    const { agent, owner } = await account()
    await world.acquaint(agent, imitation.replace('79C8', '0000'))

    expect(await owner.call('owner_add_recipient', { address: known })).toEqual([
      { outcome: 'added' },
    ])
    expect(await passes(agent, 1)).toBe(false)
    expect(await owner.call('owner_add_recipient', { address: known })).toEqual([
      { outcome: 'known' },
    ])
    expect(await owner.call('owner_forget_recipient', { address: known })).toEqual([
      { forgotten: true },
    ])
    expect(await passes(agent, 1)).toBe(true)
    expect((await feedOf(world.db, agent)).filter((type) => type.startsWith('recipient'))).toEqual([
      'recipient_added',
      'recipient_forgotten',
    ])
  })

  test('is not added when it is the own wallet or looks like a known one', async () => {
    const { agent, owner } = await account()
    await owner.call('owner_add_recipient', { address: known })

    expect(await owner.call('owner_add_recipient', { address: imitation })).toEqual([
      { outcome: 'similar' },
    ])
    expect(await owner.call('owner_add_recipient', { address: agent.address })).toEqual([
      { outcome: 'own' },
    ])
  })
})

test('a device that was removed is asked about again, and another stays', async () => {
  const { agent, owner } = await account()
  const other = await agent.withKey('pay')
  await world.acquaint(agent, known)
  const listed = await owner.call('owner_list_devices', { listed_max: 9 })
  const devices = Array.isArray(listed) ? listed : []
  const [own] = await world.db.sql`select id from private.credentials
    where account = ${agent.id} and kind = 'api_key' order by created_at limit 1`
  const device = devices.find(({ key }) => key === own?.['id'])

  const forgotten = await owner.call('owner_forget_device', {
    key: device?.['key'],
    fingerprint: device?.['fingerprint'],
  })

  expect(forgotten).toEqual([{ forgotten: true }])
  expect([await passes(agent, 1), await passes(other, 1)]).toEqual([true, false])
})
