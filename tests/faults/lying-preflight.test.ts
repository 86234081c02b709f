/** One endpoint that lies in the checks before a payment neither refuses nor changes it. */
import { beforeEach, expect, test } from 'vitest'
import { blacklist, pause, unblacklist, unpause } from '../../scripts/local/fund.ts'
import type { Liar, Lie } from '../support/faults/liar.ts'
import { answering, laterBy, silent, startLiar } from '../support/faults/liar.ts'
import { acquainted } from '../support/ledger.ts'
import { openMarket, pay } from '../support/market.ts'
import { openShop } from '../support/shop.ts'
import type { Agent } from '../support/world.ts'

let liar: Liar
let honest: Liar
const market = await openMarket({
  endpoints: async (nodeUrl) => {
    liar = await startLiar(nodeUrl)
    honest = await startLiar(nodeUrl)
    return [liar.url, honest.url]
  },
})
const shop = await openShop(market)

let payer: Agent
let payee: Agent
beforeEach(async () => {
  liar.tell()
  honest.tell()
  const pair = await acquainted(market)
  payer = pair.payer
  payee = pair.payee
})

const transfer = () =>
  payer.post('/wallet-custodial-transfer', {
    chain: 'base-sepolia',
    token: 'USDC',
    amount: '1',
    recipient: payee.alias,
  })
const purchase = () => pay(payer, { resource_url: shop.url })

const bars: Record<string, Lie> = {
  'that the token is paused': answering('paused()', 1n),
  'that everybody is barred': answering('isBlacklisted(address)', 1n),
}

test.each(Object.entries(bars))('a lie of one endpoint %s refuses nothing', async (_, lie) => {
  liar.tell(lie)

  const [sent, bought] = [await transfer(), await purchase()]
  const shown = await payer.post('/resolve-transfer-recipient', { recipient: payee.address })

  expect([sent.status, bought.body['status']]).toEqual([200, 'settled'])
  expect(JSON.stringify(shown.body)).not.toContain('barred')
})

test('what both endpoints show is refused, also while one of them names another cause', async () => {
  liar.tell(answering('paused()', 1n))
  await blacklist(market.chain, payee.address)
  const barred = await transfer()
  await unblacklist(market.chain, payee.address)
  liar.tell()
  await pause(market.chain)
  const paused = await transfer()
  await unpause(market.chain)

  expect(barred.body).toMatchObject({ error: 'recipient_refused' })
  expect(String(paused.body['message'])).toContain('paused all transfers')
})

test('a lie of one endpoint about the time refuses nothing', async () => {
  liar.tell(laterBy(2_000_000))

  expect((await transfer()).status).toBe(200)
})

test('a lie of one endpoint about the price of calldata makes nothing dearer', async () => {
  liar.tell(answering('getL1FeeUpperBound(uint256)', 10n ** 20n))

  expect((await transfer()).status).toBe(200)
})

test('a lie of one endpoint about the height signs nothing at a block that is not there', async () => {
  liar.tell(answering('getBlockNumber()', 10n ** 9n))

  const answers = [await transfer(), await purchase()]

  const rows = await market.db.sql<{ block: number }[]>`
    select authorized_block::integer as block from private.payments where account = ${payer.id}`
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(Math.max(...rows.map(({ block }) => block))).toBeLessThan(100_000)
})

test('what one endpoint alone tells about the height is not kept with what is signed', async () => {
  liar.tell(answering('getBlockNumber()', 10n ** 9n))
  honest.tell(silent())

  const answers = [await transfer(), await purchase()]

  const rows = await market.db.sql<{ block: number | null }[]>`
    select authorized_block::integer as block from private.payments where account = ${payer.id}`
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(Math.max(...rows.map(({ block }) => block ?? 0))).toBeLessThan(100_000)
})
