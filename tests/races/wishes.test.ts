/**
 * Whatever an agent repeats, loses or forgets, and whatever its owner answers in between, a wish is paid at
 * most once and waits at most once.
 */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { signedIn } from '../support/browserless.ts'
import { inForm } from '../support/cases.ts'
import { usdcOf } from '../support/ledger.ts'
import { type Random, seeded } from '../support/seed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const orders = inForm(5, 100)
const steps = 12
const secondsOfDay = 86_401

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const nextSchema = z.object({
  next: z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }).optional(),
})

/** An agent's order at one shop. It is a new wish after a day in which nothing of the old is left. */
type Wish = { shop: Agent; order: object; days: number; next: z.output<typeof nextSchema>['next'] }

test(`after each of ${orders} random orders of repeats and answers a wish is paid at most once`, {
  timeout: 600_000,
}, async () => {
  const random = seeded()
  let paid = 0
  for (let count = 0; count < orders; count += 1) paid += await runOrder(random)
  expect(paid).toBeGreaterThan(orders / 2)
})

/** Takes random steps on one wish. Returns how often it was paid. */
async function runOrder(random: Random): Promise<number> {
  const payer = await world.agent('pay', { usdc: 2000 })
  const shop = await world.agent('read')
  const terms = { recipient: shop.alias, chain: 'base-sepolia', token: 'USDC', amount: '150' }
  const wish: Wish = { shop, order: terms, days: 1, next: undefined }
  const log: string[] = []
  for (let step = 0; step < steps; step += 1) {
    const name = stepNames[random.between(0, stepNames.length - 1)] ?? 'repeat'
    log.push(name)
    await stepsByName[name](payer, wish)
    const [row] = await world.db.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from private.payments where account = ${payer.id}
        and state = 'awaiting_confirmation' and expires_at > private.clock()`
    expect(row?.waiting, log.join(' ')).toBeLessThanOrEqual(1)
    expect(await timesPaid(wish), log.join(' ')).toBeLessThanOrEqual(wish.days)
  }
  return timesPaid(wish)
}

async function timesPaid({ shop }: Wish): Promise<number> {
  const held = await usdcOf(world, shop)
  expect(held % 150_000_000n).toBe(0n)
  return Number(held / 150_000_000n)
}

const path = '/wallet-custodial-transfer'
const stepsByName = {
  async repeat(payer: Agent, wish: Wish) {
    const { body } = await payer.post(path, wish.order)
    wish.next = nextSchema.parse(body).next
  },
  async insist(payer: Agent, wish: Wish) {
    const { body } = await payer.post(path, { ...wish.order, user_confirmed: true })
    wish.next = nextSchema.parse(body).next
  },
  async loseTheAnswer(payer: Agent, wish: Wish) {
    await Promise.all([payer.post(path, wish.order), payer.post(path, wish.order)])
  },
  async follow(payer: Agent, wish: Wish) {
    if (!wish.next) return
    const { tool, arguments: args } = wish.next
    const now = 'wait_seconds' in args ? { ...args, wait_seconds: 0 } : args
    const { body } = await payer.post(`/${tool.replaceAll('_', '-')}`, now)
    wish.next = nextSchema.parse(body).next
  },
  approve: (payer: Agent) => decide(payer, 'approved'),
  decline: (payer: Agent) => decide(payer, 'declined'),
  async expire(_: Agent, wish: Wish) {
    await world.tick(secondsOfDay)
    wish.days += 1
  },
}
type StepName = keyof typeof stepsByName
const stepNames: StepName[] = [
  'repeat',
  'repeat',
  'insist',
  'loseTheAnswer',
  'follow',
  'follow',
  'approve',
  'approve',
  'decline',
  'expire',
]

/** The owner decides about what waits; a payment that the page calls a repetition is always declined. */
async function decide(payer: Agent, decision: string) {
  const [waiting] = await world.db.sql<{ id: string }[]>`
    select id from private.payments where account = ${payer.id}
      and state = 'awaiting_confirmation' and expires_at > private.clock()`
  if (!waiting) return
  const owner = await signedIn(world, payer)
  const { text } = await owner.visit(`/web/approve/${waiting.id}`)
  const isRepetition = text.includes('The same payment is waiting, or was just made')
  await owner.submit({ decision: isRepetition ? 'declined' : decision })
}
