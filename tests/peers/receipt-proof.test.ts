/** Receipt proofs of real blocks verify with a second implementation of the trie, part of ethers. */
import { id } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { askNode } from '../../scripts/verify-proof/check.ts'
import { proveReceipt } from '../../shared/chains/evm/inclusion.ts'
import { type Hex, quantitySchema, wordSchema } from '../../shared/chains/hex.ts'
import {
  authorize,
  batchCalls,
  hex,
  type Key,
  known,
  minedTogether,
  newKey,
  rewriting,
  sign,
  worldOn,
} from '../support/chain-world.ts'
import { textWith } from '../support/matching.ts'
import { randomUUID } from '../support/seed.ts'
import { crowd, faultsOf, type Included } from '../support/transfer-proof.ts'

const { chain, usdc } = known('eip155:84532')
const payee = newKey().at
const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

let local: LocalChain
let world: ReturnType<typeof worldOn>

beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  world = worldOn({ [chain.caip2]: local.rpcUrl })
})

afterAll(() => local.stop())

async function funded(usdcAtomic = 1_000n): Promise<Key> {
  const key = newKey()
  await fund(local, key.at, { weiAmount: 10n ** 18n, usdcAtomic })
  return key
}

type Payment = Omit<Included, 'tx_hash' | 'block' | 'log_index' | 'inclusion'>

/** Returns an authorized payment; two of them differ only in their id. */
function paymentOf(from: Key, paymentId: string = randomUUID()): Payment {
  const nonce_preimage = `aoa.payment.v1|${chain.caip2}|${usdc.address.toLowerCase()}|${paymentId}`
  return {
    chain: chain.caip2,
    token: usdc.address,
    from: from.at,
    to: payee,
    amount_atomic: '100',
    authorization_nonce: id(nonce_preimage),
    nonce_preimage,
  }
}

function authorized(payer: Key, { to, amount_atomic, authorization_nonce }: Payment) {
  const nonce = hex(authorization_nonce ?? '')
  return authorize(chain, usdc, payer, { to: hex(to), value: BigInt(amount_atomic), nonce })
}

/** Mines a block of `transactions` transactions, with this one among them. */
async function mineAmong(transactions: number, sender: Key, to: Hex, data: Hex): Promise<Hex> {
  const { raw, hash } = await sign(chain, sender, { to, data, nonce: 0 })
  await minedTogether(local.rpcUrl, async () => {
    await crowd(local.rpcUrl, usdc.address, transactions - 1)
    await callRpc(local.rpcUrl, [['eth_sendRawTransaction', raw]])
  })
  return hash
}

const receiptSchema = z.object({
  blockHash: wordSchema,
  blockNumber: quantitySchema,
  logs: z.array(z.object({ logIndex: quantitySchema })),
})

/** Returns the place of a log from its position in the receipt. */
async function placeOf(transactionHash: Hex, position: number) {
  const [answer] = await callRpc(local.rpcUrl, [['eth_getTransactionReceipt', transactionHash]])
  const { blockHash, blockNumber, logs } = receiptSchema.parse(answer)
  return { transactionHash, blockHash, blockNumber, logIndex: Number(logs[position]?.logIndex) }
}

type Place = Awaited<ReturnType<typeof placeOf>>

async function prove(payment: Payment, place: Place, through = world): Promise<Included> {
  const proof = await proveReceipt(through, chain, place)
  if (proof.status !== 'proven') throw new Error(proof.log)
  return {
    ...payment,
    tx_hash: place.transactionHash,
    block: { number: place.blockNumber.toString(), hash: place.blockHash },
    log_index: place.logIndex,
    inclusion: {
      transaction_index: proof.transactionIndex,
      log_position: proof.logPosition,
      receipt: proof.receipt,
      receipt_proof: proof.nodes,
      header: proof.header,
    },
  }
}

async function faults(proof: Included): Promise<string[]> {
  return faultsOf(proof, (await askNode(local.rpcUrl, proof)).view)
}

async function relayedAmong(transactions: number) {
  const [payer, relayer] = [await funded(), await funded()]
  const payment = paymentOf(payer)
  const data = await authorized(payer, payment)
  return {
    payment,
    place: await placeOf(await mineAmong(transactions, relayer, usdc.address, data), 1),
  }
}

test.each([1, 2, 16, 17, 129, 130, 300])(
  'a payment in a block of %i transactions is proven by one request',
  async (transactions) => {
    const { payment, place } = await relayedAmong(transactions)
    world.requests = 0

    const proof = await prove(payment, place)

    expect(world.requests).toBe(1)
    expect(await blockSize(place)).toBe(transactions)
    expect(await faults(proof)).toEqual([])
  },
)

async function blockSize({ blockHash }: Place): Promise<number> {
  const [count] = await callRpc(local.rpcUrl, [['eth_getBlockTransactionCountByHash', blockHash]])
  return Number(count)
}

test('of two equal payments in a batch each has its own log, and a failed one has neither', async () => {
  const [payer, relayer] = [await funded(200n), await funded()]
  const payments = [paymentOf(payer), paymentOf(payer), paymentOf(payer)]
  const calls = await Promise.all(payments.map((payment) => authorized(payer, payment)))
  const hash = await mineAmong(20, relayer, multicall3, batchCalls(usdc, calls))
  const places = [await placeOf(hash, 1), await placeOf(hash, 3)]

  const found = []
  for (const payment of payments) {
    for (const place of places) found.push(await faults(await prove(payment, place)))
  }

  const another = ['the log before it uses the authorization, or there is none']
  expect(found).toEqual([[], another, another, [], another, another])
})

test('a node that does not answer all receipts at once is asked for each, up to a limit', async () => {
  const without = worldOn(
    { [chain.caip2]: local.rpcUrl },
    rewriting((body) => body.replace('eth_getBlockReceipts', 'eth_noSuchMethod')),
  )
  const [small, large] = [await relayedAmong(130), await relayedAmong(401)]

  const proof = await prove(small.payment, small.place, without)
  const requests = without.requests
  const tooLarge = await proveReceipt(without, chain, large.place)

  expect(await faults(proof)).toEqual([])
  expect(requests).toBe(3)
  expect(tooLarge).toMatchObject({ status: 'unavailable', log: textWith('too large') })
})

const otherDigit = (digit: string) => (digit === 'f' ? 'e' : 'f')

test.each<[string, RegExp, (found: string) => string]>([
  ['a header with a field that is hashed and not told', /(?<="mixHash":"0x)./, otherDigit],
  ['a receipt of another encoding', /(?<="cumulativeGasUsed":"0x)./, otherDigit],
  ['a missing receipt', /"status":"0x1"/, () => '"status":null'],
  ['no block', /"result":\{/, () => '"result":null,"was":{'],
  ['text that is no JSON-RPC', /^/, () => '<html>'],
])('of a node that answers %s no proof is made', async (_what, pattern, replacement) => {
  const { place } = await relayedAmong(3)
  const odd = worldOn({ [chain.caip2]: local.rpcUrl }, async (input, init) => {
    const answer = await fetch(input, init)
    return new Response((await answer.text()).replace(pattern, replacement))
  })

  expect(await proveReceipt(odd, chain, place)).toMatchObject({ status: 'unavailable' })
})

test('a proof that would be too long is not made', async () => {
  const approve = hex(`0x095ea7b3${payee.slice(2).padStart(64, '0')}${'00'.repeat(32)}`)
  const [from] = z.array(z.string()).parse((await callRpc(local.rpcUrl, [['eth_accounts']]))[0])
  const data = batchCalls(usdc, Array<Hex>(700).fill(approve))
  const hash = await minedTogether(local.rpcUrl, () =>
    callRpc(local.rpcUrl, [
      ['eth_sendTransaction', { from, to: multicall3, data, gas: '0xf42400' }],
    ]),
  )

  const proof = await proveReceipt(world, chain, await placeOf(wordSchema.parse(hash[0]), 699))

  expect(proof).toMatchObject({ status: 'unavailable', log: 'the proof is too long' })
})

test('a log that is not in the block, or in another transaction, is not proven', async () => {
  const [{ place }, other] = [await relayedAmong(5), await relayedAmong(1)]
  const wrong = [
    { ...place, logIndex: place.logIndex + 1_000 },
    { ...place, transactionHash: other.place.transactionHash },
    { ...place, blockHash: other.place.blockHash },
    { ...place, blockHash: other.place.transactionHash },
  ]
  for (const one of wrong) {
    expect(await proveReceipt(world, chain, one)).toMatchObject({ status: 'unavailable' })
  }
})
