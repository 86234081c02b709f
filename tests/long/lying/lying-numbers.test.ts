/** When one of three endpoints returns impossible numbers, every request still gets an answer. */
import { decodeFunctionData, encodeFunctionResult, numberToHex } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { multicallAbi } from '../../../shared/chains/evm/abi.ts'
import { hexSchema } from '../../../shared/chains/hex.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { pass } from '../../support/faults/chain.ts'
import { answering, type Liar, type Lie, saying, startLiar } from '../../support/faults/liar.ts'
import { acquainted } from '../../support/ledger.ts'
import { authorizing, signedPayment } from '../../support/signed.ts'
import { start } from '../../support/world.ts'
import { requirementV2 } from '../../support/x402.ts'

const liars: Liar[] = []
const world = await start({
  chain: true,
  gasPayers: 2,
  endpoints: async (nodeUrl) => {
    while (liars.length < 3) liars.push(await startLiar(nodeUrl))
    return liars.map(({ url }) => url)
  },
})
const [liar] = liars
beforeEach(() => liar?.tell())

const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
/** Code that answers every call with a word of ones, so every nonce of Permit2 looks spent. */
const spentCode = `0x7f${'ff'.repeat(32)}60005260206000f3`
const bitmapSelector = '4fe02b44'

const asked = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) })
const snapshotCall = z.object({ data: hexSchema })

/** Returns Multicall's answer: the block, its time, and the requested number of words. */
function snapshotAt(block: bigint, data: z.output<typeof hexSchema>, state: bigint) {
  const word = (value: bigint) => ({
    success: true,
    returnData: numberToHex(value, { size: 32 }),
  })
  const { args } = decodeFunctionData({ abi: multicallAbi, data })
  const rest = Array.isArray(args?.[0]) ? args[0].slice(3).map(() => word(state)) : []
  const result = [{ success: false, returnData: '0x' as const }, word(block), word(1n), ...rest]
  return encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result })
}

/** Returns a lie: permits are spent in that block, which is the latest, and no logs exist. */
function spentIn(block: bigint): Lie {
  const height = numberToHex(block)
  const answer = ({ id, method, params: [first, at] }: z.output<typeof asked>) => {
    if (method === 'eth_call') {
      const isBefore = typeof at === 'string' && at.startsWith('0x') && BigInt(at) < block
      const state = isBefore ? 0n : 2n ** 256n - 1n
      return {
        jsonrpc: '2.0',
        id,
        result: snapshotAt(block, snapshotCall.parse(first).data, state),
      }
    }
    if (method === 'eth_getBlockByNumber') {
      const result = { hash: `0x${'ab'.repeat(32)}`, number: '0x7ffffffe', timestamp: '0x1' }
      return { jsonrpc: '2.0', id, result }
    }
    return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'too many' } }
  }
  return {
    told: (truth, body) => {
      if (!body.includes(bitmapSelector) && !body.includes(height)) return truth
      const said: unknown = JSON.parse(body)
      const answers = z.array(asked).parse([said].flat()).map(answer)
      return JSON.stringify(Array.isArray(said) ? answers : answers[0])
    },
  }
}

test.each([
  ['far beyond every chain', 2n ** 62n],
  ['that no column of ours holds', 2n ** 200n],
])('a permit that is told to be used at a height %s keeps nobody waiting', async (_, block) => {
  const { payer, payee } = await acquainted(world)
  const other = await acquainted(world)
  const unused = await signedPayment(world, other.payer, other.payee.address)
  const requirement = requirementV2({
    scheme: 'upto',
    extra: { facilitatorAddress: '0x976EA74026E726554dB657fA54763abd0C3a0aa9' },
  })
  const upto = { transfer_method: 'permit2', scheme: 'upto', requirement }
  const permit = { ...(await authorizing(world, payer, payee.address, upto)), allowanceNonce: '3' }
  await world.world.custody?.authorize(permit)
  await callRpc(world.chain.rpcUrl, [['anvil_setCode', permit2, spentCode]])
  liar?.tell(spentIn(block))

  const during = await payer.post('/transfer-status', { transfer_id: permit.paymentId })
  for (let minute = 0; minute < 25; minute += 1) {
    await pass(world, 60)
    await runHousekeeping(world.world)
  }
  liar?.tell()
  const after = await payer.post('/transfer-status', { transfer_id: permit.paymentId })
  const feed = await payer.get('/wallet-activity-list')
  const [row] = await world.db
    .sql`select state from private.payments where id = ${unused.paymentId}`

  expect([during.status, after.status, feed.status]).toEqual([200, 200, 200])
  expect(row).toEqual({ state: 'released' })
})

test('a payment whose row cannot be read keeps no other waiting', async () => {
  const { payer, payee } = await acquainted(world)
  const broken = await signedPayment(world, payer, payee.address)
  await world.db.sql`update private.payments set terms = '[]' where id = ${broken.paymentId}`
  const other = await acquainted(world)
  const unused = await signedPayment(world, other.payer, other.payee.address)

  for (let minute = 0; minute < 25; minute += 1) {
    await pass(world, 60)
    await runHousekeeping(world.world)
  }

  const [row] = await world.db
    .sql`select state from private.payments where id = ${unused.paymentId}`
  expect(row).toEqual({ state: 'released' })
})

test('a time that no date holds is asked of the next endpoint', async () => {
  const { payer } = await acquainted(world)
  liar?.tell(answering('getCurrentBlockTimestamp()', 2n ** 54n))

  const { status, body } = await payer.post('/get-wallet-balances', {})

  expect(status).toBe(200)
  expect(JSON.stringify(body['chains'])).toContain('"status":"ok"')
})

test('a receipt of an impossible type is proven by the next endpoint', async () => {
  const { payer, payee } = await acquainted(world)
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '1', recipient: payee.alias }
  const { body } = await payer.post('/wallet-custodial-transfer', order)
  await pass(world, 20)
  await runHousekeeping(world.world)
  const typed = z.array(z.looseObject({}))
  liar?.tell(
    saying('eth_getBlockReceipts', (receipts) =>
      typed.parse(receipts).map((receipt) => ({ ...receipt, type: '0x1000' })),
    ),
  )

  const { transfer_id } = body
  const told = await payer.post('/transfer-status', { transfer_id, include_proof: true })

  expect(told.status).toBe(200)
  expect(told.body).toMatchObject({ proof: { inclusion: { transaction_index: 0 } } })
})
