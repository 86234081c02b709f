import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { type RpcProxy, type Rule, startRpcProxy } from '../../scripts/local/chain/rpc-proxy.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { elapse, node } from '../support/faults/chain.ts'
import { acquainted, proven, statesOf, usdcOf } from '../support/ledger.ts'
import { anew } from '../support/wish.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const order = { chain: 'base-sepolia', token: 'USDC', amount: '10' }
const broadcasting = ['eth_sendRawTransaction']

let world: TestWorld
let first: RpcProxy
let second: RpcProxy
beforeEach(async () => {
  world = await start({
    chain: true,
    endpoints: async (nodeUrl) => {
      ;[first, second] = await Promise.all([startRpcProxy({ nodeUrl }), startRpcProxy({ nodeUrl })])
      return [first.url, second.url]
    },
  })
  onTestFinished(async () => {
    await Promise.all([first.close(), second.close()])
  })
})

function transfer(payer: Agent, payee: Agent) {
  return payer.post('/wallet-custodial-transfer', anew({ ...order, recipient: payee.alias }))
}

/** Makes a payment and proves it. Returns it as its payer and payee see it. */
async function paid({ payer, payee }: { payer: Agent; payee: Agent }) {
  const sent = await transfer(payer, payee)
  const shown = await proven(payer, sent.body['tx_hash'])
  return [sent.status, shown.body['status'], await usdcOf(world, payee)]
}

test('with one endpoint down transfers and balances go on as before', async () => {
  const { payer, payee } = await acquainted(world)
  await first.close()

  const outcome = await paid({ payer, payee })
  const held = await payer.post('/get-wallet-balances', {})

  expect(outcome).toEqual([200, 'settled', 10_000_000n])
  expect(held).toMatchObject({
    status: 200,
    body: { available_usd: '990', chains: [{ status: 'ok' }] },
  })
})

const busy: Rule[] = [
  { kind: 'status', status: 429, methods: ['eth_call', 'eth_getTransactionReceipt'] },
  { kind: 'status', status: 502 },
  { kind: 'drop', share: 0.5 },
  { kind: 'lose' },
]

test('an endpoint that is busy or loses answers stops no payment and doubles none', async () => {
  const { payer, payee } = await acquainted(world)
  for (const [index, rule] of busy.entries()) {
    first.set([rule])
    expect(await paid({ payer, payee })).toEqual([200, 'settled', BigInt(index + 1) * 10_000_000n])
  }
  expect(await statesOf(world, payer)).toEqual(busy.map(() => 'settled'))
})

test('an endpoint that lags makes no payment fail, vanish or look reorganized', async () => {
  const { payer, payee } = await acquainted(world)
  await node(world, 'anvil_mine', '0x20')
  await elapse(world, 60)
  for (const rule of [{ kind: 'lag', blocks: 20 }, { kind: 'no_receipts' }] as const) {
    first.set([rule])
    const sent = await transfer(payer, payee)
    // Anvil answers a broadcast before it has mined it.
    const receipt = ['eth_getTransactionReceipt', sent.body['tx_hash']] as const
    await expect.poll(() => callRpc(world.chain.rpcUrl, [receipt])).not.toEqual([null])
    const early = await payer.post('/transfer-status', { tx_hash: sent.body['tx_hash'] })
    await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x20']])
    const included = await proven(payer, sent.body['tx_hash'])
    await world.tick(700)
    await runHousekeeping(world.world)
    second.set([rule])
    const unseen = await payer.post('/transfer-status', { tx_hash: sent.body['tx_hash'] })
    second.set([])

    expect(early.body).toMatchObject({ status: 'settled' })
    expect(included.body).toMatchObject({ status: 'settled' })
    expect(unseen.body).toMatchObject({ status: 'settled' })
  }
  expect(await statesOf(world, payer)).toEqual(['settled', 'settled'])
})

test('a transfer that both endpoints lost is sent again and paid once', async () => {
  const { payer, payee } = await acquainted(world)
  for (const proxy of [first, second]) proxy.set([{ kind: 'drop', methods: broadcasting }])
  const sent = await transfer(payer, payee)
  for (const proxy of [first, second]) proxy.set([])
  await world.tick(60)
  await runHousekeeping(world.world)
  const shown = await proven(payer, sent.body['tx_hash'])

  expect(sent).toMatchObject({ status: 200, body: { status: 'submitted' } })
  expect(shown.body).toMatchObject({ status: 'settled' })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})

test('bytes that the chain has already set no endpoint aside', async () => {
  const { payer, payee } = await acquainted(world)
  await callRpc(world.chain.rpcUrl, [['evm_setAutomine', false]])
  await transfer(payer, payee)
  await world.tick(60)

  await runHousekeeping(world.world)

  expect(world.world.endpointHealth.size).toBe(0)
  expect(await statesOf(world, payer)).toEqual(['signed'])
})
