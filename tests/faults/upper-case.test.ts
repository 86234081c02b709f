/** Payments are booked as usual when the endpoint that is asked first writes hashes in upper case. */
import { expect, test } from 'vitest'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { newKey } from '../support/chain-world.ts'
import { node, pass, sendAs } from '../support/faults/chain.ts'
import { type Liar, type Lie, saying, startLiar } from '../support/faults/liar.ts'
import { onePair, transfer } from '../support/faults/pair.ts'
import { allowPermit2, bookedOf, signedPermit } from '../support/faults/permits.ts'
import { minutes } from '../support/faults/two.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import { signedPayment } from '../support/signed.ts'
import { start } from '../support/world.ts'

const hashes = /"(blockHash|hash|transactionHash)":"0x([0-9a-f]{64})"/g
const shouting: Lie = {
  told: (body) =>
    body.replace(
      hashes,
      (_, name: string, digits: string) => `"${name}":"0x${digits.toUpperCase()}"`,
    ),
}
const lastLog: Lie = saying('eth_getLogs', (logs) =>
  Array.isArray(logs) ? logs.map((log: object) => ({ ...log, logIndex: '0x7fffffff' })) : logs,
)

function severalOf(count: number) {
  const liars: Liar[] = []
  const endpoints = async (url: string) => {
    while (liars.length < count) liars.push(await startLiar(url))
    return liars.map((one) => one.url)
  }
  return { liars, endpoints }
}

test.each([2, 3])(
  'beside %s endpoints payments become final and blocks are read',
  async (count) => {
    const { liars, endpoints } = severalOf(count)
    const world = await start({ chain: true, endpoints })
    const pair = await onePair(world)
    await allowPermit2(world, pair.payer)
    await pass(world, 1)
    await indexTransfers(world.world)
    liars[0]?.tell(shouting)

    const sent = await transfer(world.worker(), pair)
    const purchase = await signedPayment(world, pair.payer, newKey().at)
    const permit = await signedPermit(world, pair.payer, 'exact')
    await pass(world, 1)
    await sendAs(world, issuer, { to: world.chain.usdc, data: purchase.calldata })
    await permit.use()
    await minutes(world, 12, 4)

    const final = { state: 'settled', finality: 'finalized' }
    for (const id of [String(sent.body['transfer_id']), purchase.paymentId, permit.id]) {
      expect(await bookedOf(world, id)).toEqual(final)
    }
    const [cursor] = await world.db.sql<{ through: number }[]>`
    select finalized_through::integer as through from private.transfer_cursors`
    const head = Number(await node(world, 'eth_blockNumber'))
    expect(cursor?.through).toBeGreaterThan(head - 20)
  },
)

test.each([
  ['writes hashes in upper case', shouting],
  ['tells a place in a block that no column holds', lastLog],
])('what a merchant delivered is answered while one endpoint %s', async (_, lie) => {
  const { liars, endpoints } = severalOf(2)
  const market = await openMarket({ endpoints })
  const agent = await market.agent('pay', { usdc: 10 })
  liars[0]?.tell(lie)

  const attempt = attemptOf(await prepare(agent, { resource_url: market.merchant.v2Url }))
  const first = await execute(agent, attempt)
  const again = await execute(agent, attempt)

  const settled = { status: 'settled', response: { status: 200 } }
  expect([first.body, again.body]).toMatchObject([settled, settled])
})
