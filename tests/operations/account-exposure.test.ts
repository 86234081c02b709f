import { expect, test } from 'vitest'
import * as z from 'zod'
import { askMandate, giveMandate } from '../support/mandates.ts'
import { type Agent, start } from '../support/world.ts'

const path = '/account-exposure'
const world = await start()

const body = z.object({
  horizons: z.array(
    z.object({ hours: z.int(), total_usd: z.string(), bound_by: z.array(z.string()) }),
  ),
})

async function exposureOf(agent: Agent): Promise<string[]> {
  const { horizons } = body.parse((await agent.get(path)).body)
  return horizons.map(({ total_usd: usd }) => usd)
}

/** Returns an agent whose owner knows a recipient and the device that its key pays from. */
async function knowing(scope: 'pay' | 'full' = 'pay'): Promise<Agent> {
  const agent = await world.agent(scope)
  await world.acquaint(agent, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
  return agent
}

type Entry = {
  state: string
  level: string
  usd: number
  minutesAgo: number
  mandate?: string
  finality?: string
}

/** Inserts a payment in progress or at its end, as other operations leave it. */
async function enter(
  payer: Agent,
  { state, level, usd, minutesAgo, mandate, finality }: Entry,
): Promise<void> {
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
      tx_hash, block_hash, finality, mandate)
    select ${payer.id}, k.id, 'a device', 'transfer', ${state}, 84532,
      '0x036CbD53842c5426634e7929541eC2318f3dCF7e', ${payer.address},
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', ${usd * 1_000_000}, ${usd * 1_000_000},
      private.clock(), ${level}, private.clock() - make_interval(mins => ${minutesAgo}),
      extract(epoch from private.clock() - make_interval(mins => ${minutesAgo}))::bigint,
      ${`0x${'1'.repeat(64)}`}, ${finality || state === 'settled' ? '0x' : null},
      ${finality ?? (state === 'settled' ? 'finalized' : 'submitted')},
      ${mandate ?? null}
    from private.credentials k where k.account = ${payer.id} limit 1`
}

const limits = (agent: Agent, change: Record<string, string>) =>
  world.db.sql`update private.accounts set ${world.db.sql(change)} where id = ${agent.id}`

test('is what the published limits let through, on either rail alone', async () => {
  const agent = await knowing()

  const answer = await agent.get(path)

  const day = { total_usd: '400', by_rail: { transfer_usd: '400', x402_usd: '400' } }
  expect(answer).toMatchObject({
    status: 200,
    body: {
      horizons: [
        { hours: 1, ...day, bound_by: ['automatic_limit', 'asserted_limit'] },
        { hours: 24, ...day },
        { hours: 168, total_usd: '2800' },
      ],
    },
  })
})

test('is what agents may say was confirmed where the owner knows nobody, and no word adds to it', async () => {
  const [stranger, saying] = [await world.agent('pay'), await world.agent('pay')]
  await enter(saying, { state: 'signed', level: 'agent_asserted', usd: 5, minutesAgo: 1 })

  expect(await exposureOf(stranger)).toEqual(['200', '200', '1400'])
  expect(await exposureOf(saying)).toEqual(['200', '200', '1400'])
})

test('counts mandates and approved payments that are for another key for that key alone', async () => {
  const agent = await knowing()
  const other = await agent.withKey('pay')
  await giveMandate(world, agent, { max_payment_usd_micros: '50000000', max_payments: 1 })

  expect((await exposureOf(agent))[0]).toBe('450')
  expect((await exposureOf(other))[0]).toBe('200')
})

test('takes off what was spent, until it leaves the window', async () => {
  const agent = await knowing()
  await enter(agent, { state: 'settled', level: 'none', usd: 150, minutesAgo: 23 * 60 + 30 })
  await enter(agent, { state: 'settled', level: 'agent_asserted', usd: 20, minutesAgo: 60 })
  await enter(agent, { state: 'released', level: 'none', usd: 200, minutesAgo: 60 })

  expect(await exposureOf(agent)).toEqual(['380', '400', '2800'])
})

test('takes nothing off for what may still be released', async () => {
  const agent = await knowing()
  await enter(agent, { state: 'signed', level: 'none', usd: 200, minutesAgo: 1 })
  await enter(agent, { state: 'signed', level: 'agent_asserted', usd: 200, minutesAgo: 1 })

  expect(await exposureOf(agent)).toEqual(['400', '400', '2800'])
})

test('counts what the owner confirmed against the daily cap alone', async () => {
  const agent = await knowing('full')
  await enter(agent, { state: 'settled', level: 'user_session', usd: 900, minutesAgo: 60 })

  const { horizons } = body.parse((await agent.get(path)).body)

  expect(horizons).toMatchObject([
    { total_usd: '100', bound_by: ['daily_spending_cap'] },
    { total_usd: '400' },
    { total_usd: '2800' },
  ])
})

test('is nothing for a key that only reads, and a key for secrets is not told', async () => {
  const agent = await world.agent('read')

  const refused = await (await agent.withKey('vault')).get(path)

  expect(await exposureOf(agent)).toEqual(['0', '0', '0'])
  expect(refused.status).toBe(403)
})

test('is nothing once the account is frozen', async () => {
  const agent = await world.agent('pay')
  await agent.post('/account-freeze', {})

  expect(await exposureOf(agent)).toEqual(['0', '0', '0'])
})

test('ends with the key', async () => {
  const agent = await knowing()
  await world.db.sql`update private.credentials set expires_at = private.clock() + interval '2 days'
    where account = ${agent.id}`

  expect(await exposureOf(agent)).toEqual(['400', '400', '800'])
})

test('is nothing where nobody new may be paid, until the owner knows somebody, whatever is on its way', async () => {
  const [stranger, known, paying] = [
    await world.agent('pay'),
    await world.agent('pay'),
    await world.agent('pay'),
  ]
  for (const agent of [stranger, known, paying]) {
    await limits(agent, { asserted_new_recipient_limit_usd_micros: '0' })
  }
  await world.acquaint(known, stranger.address)
  await enter(paying, { state: 'signed', level: 'agent_asserted', usd: 5, minutesAgo: 1 })

  expect(await exposureOf(stranger)).toEqual(['0', '0', '0'])
  expect(await exposureOf(known)).toEqual(['400', '400', '2800'])
  expect(await exposureOf(paying)).toEqual(['5', '5', '5'])
})

test('counts what mandates let through beside the limits, on transfers only where they name payees', async () => {
  const [shopping, pinned] = [await knowing(), await knowing()]
  const order = { max_payment_usd_micros: '50000000', max_total_usd_micros: '100000000' }
  await askMandate(world, shopping, order)
  await giveMandate(world, shopping, order)
  await giveMandate(world, pinned, { ...order, pay_to: [shopping.address] })

  const horizon = {
    total_usd: '500',
    bound_by: ['automatic_limit', 'asserted_limit', 'mandate_limits'],
  }
  const rails = (transfer_usd: string) => ({ by_rail: { transfer_usd, x402_usd: '500' } })
  expect((await shopping.get(path)).body).toMatchObject({
    horizons: [{ ...horizon, ...rails('400') }, {}, { total_usd: '2900' }],
  })
  expect((await pinned.get(path)).body).toMatchObject({
    horizons: [{ ...horizon, ...rails('500') }, {}, { total_usd: '2900' }],
  })
})

test('takes off what settled under a mandate, and not what may be released', async () => {
  const agent = await knowing()
  const { id } = await giveMandate(world, agent, {
    max_payment_usd_micros: '50000000',
    max_total_usd_micros: '100000000',
  })
  await enter(agent, { state: 'settled', level: 'mandate', usd: 30, minutesAgo: 60, mandate: id })
  await enter(agent, { state: 'signed', level: 'mandate', usd: 20, minutesAgo: 60, mandate: id })

  expect(await exposureOf(agent)).toEqual(['470', '470', '2870'])
})

test('counts a payment under a mandate as one that may be made anew, until it is final', async () => {
  const agent = await knowing()
  const { id } = await giveMandate(world, agent, {
    max_payment_usd_micros: '300000000',
    max_payments: 1,
  })
  const one = { state: 'signed', level: 'mandate', usd: 1, minutesAgo: 60, mandate: id }
  await enter(agent, { ...one, finality: 'included' })
  const before = await exposureOf(agent)
  await world.db
    .sql`update private.payments set state = 'settled', finality = 'finalized' where mandate = ${id}`

  expect(before[0]).toBe('700')
  expect((await exposureOf(agent))[0]).toBe('400')
})
