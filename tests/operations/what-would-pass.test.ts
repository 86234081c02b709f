/** The suggestions of a refusal or a question pass when the product is asked again. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { formatUsd, parseAmount } from '../../shared/money/amount.ts'
import { type Agent, type Answer, start } from '../support/world.ts'

/**
 * World with a silent chain: port 9 discards all (RFC 863). It counts as able to pay, so prepare
 * decides.
 */
const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const known = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const noon = new Date('2027-03-01T12:00:00.500Z')

function ask(payer: Agent, usd: bigint): Promise<Answer> {
  const offer = {
    scheme: 'exact',
    network: 'eip155:84532',
    asset: usdc,
    amount: usd.toString(),
    payTo: known,
    maxTimeoutSeconds: 60,
    extra: { name: 'USDC', version: '2' },
  }
  return payer.post('/x402-payment-prepare', {
    resource_url: 'https://www.example.com/data',
    x402Version: 2,
    accepts: [offer],
  })
}

type Spend = { secondsAgo: number; level: 'none' | 'agent_asserted' | 'user_session'; usd: number }

/** Inserts what an account spent before noon, as other operations leave it. */
async function spend(payer: Agent, spends: readonly Spend[]): Promise<void> {
  for (const { secondsAgo, level, usd } of spends) {
    const at = new Date(noon.getTime() - secondsAgo * 1000).toISOString()
    await world.db.sql`
      insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
        amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
        tx_hash, block_hash, finality)
      select ${payer.id}, k.id, 'a device', 'transfer', 'settled', 84532, ${usdc}, ${payer.address},
        ${known}, ${usd * 1_000_000}, ${usd * 1_000_000}, private.clock(), ${level}, ${at},
        floor(extract(epoch from ${at}::timestamptz))::bigint,
        ${`0x${'1'.repeat(64)}`}, '0x', 'finalized'
      from private.credentials k where k.account = ${payer.id} limit 1`
  }
}

async function payerWho(spends: readonly Spend[], isAcquainted = true): Promise<Agent> {
  await world.db.setClock(noon)
  const payer = await world.agent('pay')
  if (isAcquainted) await world.acquaint(payer, known)
  await spend(payer, spends)
  return payer
}

const help = z.object({
  would_pass: z.array(
    z.object({
      change: z.string(),
      user_confirmed: z.boolean(),
      amount_usd: z.string().optional(),
      until: z.string().optional(),
      limit_usd: z.string().optional(),
      limit: z.string().optional(),
    }),
  ),
  hint: z.string(),
})

/** Returns the suggestions of an answer, at the top level or in its details. */
function helpOf({ body }: Answer) {
  const details = z.object({ would_pass: z.unknown() }).safeParse(body['details'])
  return help.parse({ ...body, ...details.data })
}

function suggested(answer: Answer, change: string, userConfirmed = false) {
  return helpOf(answer).would_pass.find(
    (one) => one.change === change && one.user_confirmed === userConfirmed,
  )
}

const passes = async (payer: Agent, usd: bigint) =>
  (await ask(payer, usd)).body['requires_user_confirm'] === false

const spends = fc.array(
  fc.record({
    secondsAgo: fc.integer({ min: 0, max: 86_399 }),
    level: fc.constantFrom('none', 'agent_asserted', 'user_session'),
    usd: fc.integer({ min: 1, max: 150 }),
  }),
  { maxLength: 8 },
)

test('the time and the amount that are told pass, and a second or a unit before them does not', async () => {
  const trial = fc.asyncProperty(
    spends,
    fc.integer({ min: 1, max: 200 }),
    async (past, dollars) => {
      const payer = await payerWho(past)
      const usd = BigInt(dollars) * 1_000_000n
      const answer = await ask(payer, usd)
      if (answer.body['requires_user_confirm'] === false) return

      const less = suggested(answer, 'pay_less')
      if (less) {
        const most = parseAmount(less.amount_usd ?? '', 6) ?? 0n
        expect([await passes(payer, most), await passes(payer, most + 1n)]).toEqual([true, false])
      }
      const until = new Date(suggested(answer, 'wait')?.until ?? '')
      await world.db.setClock(new Date(until.getTime() - 1000))
      expect(await passes(payer, usd)).toBe(false)
      await world.db.setClock(until)
      expect(await passes(payer, usd)).toBe(true)
    },
  )

  await fc.assert(trial, { numRuns: 25 })
})

test('the limit that is told passes, and a unit less does not', async () => {
  const payer = await payerWho([{ secondsAgo: 60, level: 'none', usd: 150 }])
  const usd = 80_000_000n
  const raise = suggested(await ask(payer, usd), 'raise_limit')
  const limit = (micros: bigint) => world.db.sql`update private.accounts
    set automatic_daily_limit_usd_micros = ${micros.toString()} where id = ${payer.id}`

  expect(raise).toMatchObject({ limit: 'automatic_limit', limit_usd: '230' })
  await limit(229_999_999n)
  expect(await passes(payer, usd)).toBe(false)
  await limit(230_000_000n)
  expect(await passes(payer, usd)).toBe(true)
})

test('a refusal names the rule, what is left of all windows, when each has room, and what to do', async () => {
  const payer = await payerWho([
    { secondsAgo: 3600, level: 'user_session', usd: 600 },
    { secondsAgo: 1800, level: 'user_session', usd: 300 },
    { secondsAgo: 900, level: 'none', usd: 50 },
  ])

  const refused = await ask(payer, 120_000_000n)

  const until = '2027-03-02T11:00:00.000Z'
  expect(refused).toMatchObject({
    status: 403,
    body: {
      error: 'limit_exceeded',
      hint:
        `Any one of these would pass: pay at most 50 USD now; wait until ${until} and enter this ` +
        'amount then; ask the owner to raise “Daily spending cap” to 1070 USD.',
      details: {
        url: 'http://localhost/web/limits',
        reasons: [
          {
            code: 'daily_spending_cap',
            headroom_usd: '50',
            resets_at: '2027-03-02T11:00:00.000Z',
            message: 'The amount is over what is left of the daily spending cap. 50 USD is left.',
          },
        ],
        windows: {
          automatic_daily: { limit_usd: '200', left_usd: '150' },
          asserted_daily: { limit_usd: '200', left_usd: '200', resets_at: null },
          daily_spending_cap: { limit_usd: '1000', left_usd: '50', fits_at: until },
        },
        would_pass: [
          { change: 'pay_less', user_confirmed: false, amount_usd: '50' },
          { change: 'wait', user_confirmed: false, until },
          {
            change: 'raise_limit',
            limit: 'daily_spending_cap',
            title: 'Daily spending cap',
            limit_usd: '1070',
          },
        ],
      },
    },
  })
})

test('a question to the user says that confirming is enough', async () => {
  const payer = await payerWho([], false)

  const { body } = await ask(payer, 5_000_000n)

  expect(body).toMatchObject({
    requires_user_confirm: true,
    hint: 'Any one of these would pass: confirm with the user and set user_confirmed.',
    would_pass: [{ change: 'confirm_with_user', user_confirmed: true }],
    windows: { daily_spending_cap: { left_usd: '1000', resets_at: null } },
  })
})

test('what the word of the user adds is told before the user is asked', async () => {
  const payer = await payerWho([
    { secondsAgo: 60, level: 'none', usd: 200 },
    { secondsAgo: 120, level: 'agent_asserted', usd: 50 },
  ])

  const { body } = await ask(payer, 170_000_000n)

  expect(body['would_pass']).toMatchObject([
    { change: 'ask_owner_to_approve', user_confirmed: true },
    { change: 'wait', user_confirmed: false, until: '2027-03-02T11:59:00.000Z' },
    { change: 'raise_limit', user_confirmed: false, limit: 'automatic_limit', limit_usd: '370' },
    { change: 'pay_less', user_confirmed: true, amount_usd: formatUsd(150_000_000n) },
    { change: 'wait', user_confirmed: true, until: '2027-03-02T11:58:00.000Z' },
    { change: 'raise_limit', user_confirmed: true, limit: 'asserted_limit', limit_usd: '220' },
  ])
})

test('an amount that fits to the unit once the oldest has left waits for no other', async () => {
  const payer = await payerWho([
    { secondsAgo: 7200, level: 'none', usd: 100 },
    { secondsAgo: 3600, level: 'none', usd: 50 },
  ])

  const answer = await ask(payer, 150_000_000n)

  expect(suggested(answer, 'wait')).toMatchObject({ until: '2027-03-02T10:00:00.000Z' })
})

test('an amount over a whole limit is told to wait for nothing', async () => {
  const payer = await payerWho([])

  const refused = await ask(payer, 1_001_000_000n)

  const changes = helpOf(refused).would_pass.map(({ change }) => change)
  expect(changes).toEqual(['pay_less'])
  expect(refused.body['details']).toMatchObject({
    windows: { daily_spending_cap: { fits_at: null } },
  })
})
