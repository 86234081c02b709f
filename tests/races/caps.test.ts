/** Apps of one account that all pay at once each stop at their own cap. */
import { expect, test } from 'vitest'
import { breaches, resolveAll, settledAsOnChain, watchCaps } from '../support/books.ts'
import { appWith, keyWith } from '../support/capped.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { anew } from '../support/wish.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start({ chain: true })
await watchCaps(world)

async function home() {
  const { payer, payee } = await acquainted(world, 100)
  const order = { chain: 'base-sepolia', token: 'USDC', recipient: payee.address }
  const send = (agent: Agent, amount = '1') =>
    agent.post('/wallet-custodial-transfer', anew({ ...order, amount }))
  /** Sends `times` payments at once. Returns the number that passed; the cap refused all others. */
  const passOf = async (agent: Agent, times: number) => {
    const answers = await Promise.all(Array.from({ length: times }, () => send(agent)))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ body }) => body['error'])).toEqual(refused.map(() => 'limit_exceeded'))
    return times - refused.length
  }
  return { payer, payee, send, passOf }
}

test('two apps and a key that pay at once are each let through to the cap and not beyond', async () => {
  const { payer, payee, passOf } = await home()
  const apps = [await appWith(world, payer, { day: 7 }), await appWith(world, payer, { day: 5 })]
  const key = await keyWith(world, payer, { day: 3 })

  const passed = await Promise.all([...apps, key, payer].map((agent) => passOf(agent, 12)))

  expect(passed).toEqual([7, 5, 3, 12])
  await resolveAll(world)
  expect(await settledAsOnChain(world, payer)).toHaveLength(27)
  expect(await usdcOf(world, payee)).toBe(27_000_000n)
  expect(await breaches(world, payer)).toEqual([])
})

test('once lowering a cap has answered, nothing over it is authorized', async () => {
  const { payer, passOf, send } = await home()
  const app = await appWith(world, payer, { day: 30 })
  const owner = await ownerOf(world, payer)
  const moved = async () => {
    const [row] = await world.db.sql<{ usd: number }[]>`
      select (private.used_of_budget(${app.holder})).usd_micros::integer / 1000000 as usd`
    return row?.usd ?? 0
  }

  const racing = passOf(app, 30)
  const { status } = await send(app)
  const caps = { holder: app.holder, max_per_day_usd_micros: '4000000' }
  await owner.call('owner_set_caps', caps)
  const then = await moved()
  const passed = (await racing) + (status === 200 ? 1 : 0)

  expect(await moved()).toBe(passed)
  expect(passed).toBeLessThanOrEqual(Math.max(then, 4))
})
