/** Orders are told to the owner in full, and neither a liar nor a stranger makes more of one than it says. */
import { encodeFunctionData, parseAbi } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { runYield } from '../../shared/yield/rules.ts'
import { type Browser, signedIn } from '../support/browserless.ts'
import { hex } from '../support/chain-world.ts'
import { node, stopMining } from '../support/faults/chain.ts'
import { settleAll } from '../support/faults/settle.ts'
import { proven, usdcOf } from '../support/ledger.ts'
import { type Market, openMarket } from '../support/market.ts'
import { openShop } from '../support/shop.ts'
import type { Agent, Answer } from '../support/world.ts'
import { read } from '../support/yield-gate.ts'

let world: Market
let vault: `0x${string}`
let gate: `0x${string}`
const offered = z.object({
  vaults: z.tuple([z.looseObject({ vault: z.string(), gate: z.string() })]).rest(z.unknown()),
})
const ordered = z.object({
  order: z.object({ order_id: z.uuid(), tx_hash: z.string().nullable() }),
})
beforeAll(async () => {
  world = await openMarket({ yield: true })
  await indexTransfers(world.world)
  const [first] = offered.parse(
    (await (await world.agent('read')).get('/defi-vaults-list')).body,
  ).vaults
  vault = hex(first.vault)
  gate = hex(first.gate)
})

const path = '/defi-order-create'
const order = (operation: string, amount: string, more: object = {}) => ({
  operation,
  chain: 'base-sepolia',
  vault,
  amount,
  user_confirmed: true,
  ...more,
})
const orderIn = ({ body }: Answer) => ordered.parse(body).order
async function settled(agent: Agent, body: object): Promise<void> {
  await proven(agent, orderIn(await agent.post(path, body)).tx_hash)
}
async function depositor(usdc: number, amount: string): Promise<Agent> {
  const agent = await world.agent('pay', { usdc })
  await world.acquaint(agent, gate)
  await settled(agent, order('deposit', amount))
  return agent
}
async function approved(browser: Browser, terms: Record<string, string>): Promise<string> {
  await browser.visit('/web/yield/rule')
  await browser.submit(terms)
  const asked = await browser.submit({ sure: 'yes' })
  await browser.submit({ decision: 'approved' }, asked.path)
  return asked.path
}
async function follow() {
  await world.tick(61)
  await runYield(world.world)
  await runHousekeeping(world.world)
  await runHousekeeping(world.world)
}

test('every page and mail on which the owner approves an order says which vault, what and how lossy', async () => {
  const agent = await world.agent('pay', { usdc: 900 })
  const slippage = { max_slippage_bps: 100 }
  const browser = await signedIn(world, agent)
  const asked = [
    await agent.post(path, order('deposit', '500', slippage)),
    await agent.post(path, order('deposit', '300', slippage)),
  ]
  const [first, second] = asked.map((one) => orderIn(one).order_id)
  const shown = [
    (await browser.visit(`/web/approve/${first}`)).text,
    (await browser.visit(`/web/approve-batch?payment=${first}&payment=${second}`)).text,
    JSON.stringify(await world.mails(`${agent.id}@owner.example`)),
  ]

  for (const text of shown) expect.soft(text).toContain('Local vault')
  for (const text of shown) expect.soft(text).toMatch(/at most 1 % less/)
})

test('no row of the list approves an order', async () => {
  const agent = await depositor(200, '100')
  await world.db.sql`update private.accounts set automatic_daily_limit_usd_micros = 0,
    asserted_daily_limit_usd_micros = 0 where id = ${agent.id}`
  await agent.post(path, order('withdraw', 'all', { max_slippage_bps: 100, user_confirmed: false }))

  const list = await (await signedIn(world, agent)).visit('/web/approvals')

  expect(list.text).not.toContain('Approve and pay')
})

test('an endpoint that contradicts itself makes no order', async () => {
  const agent = await depositor(200, '100')
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const liar = world.worker({
    fetch: async (input, init) => {
      const request = new Request(input, init)
      if (!request.url.startsWith(world.chain.rpcUrl)) return fetch(request)
      const text = (await request.text())
        .replaceAll(`0a28a477${word(5_000_000n)}`, `0a28a477${word(99_000_000n)}`)
        .replaceAll(/4cdad506[0-9a-f]{64}/g, `4cdad506${word(1000n)}`)
      const headers = { 'content-type': 'application/json' }
      return fetch(request.url, { method: 'POST', body: text, headers })
    },
  })

  const answer = await liar.post(agent, path, order('withdraw', '5', { max_slippage_bps: 50 }))

  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(await usdcOf(world, agent)).toBe(100_000_000n)
})

test('nobody gets a token of the key of a rule', async () => {
  const agent = await world.agent('pay', { usdc: 180 })
  const browser = await signedIn(world, agent)
  await approved(browser, { above: '', keep: '1', day: '300', refills: 'yes' })
  const [rule] = await world.db.sql<{ id: string }[]>`select id from private.credentials
    where account = ${agent.id} and shown = 'rule'`
  const page = `/web/keys/${rule?.id}`
  await browser.visit(page)
  const made = await browser.submit({ wanted: 'replaced', overlap: '0', days: '90' }, page)
  const [key = ''] = /aoa_test_[A-Za-z0-9_-]{20,}/.exec(made.text) ?? []
  await world.acquaint(agent, agent.address)

  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'user-agent': 'guarantee/1.0',
  }
  const terms = order('deposit', '130', { max_slippage_bps: 100, user_confirmed: false })
  const answer = await world.send(path, { method: 'POST', headers, body: JSON.stringify(terms) })

  expect(answer.body['covered_by']).toBeUndefined()
})

test('a purchase that names the gate is not paid', async () => {
  const agent = await world.agent('pay', { usdc: 20 })
  const shop = await openShop(world)
  shop.asks = { payTo: gate, amount: '5000000' }
  const before = await read(world.chain, world.chain.usdc, 'balanceOf', gate)

  const refused = await agent.post('/x402-payment-prepare', { resource_url: shop.url })

  expect(refused.body['error']).toBe('unsupported_scheme')
  expect(await read(world.chain, world.chain.usdc, 'balanceOf', gate)).toBe(before)
})

test('two withdrawals in one transaction of a stranger are counted once each', async () => {
  const agent = await depositor(100, '60')
  await indexTransfers(world.world)
  await stopMining(world)
  const hashes = [
    orderIn(await agent.post(path, order('withdraw', '20'))).tx_hash,
    orderIn(await agent.post(path, order('withdraw', '10'))).tx_hash,
  ]
  const calls = await Promise.all(
    hashes.map(async (hash) => {
      const seen = await node(world, 'eth_getTransactionByHash', hash)
      const { input } = z.object({ input: z.string() }).parse(seen)
      return { target: gate, allowFailure: false, callData: hex(input) }
    }),
  )
  const abi = parseAbi([
    'struct Call { address target; bool allowFailure; bytes callData; }',
    'function aggregate3(Call[] calls) payable',
  ])
  const data = encodeFunctionData({ abi, functionName: 'aggregate3', args: [calls] })
  const from = '0x00000000000000000000000000000000000000aa'
  await node(world, 'anvil_setBalance', from, '0xffffffffffffffffff')
  await node(world, 'anvil_impersonateAccount', from)
  const price = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
  const to = '0xcA11bde05977b3631167028862bE2a173976CA11'
  await callRpc(world.chain.rpcUrl, [
    ['eth_sendTransaction', { from, to, data, gas: '0x2dc6c0', ...price }],
  ])
  await node(world, 'evm_mine')
  await node(world, 'evm_setAutomine', true)
  await settleAll(world)
  await indexTransfers(world.world)

  const { vaults } = offered.parse((await agent.get('/defi-vaults-list')).body)
  expect(vaults[0]).toMatchObject({ paid_in: '60.02', paid_out: '30.02' })
})

test('the rule that the form proposes takes out again what a payment lacks', async () => {
  const agent = await world.agent('pay', { usdc: 100 })
  await approved(await signedIn(world, agent), { above: '1', day: '300', refills: 'yes' })
  await follow()
  const recipient = (await world.agent('read')).alias
  const payment = { recipient, chain: 'base-sepolia', token: 'USDC', amount: '10' }
  await agent.post('/wallet-custodial-transfer', { ...payment, user_confirmed: true })

  for (let minute = 0; minute < 5; minute += 1) await follow()

  expect(await usdcOf(world, agent)).toBe(10_000_000n)
})
