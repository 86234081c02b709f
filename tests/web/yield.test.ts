/** Rules for yield: made by the owner, followed within their mandate, and ended with it. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { fund } from '../../scripts/local/chain.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { runYield } from '../../shared/yield/rules.ts'
import { type Browser, signedIn } from '../support/browserless.ts'
import { hex } from '../support/chain-world.ts'
import { node } from '../support/faults/chain.ts'
import { settleAll } from '../support/faults/settle.ts'
import { usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let vault: `0x${string}`
let gate: `0x${string}`
beforeAll(async () => {
  world = await start({ chain: true, yield: true })
  await indexTransfers(world.world)
  const { body } = await (await world.agent('read')).get('/defi-vaults-list')
  const [first] = offered.parse(body).vaults
  vault = hex(first.vault)
  gate = hex(first.gate)
})

const offered = z.object({
  vaults: z.tuple([z.looseObject({ vault: z.string(), gate: z.string() })]),
})

const terms = { above: '100', keep: '50', day: '300', refills: 'yes' }

/** Makes a rule on the pages and approves its mandate. */
async function approved(browser: Browser, differs: Record<string, string> = {}): Promise<string> {
  await browser.visit('/web/yield/rule')
  await browser.submit({ ...terms, ...differs })
  const asked = await browser.submit({ sure: 'yes' })
  const active = await browser.submit({ decision: 'approved' }, asked.path)
  expect(active.text).toContain('This mandate is active')
  return asked.path
}

/** Follows the rules a minute later, and settles what they ordered. */
async function follow() {
  await world.tick(61)
  await runYield(world.world)
  await runHousekeeping(world.world)
  await runHousekeeping(world.world)
}

const listed = z.object({
  orders: z.array(z.looseObject({ operation: z.string(), amount: z.string(), status: z.string() })),
})
async function ordersOf(agent: Agent) {
  const { orders } = listed.parse((await agent.get('/defi-orders-list')).body)
  return orders.map(({ operation, amount, status }) => [operation, amount, status])
}

test('a rule is rehearsed and approved, moves in what is spare, and tells why', async () => {
  const agent = await world.agent('pay', { usdc: 180 })
  await indexTransfers(world.world)
  const browser = await signedIn(world, agent)
  await browser.visit('/web/yield/rule')
  const rehearsed = await browser.submit(terms)
  const made = await browser.submit({ sure: 'yes' })
  await follow()
  const before = await ordersOf(agent)
  await browser.visit(made.path)
  await browser.submit({ decision: 'approved' }, made.path)

  await follow()
  const page = await browser.visit('/web/yield')
  const { body } = await agent.get('/defi-vaults-list')

  expect(body['vaults']).toMatchObject([{ automation: { limit_usd: '300', left_usd: '170' } }])
  expect(rehearsed.text).toContain('Above 100 USDC, keep 50 USDC and move the rest in.')
  expect(rehearsed.text).toMatch(/Moved in 130.00 USDC Days with money moved in 1/)
  expect(made.path).toMatch(/^\/web\/mandate\//)
  expect(before).toEqual([])
  expect(await ordersOf(agent)).toEqual([['deposit', '130', 'settled']])
  expect(await usdcOf(world, agent)).toBe(50_000_000n)
  expect(page.text).toContain('By your rule: 180 USDC were liquid; 50 stay.')
  expect(page.text).toMatch(/Active At most 300 USDC a day/)
})

test('100 looks at one rule at once make one order, within the most in a day', async () => {
  const agent = await world.agent('pay', { usdc: 500 })
  await approved(await signedIn(world, agent))
  await world.tick(61)

  await Promise.all(Array.from({ length: 100 }, () => runYield(world.worker().world)))
  await runHousekeeping(world.world)
  await follow()

  expect(await ordersOf(agent)).toEqual([['deposit', '300', 'settled']])
  expect(await usdcOf(world, agent)).toBe(200_000_000n)
})

test('a payment that lacks funds is paid once, after a withdrawal', async () => {
  const agent = await world.agent('pay', { usdc: 180 })
  await approved(await signedIn(world, agent))
  await follow()
  const payee = await world.agent('read')
  await world.acquaint(agent, payee.address)
  const payment = {
    recipient: payee.alias,
    chain: 'base-sepolia',
    token: 'USDC',
    amount: '70',
    user_confirmed: true,
  }

  const lacking = await agent.post('/wallet-custodial-transfer', payment)
  await follow()
  const paid = await agent.post('/wallet-custodial-transfer', payment)
  await follow()

  expect(lacking).toMatchObject({
    status: 409,
    body: { error: 'insufficient_funds', hint: textWith('waits for a rule of the owner') },
  })
  expect(paid.status).toBe(200)
  expect(await ordersOf(agent)).toEqual([
    ['withdraw', '20', 'settled'],
    ['deposit', '130', 'settled'],
  ])
  expect(await usdcOf(world, payee)).toBe(70_000_000n)
})

test.each([
  ['a frozen account', async (agent: Agent) => void (await agent.post('/account-freeze', {}))],
  [
    'a suspended mandate',
    async (_: Agent, browser: Browser, mandate: string) => {
      await browser.visit(mandate)
      await browser.submit({ decision: 'suspended' }, mandate)
    },
  ],
])('%s stops its rules', async (_, end) => {
  const agent = await world.agent('full', { usdc: 180 })
  const browser = await signedIn(world, agent)
  const mandate = await approved(browser)
  await end(agent, browser, mandate)

  await follow()

  expect(await usdcOf(world, agent)).toBe(180_000_000n)
})

test('a rule whose order failed on the chain rests for a day', async () => {
  const agent = await world.agent('pay', { usdc: 180 })
  const [code] = await callRpc(world.chain.rpcUrl, [['eth_getCode', gate, 'latest']])
  await approved(await signedIn(world, agent))
  await node(world, 'anvil_setCode', gate, '0x')

  await follow()
  await settleAll(world)
  for (let look = 0; look < 3; look += 1) await follow()
  const failed = await ordersOf(agent)
  await node(world, 'anvil_setCode', gate, code)
  await world.tick(86_400)
  await follow()

  expect(failed).toEqual([['deposit', '130', 'released']])
  expect(await ordersOf(agent)).toEqual([['deposit', '130', 'settled'], ...failed])
})

test.each([
  [{ above: '40' }, 'What is moved in must be above what is kept.'],
  [{ above: '', refills: '' }, 'Enter what it moves in, or let it take money out.'],
  [{ day: '0' }, 'The daily maximum is 0'],
  [{ keep: '-1' }, 'Amounts from 0 to 1000000'],
])('%j makes no rule and says why', async (differs, why) => {
  const agent = await world.agent('pay')
  const browser = await signedIn(world, agent)
  await browser.visit('/web/yield/rule')

  const told = await browser.submit({ ...terms, ...differs, sure: 'yes' })

  expect([told.status, told.text]).toEqual([400, expect.stringContaining(why)])
  expect((await browser.visit('/web/mandates')).text).toContain('No mandates yet')
})

test('an account has ten rules at most, and those that ended leave no key', async () => {
  const agent = await world.agent('pay')
  const browser = await signedIn(world, agent)
  const make = async () => {
    await browser.visit('/web/yield/rule')
    await browser.submit(terms)
    return browser.submit({ sure: 'yes' })
  }
  const made = []
  for (let rule = 0; rule < 10; rule += 1) made.push(await make())
  const over = await make()
  const [first] = made
  await browser.visit(first?.path ?? '')
  await browser.submit({ decision: 'declined' }, first?.path)
  const again = await make()
  const live = await world.db.sql`select from private.credentials
    where account = ${agent.id} and shown = 'rule' and revoked_at is null`

  expect(made.every(({ text }) => text.includes('For your rule: Local vault.'))).toBe(true)
  expect(first?.html).not.toContain('name="any_key"')
  expect([over.status, over.text]).toEqual([409, expect.stringContaining('Too many mandates')])
  expect(again.path).toMatch(/^\/web\/mandate\//)
  expect(live).toHaveLength(10)
})

test('what a position earned is kept once a day, and told as events and on the page', async () => {
  const agent = await world.agent('pay', { usdc: 180 })
  await approved(await signedIn(world, agent))
  await follow()
  const earn = async () => {
    await fund(world.chain, vault, { usdcAtomic: 13_000_000n })
    await world.tick(86_400)
    await Promise.all([1, 2, 3].map(() => runYield(world.world)))
  }
  await earn()
  await earn()

  const { body } = await agent.get('/defi-order-events?limit=50')
  const page = await (await signedIn(world, agent)).visit('/web/yield')

  const told = events.parse(body['events'])
  const accrued = told.filter(({ event }) => event === 'yield_accrued')
  expect(told.map(({ event }) => event)).toContain('included')
  expect(accrued.map(({ order_id }) => order_id)).toEqual([null, null])
  for (const { accrued: amount } of accrued) expect(Number(amount)).toBeGreaterThan(0)
  expect(page.text).toContain('What the position had earned on each of 2 days.')
})

const events = z.array(
  z.looseObject({
    event: z.string(),
    order_id: z.string().nullable(),
    accrued: z.string().nullable(),
  }),
)
