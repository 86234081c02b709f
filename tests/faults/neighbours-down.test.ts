import { beforeEach, expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { fund } from '../../scripts/local/chain.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { acquainted, proven, statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { anew } from '../support/wish.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC', amount: '10' }

let world: TestWorld
beforeEach(async () => {
  world = await start({ chain: true })
})

test('with its node down a transfer is refused with 503 and nothing is reserved', async () => {
  const { payer, payee } = await acquainted(world)
  await world.chain.stop()

  const refused = await payer.post(path, anew({ ...order, recipient: payee.alias }))
  const identity = await payer.get('/get-identity')

  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(await statesOf(world, payer)).toEqual(['prepared'])
  expect(identity.body).toMatchObject({ limits: { automatic_daily: { left_usd: '200' } } })
})

test('with the database down every answer is 503 and money stays where it is', async () => {
  const { payer, payee } = await acquainted(world)
  await world.db.stopGateway()

  const refused = await payer.post(path, anew({ ...order, recipient: payee.alias }))
  const identity = await payer.get('/get-identity')

  for (const answer of [refused, identity]) {
    expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  }
  expect(await statesOf(world, payer)).toEqual([])
})

test('a transfer whose broadcast was lost is sent again and paid once', async () => {
  const { payer, payee } = await acquainted(world)
  const { fetch } = world.world
  world.world.fetch = (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    const isBroadcast = body.includes('eth_sendRawTransaction')
    return isBroadcast ? Promise.reject(new Error('connection lost')) : fetch(input, init)
  }
  const sent = await payer.post(path, anew({ ...order, recipient: payee.alias }))
  world.world.fetch = fetch
  await world.tick(60)

  await runHousekeeping(world.world)
  await proven(payer, sent.body['tx_hash'])
  await runHousekeeping(world.world)

  expect(sent).toMatchObject({ status: 200, body: { status: 'submitted' } })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
  expect(await statesOf(world, payer)).toEqual(['settled'])
})

test('without a relayer the wallet pays its own gas, and without gas nothing is reserved', async () => {
  const { payer, payee } = await acquainted(world)
  await world.db.sql`update private.gas_payers set paused_for = 'a test'`

  const refused = await payer.post(path, anew({ ...order, recipient: payee.alias }))
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  const first = await payer.post(path, anew({ ...order, recipient: payee.alias }))
  const second = await payer.post(path, anew({ ...order, recipient: payee.alias }))
  const proof = await proven(payer, second.body['tx_hash'])

  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(first).toMatchObject({ status: 200, body: { status: 'submitted' } })
  expect(proof.body).toMatchObject({
    status: 'settled',
    proof: { authorization_nonce: textWith('0x') },
  })
  expect(await usdcOf(world, payee)).toBe(20_000_000n)
})

test('an authorization that expired unused at a finalized block frees what it reserved', async () => {
  const { payer, payee } = await acquainted(world)
  await callRpc(world.chain.rpcUrl, [['evm_setAutomine', false]])
  const { transfer_id } = (await payer.post(path, anew({ ...order, recipient: payee.alias }))).body
  await callRpc(world.chain.rpcUrl, [['anvil_dropAllTransactions']])
  await world.tick(1_600)

  await runHousekeeping(world.world)
  const before = await payer.post('/transfer-status', { transfer_id })
  await callRpc(world.chain.rpcUrl, [['anvil_dropAllTransactions']])
  await callRpc(world.chain.rpcUrl, [['evm_increaseTime', 1_600]])
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x10']])
  await runHousekeeping(world.world)
  const after = await payer.post('/transfer-status', { transfer_id })

  expect(before.body).toMatchObject({ status: 'submitted' })
  expect(after.body).toMatchObject({ status: 'released' })
  const { body } = await payer.get('/get-identity')
  expect(body).toMatchObject({ limits: { automatic_daily: { left_usd: '200' } } })
})

test('a block that is replaced without the payment shows as reorged', async () => {
  const { payer, payee } = await acquainted(world)
  const { tx_hash } = (await payer.post(path, anew({ ...order, recipient: payee.alias }))).body
  const included = await proven(payer, tx_hash)
  await callRpc(world.chain.rpcUrl, [['anvil_reorg', 1, []]])

  const gone = await payer.post('/transfer-status', { tx_hash })

  expect(included.body).toMatchObject({ status: 'settled', finality: 'included' })
  expect(gone.body).toMatchObject({ finality: 'reorged' })
})

test('finality follows the block tags of the chain', async () => {
  const { payer, payee } = await acquainted(world)
  const { tx_hash } = (await payer.post(path, anew({ ...order, recipient: payee.alias }))).body
  const labels = []
  await proven(payer, tx_hash)

  for (const blocks of ['0x1', '0x4', '0x8']) {
    const { body } = await payer.post('/transfer-status', { tx_hash })
    labels.push(body['finality'])
    await callRpc(world.chain.rpcUrl, [['anvil_mine', blocks]])
  }

  expect(labels).toEqual(['included', 'included', 'safe'])
  await indexTransfers(world.world)
  const { body } = await payer.post('/transfer-status', { tx_hash })
  expect(body).toMatchObject({ finality: 'finalized', confirmations: 14 })
})
