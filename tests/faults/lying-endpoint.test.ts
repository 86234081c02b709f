/** One endpoint that lies about time, use or fees, beside an honest one, frees and costs nothing. */
import { getAddress, pad } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import { callRpc, transact } from '../../scripts/local/chain/rpc.ts'
import { cancelTopic, useTopic } from '../../shared/chains/evm/rpc/logs.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node, pass } from '../support/faults/chain.ts'
import { finalBlock } from '../support/faults/forged.ts'
import {
  hiding,
  inventing,
  type Liar,
  laterBy,
  silent,
  startLiar,
  stoppedAt,
  tipping,
} from '../support/faults/liar.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { type Signed, signedPayment } from '../support/signed.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const issuer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

let liar: Liar
let honest: Liar
async function begin(alone = false): Promise<TestWorld> {
  const world = await start({
    chain: true,
    endpoints: async (nodeUrl) => {
      liar = await startLiar(nodeUrl)
      honest = await startLiar(nodeUrl)
      return alone ? [liar.url] : [liar.url, honest.url]
    },
  })
  return world
}

let world: TestWorld
beforeEach(async () => {
  world = await begin()
})

async function use(payment: Signed): Promise<void> {
  await callRpc(world.chain.rpcUrl, [['anvil_impersonateAccount', issuer]])
  await transact(world.chain.rpcUrl, issuer, world.chain.usdc, payment.calldata)
}

test('a lie about the time frees no signature that can still be used', async () => {
  const { payer, payee } = await acquainted(world)
  const payment = await signedPayment(world, payer, payee.address)
  liar.tell(laterBy(3_000_000))

  const shown = await payer.post('/transfer-status', { transfer_id: payment.paymentId })
  await world.tick(60)
  await runHousekeeping(world.world)
  const during = await statesOf(world, payer)
  await use(payment)
  liar.tell()
  await pass(world, 60)
  await runHousekeeping(world.world)

  expect(shown.body).not.toMatchObject({ status: 'released' })
  expect(during).not.toContain('released')
  expect(await usdcOf(world, payee)).toBe(5_000_000n)
  expect(await statesOf(world, payer)).toEqual(['settled'])
})

test('a lie that nothing was used, told after the end, frees no payment that was', async () => {
  const { payer, payee } = await acquainted(world)
  const payment = await signedPayment(world, payer, payee.address)
  const before = await node(world, 'eth_blockNumber')
  await use(payment)
  await pass(world, 2_000)
  liar.tell(stoppedAt(before), laterBy(3_000_000))

  for (let run = 0; run < 3; run += 1) await runHousekeeping(world.world)
  const during = await statesOf(world, payer)
  liar.tell()
  await runHousekeeping(world.world)

  expect(during).not.toContain('released')
  expect(await usdcOf(world, payee)).toBe(5_000_000n)
  expect(await statesOf(world, payer)).toEqual(['settled'])
})

test('a lie that it was cancelled frees no payment that was used', async () => {
  const { payer, payee } = await acquainted(world)
  const payment = await signedPayment(world, payer, payee.address)
  await use(payment)
  await pass(world, 2_000)
  const { number: blockNumber, hash: blockHash } = await finalBlock(world)
  const log = {
    blockNumber,
    blockHash,
    transactionHash: `0x${'ab'.repeat(32)}`,
    logIndex: '0x0',
    address: world.chain.usdc,
    data: '0x',
    topics: [cancelTopic, pad(getAddress(payer.address)), payment.nonce],
  }
  liar.tell(hiding(useTopic), inventing(log))
  honest.tell(silent())

  for (let run = 0; run < 3; run += 1) await runHousekeeping(world.world)
  const during = await statesOf(world, payer)
  honest.tell()
  await runHousekeeping(world.world)
  const beside = await statesOf(world, payer)
  liar.tell()
  await runHousekeeping(world.world)

  expect([...during, ...beside]).not.toContain('released')
  expect(await usdcOf(world, payee)).toBe(5_000_000n)
  expect(await statesOf(world, payer)).toEqual(['settled'])
})

test('what is over is freed once both endpoints say so', async () => {
  const { payer, payee } = await acquainted(world)
  await signedPayment(world, payer, payee.address)
  await pass(world, 610)
  honest.tell(stoppedAt('0x1'))

  await runHousekeeping(world.world)
  const during = await statesOf(world, payer)
  honest.tell()
  await runHousekeeping(world.world)

  expect(during).not.toContain('released')
  expect(await statesOf(world, payer)).toEqual(['released'])
})

async function feesOf(): Promise<{ fee: bigint; tip: bigint }[]> {
  const rows = await world.db.sql<{ fee: string; tip: string }[]>`
    select max_fee_per_gas::text as fee, max_priority_fee_per_gas::text as tip
      from private.relay_transactions`
  return rows.map(({ fee, tip }) => ({ fee: BigInt(fee), tip: BigInt(tip) }))
}

const order = { chain: 'base-sepolia', token: 'USDC', amount: '1' }

test('what an endpoint says that gas costs is believed up to the budget', async () => {
  world = await begin(true)
  const { payer, payee } = await acquainted(world)
  liar.tell(tipping(500n * 10n ** 9n))

  const refused = await payer.post(path, { ...order, recipient: payee.alias })

  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(String(refused.body['message'])).toContain('costs more now than this service pays')
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await feesOf()).toEqual([])
})

test('no lie about the time makes a transfer good for longer than ten minutes', async () => {
  world = await begin(true)
  const { payer, payee } = await acquainted(world)
  const send = () => payer.post(path, { ...order, recipient: payee.alias })

  liar.tell(laterBy(400))
  const near = await send()
  liar.tell(laterBy(2_000_000))
  const far = await send()

  const [row] = await world.db.sql<{ seconds: number }[]>`
    select max(valid_before) - extract(epoch from min(authorized_at))::integer as seconds
      from private.payments where valid_before is not null`
  expect(near.status).toBe(200)
  expect(Number(row?.seconds)).toBeLessThanOrEqual(601)
  expect(far).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(String(far.body['message'])).toContain('too far ahead')
})
