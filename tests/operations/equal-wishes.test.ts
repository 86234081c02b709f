/** Equal wishes at once, without an idempotency key, are one payment. */
import { beforeAll, expect, test } from 'vitest'
import { acquaint } from '../support/acquaint.ts'
import { usdcOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})
const path = '/wallet-custodial-transfer'

async function pair() {
  const payer = await world.agent('pay', { usdc: 500 })
  const payee = await world.agent('read')
  const order = (amount: string) => ({
    recipient: payee.alias,
    chain: 'base-sepolia',
    token: 'USDC',
    amount,
  })
  return { payer, payee, order }
}

/** A worker whose first request to the chain waits until `go`. */
function slowChain() {
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const worker = world.worker({
    fetch: async (input, init) => {
      const url = input instanceof Request ? input.url : String(input)
      if (url.includes(world.chain.rpcUrl)) {
        reached.resolve()
        await gate.promise
      }
      return fetch(input, init)
    },
  })
  return { worker, reached: reached.promise, go: () => gate.resolve() }
}

test.each([
  ['on the word of the user', { user_confirmed: true }],
  ['to a known recipient', {}],
])(
  'a wish that is told again while the first is on its way is never silently paid twice, %s',
  async (_, said) => {
    const { payer, payee, order } = await pair()
    if (!('user_confirmed' in said)) await acquaint(world.db, payer, payee.address)
    const slow = slowChain()

    const first = slow.worker.post(payer, path, { ...order('5'), ...said })
    await slow.reached
    const again = await payer.post(path, { ...order('5'), ...said })
    slow.go()
    const late = await first

    const told = [late, again].map(({ body }) => [
      body['transfer_id'],
      body['status'],
      body['reasons'],
    ])
    expect(await usdcOf(world, payee), JSON.stringify(told)).toBe(5_000_000n)
  },
)

test('equal wishes at once that need the owner are one payment that waits', async () => {
  const { payer, order } = await pair()
  const answers = await Promise.all([1, 2, 3, 4].map(() => payer.post(path, order('150'))))
  expect(new Set(answers.map(({ body }) => body['transfer_id'])).size).toBe(1)
})
