/** An endpoint that stretches its answers delays a decision of the others by at most one look. */
import { expect, test } from 'vitest'
import { pass } from '../support/faults/chain.ts'
import { answering, saying, startLiar } from '../support/faults/liar.ts'
import { acquainted } from '../support/ledger.ts'
import { signedPayment } from '../support/signed.ts'
import type { TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

/** Returns a payment that ended unused; one endpoint beside `honest` others reports its nonce as spent. */
async function endedBeside({ honest }: { honest: number }) {
  let slow = ''
  const world = await start({
    chain: true,
    endpoints: async (url) => {
      const liar = await startLiar(url)
      slow = liar.url
      liar.tell(
        answering('authorizationState(address,bytes32)', 1n),
        saying('eth_getLogs', refused),
      )
      return [slow, url, url.replace('127.0.0.1', 'localhost')].slice(0, honest + 1)
    },
  })
  const { payer, payee } = await acquainted(world)
  const { paymentId } = await signedPayment(world, payer, payee.address)
  await pass(world, 700)
  const look = () => payer.post('/transfer-status', { transfer_id: paymentId })
  return { world, slow, look }
}

function refused(): never {
  throw new Error('too many')
}

/** Awaits `wait` with the body before each request to that endpoint. */
function beforeRequests(
  { world }: TestWorld,
  url: string,
  wait: (body: string) => Promise<void>,
): void {
  const { fetch } = world
  world.fetch = async (input, init) => {
    const asked = input instanceof Request ? input.url : input.toString()
    if (asked.startsWith(url)) await wait(typeof init?.body === 'string' ? init.body : '')
    return fetch(input, init)
  }
}

test('what enough endpoints show as unused is freed while another one holds its answers back', async () => {
  const { world, slow, look } = await endedBeside({ honest: 2 })
  const { promise: held, resolve: answer } = Promise.withResolvers<void>()
  beforeRequests(world, slow, () => held)

  const { body } = await look()
  answer()

  expect(body).toMatchObject({ status: 'released' })
})

test('an endpoint that takes three seconds for an answer is asked twice in a look at a payment', async () => {
  const { world, slow, look } = await endedBeside({ honest: 1 })
  let asked = 0
  beforeRequests(world, slow, async () => {
    asked += 1
    await world.tick(3)
  })

  const first = await look()
  const askedInFirst = asked
  await look()

  expect(first.body).toMatchObject({ status: 'submitted' })
  expect([askedInFirst, asked]).toEqual([2, 4])
})
