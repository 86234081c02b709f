/** One endpoint that shows a use in a block that no other has reached yet settles nothing. */
import { expect, test } from 'vitest'
import { useTopic, wordOf } from '../../../shared/chains/evm/rpc/logs.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { node, pass } from '../../support/faults/chain.ts'
import type { Liar } from '../../support/faults/liar.ts'
import { answering, saying, silent, startLiar } from '../../support/faults/liar.ts'
import { onePair } from '../../support/faults/pair.ts'
import { bookedOf } from '../../support/faults/permits.ts'
import { worldOfTwo } from '../../support/faults/two.ts'
import { randomBytes } from '../../support/seed.ts'
import { signedPayment } from '../../support/signed.ts'
import type { Agent, TestWorld } from '../../support/world.ts'
import { start } from '../../support/world.ts'

const hex32 = () => `0x${randomBytes(32).toString('hex')}`

/** Shows that nonce as used, by a log 20 blocks ahead of the latest. */
async function tellAhead(world: TestWorld, liar: Liar | undefined, payer: Agent, nonce: string) {
  const blockNumber = `0x${(Number(await node(world, 'eth_blockNumber')) + 20).toString(16)}`
  const topics = [useTopic, wordOf(payer.address), nonce]
  const place = { blockNumber, blockHash: hex32(), transactionHash: hex32(), logIndex: '0x1' }
  const log = { address: world.chain.usdc, topics, data: '0x', ...place }
  const inventing = saying('eth_getLogs', (read, params) =>
    JSON.stringify(params).includes(nonce.slice(2)) ? [log] : read,
  )
  liar?.tell(answering('authorizationState(address,bytes32)', 1n), inventing)
}

test.each([true, false])('alone; it is asked first: %s', async (isFirst) => {
  const { world, liar } = await worldOfTwo({ lanes: 2, isFirst })
  const { payer, payee } = await onePair(world)
  await pass(world, 60)
  const held = await signedPayment(world, payer, payee.address)
  await pass(world, 60)
  await tellAhead(world, liar, payer, held.nonce)
  await runHousekeeping(world.world)

  expect(await bookedOf(world, held.paymentId)).toMatchObject({ state: 'signed' })
})

test('nor does it among three, while one of the others is silent', async () => {
  const three: Liar[] = []
  const world = await start({
    chain: true,
    endpoints: async (url) => {
      while (three.length < 3) three.push(await startLiar(url))
      return three.map((one, at) =>
        at === 2 ? one.url.replace('127.0.0.1', 'localhost') : one.url,
      )
    },
  })
  const { payer, payee } = await onePair(world)
  await pass(world, 60)
  const held = await signedPayment(world, payer, payee.address)
  await pass(world, 60)
  await tellAhead(world, three[0], payer, held.nonce)
  three[2]?.tell(silent())

  await runHousekeeping(world.world)

  expect(await bookedOf(world, held.paymentId)).toMatchObject({ state: 'signed' })
})
