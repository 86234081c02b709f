/** An answer can be lost after its work was done; no retry does the work again. */
import { beforeAll, expect, test } from 'vitest'
import type { World } from '../../shared/world.ts'
import { resolveAll, settledAsOnChain } from '../support/books.ts'
import { askedFor, posting } from '../support/held.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Returns a network that performs the named request and loses its first answer. */
function losing(answerOf: string): World['fetch'] {
  let isLost = false
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (isLost || !askedFor(input, init).includes(answerOf)) return answer
    isLost = true
    throw new TypeError('the connection was lost')
  }
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
  const post = posting(world, { fetch: losing(lost) })

  await post(payer, path, body, 'once')
  await world.tick(61)
  const again = await payer.post(path, body, { 'idempotency-key': 'once' })

  await resolveAll(world)
  expect(again).toMatchObject({ status: 200 })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
  expect(await settledAsOnChain(world, payer)).toEqual([again.body['transfer_id']])
})
