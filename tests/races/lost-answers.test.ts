/** An answer on its way back can be lost when what it tells was done: no retry may do it again. */
import { beforeAll, expect, test } from 'vitest'
import { resolveAll, settledAsOnChain } from '../support/books.ts'
import { functionsIn } from '../support/functions.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { openProduct } from '../support/product.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start, userAgent } from '../support/world.ts'

const folder = 'wallet-custodial-transfer'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Posts over a network that does the named request and then loses its answer, the first time. */
async function postLosing(answerOf: string, { key }: Agent, body: object): Promise<number> {
  let isLost = false
  const product = openProduct(world.bindings, {
    log: () => {},
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      const body = typeof init?.body === 'string' ? init.body : ''
      const isTheOne = `${new Request(input).url} ${body}`.includes(answerOf)
      if (isLost || !isTheOne) return answer
      isLost = true
      throw new TypeError('the connection was lost')
    },
  })
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'user-agent': userAgent,
    'idempotency-key': 'once',
  }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await functionsIn(product)
    .get(folder)
    ?.fetch(new Request(`http://aoa/${folder}`, request))
  expect(isLost).toBe(true)
  return answer?.status ?? 0
}

test.each([
  'claim_idempotency',
  'begin_payment',
  'eth_feeHistory',
  'custody_authorize',
  'custody_record',
  'eth_sendRawTransaction',
  'keep_answer',
])('when the answer of %s is lost, the same Idempotency-Key pays once', async (lost) => {
  const { payer, payee } = await acquainted(world)
  const body = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '10' }
  await postLosing(lost, payer, body)
  await world.tick(61)

  const again = await payer.post(`/${folder}`, body, { 'idempotency-key': 'once' })

  await resolveAll(world)
  expect(again).toMatchObject({ status: 200 })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
  expect(await settledAsOnChain(world, payer)).toEqual([again.body['transfer_id']])
})
