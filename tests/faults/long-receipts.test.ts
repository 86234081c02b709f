/** Payments settle even in transactions with so many other logs that no endpoint can return them all. */
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { issuer } from '../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { elapse, node, pass, sendAs } from '../support/faults/chain.ts'
import type { Liar } from '../support/faults/liar.ts'
import { saying, startLiar } from '../support/faults/liar.ts'
import { onePair, transfer } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

let endpoints: Liar[]
let world: TestWorld
beforeEach(async () => {
  endpoints = []
  world = await start({
    chain: true,
    lanes: 1,
    endpoints: async (nodeUrl) => {
      endpoints.push(await startLiar(nodeUrl), await startLiar(nodeUrl))
      return endpoints.map(({ url }) => url)
    },
  })
})

const filter = z.tuple([z.object({ topics: z.array(z.unknown()) })])

/** Makes every endpoint refuse receipts, and logs of a block except those of a single authorization. */
function tellLittle() {
  const refuse = () => {
    throw new Error('the response is too large')
  }
  const receipts = ['eth_getTransactionReceipt', 'eth_getBlockReceipts'].map((method) =>
    saying(method, (read) => (read === null ? null : refuse())),
  )
  const logs = saying('eth_getLogs', (read, params) => {
    return filter.parse(params)[0].topics.length < 3 ? refuse() : read
  })
  for (const endpoint of endpoints) endpoint.tell(...receipts, logs)
}

const tellers = ['nobody', 'the payee', 'a payee that lies'] as const
type Teller = (typeof tellers)[number]

/** Signs a purchase of 5 USDC, and lets its holder use it. */
async function used(teller: Teller = 'nobody') {
  const { payer, payee } = await acquainted(world)
  const payment = await signedPayment(world, payer, payee.address)
  tellLittle()
  await elapse(world, 60)
  const hash = await sendAs(world, issuer, { to: world.chain.usdc, data: payment.calldata })
  await node(world, 'evm_mine')
  const claims = { nobody: null, 'the payee': hash, 'a payee that lies': `0x${'ab'.repeat(32)}` }
  await world.db.sql`update private.payments set state = 'unknown', tx_hash = ${claims[teller]}
    where id = ${payment.paymentId}`
  return { payer, payee, hash }
}

async function placeOf(payer: Agent) {
  const [row] = await world.db.sql`select state, finality, tx_hash, log_index
    from private.payments where account = ${payer.id}`
  return row
}

test.each(tellers)(
  'a payment is final as soon as its block is, whatever else its transaction wrote; told by %s',
  async (teller) => {
    const { payer, payee, hash } = await used(teller)

    await runHousekeeping(world.world)
    const shown = await placeOf(payer)
    await pass(world, 60)
    await runHousekeeping(world.world)

    const place = { state: 'settled', tx_hash: hash, log_index: 1 }
    expect(await usdcOf(world, payee)).toBe(5_000_000n)
    expect(shown).toMatchObject({ ...place, finality: 'included' })
    expect(await placeOf(payer)).toMatchObject({ ...place, finality: 'finalized' })
  },
)

test('nothing of it counts any more a day after it was settled', async () => {
  const { payer } = await used()
  await pass(world, 60)
  await runHousekeeping(world.world)

  await world.tick(86_400)

  const [spent] = await world.db.sql`select (private.spent(${payer.id})).total`
  expect(spent).toEqual({ total: '0' })
})

test('a relayed payment is final after its end, though no receipt can be read any more', async () => {
  const pair = await onePair(world)
  await transfer(world.worker(), pair)
  await runHousekeeping(world.world)
  const shown = await placeOf(pair.payer)
  tellLittle()

  await pass(world, 630)
  await runHousekeeping(world.world)

  expect(shown).toMatchObject({ state: 'settled' })
  expect(await placeOf(pair.payer)).toMatchObject({ state: 'settled', finality: 'finalized' })
})
