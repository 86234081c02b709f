/** Compares a transfer through the product with a plain script: sign, send, wait for the receipt. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseAbi,
  publicActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { callRpc } from '../local/chain/rpc.ts'
import { fund } from '../local/chain.ts'
import { type Figure, median, quantile } from './report.ts'
import { freshPayee, inParallel, productArm, waitingArm } from './runtimes.ts'
import type { BenchWorld } from './world.ts'

const perRound = 10
const pollMilliseconds = 2
const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
const sentBody = z.object({ tx_hash: z.templateLiteral(['0x', z.string()]) })

/** Measures the time to the receipt of both in turn. */
export async function benchTransfer(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const ours = await throughProduct(world)
  const plain = await throughScript(world)
  const latencies: Record<'ours' | 'plain', number[]> = { ours: [], plain: [] }
  for (let at = 0; at < rounds * perRound + 5; at += 1) {
    const [first, second] = [await timed(ours), await timed(plain)]
    if (at < 5) continue
    latencies.ours.push(first)
    latencies.plain.push(second)
  }
  const detail = {
    'p50 ms to mined': median(latencies.ours),
    'p50 ms of the plain script': median(latencies.plain),
    'p95 ratio': quantile(latencies.ours, 0.95) / quantile(latencies.plain, 0.95),
  }
  const value = median(latencies.ours) / median(latencies.plain)
  return [{ name: 'transfer to mined, over a plain viem script', value, target: 1, detail }]
}

async function timed(run: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await run()
  return performance.now() - began
}

async function throughProduct(world: BenchWorld): Promise<() => Promise<void>> {
  const { key } = await world.payer()
  const payee = await world.agent(world.sql)
  const reader = createPublicClient({ transport: http(world.chain.rpcUrl) })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '0.01' }
  let sent = 0
  return async () => {
    sent += 1
    const body = JSON.stringify({ ...order, memo: String(sent), user_confirmed: true })
    const url = `${world.url}/wallet-custodial-transfer`
    const answer = await fetch(url, { method: 'POST', headers, body })
    const { tx_hash: hash } = sentBody.parse(await answer.json())
    await reader.waitForTransactionReceipt({ hash, pollingInterval: pollMilliseconds })
  }
}

async function throughScript(world: BenchWorld): Promise<() => Promise<void>> {
  const account = privateKeyToAccount(generatePrivateKey())
  const payee = await world.agent(world.sql)
  await fund(world.chain, account.address, { usdcAtomic: 10n ** 12n, weiAmount: 10n ** 21n })
  const { rpcUrl, chainId: id } = world.chain
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const rpcUrls = { default: { http: [rpcUrl] } }
  const chain = defineChain({ id, name: 'local', nativeCurrency, rpcUrls })
  const wallet = createWalletClient({ account, chain, transport: http(rpcUrl) }).extend(
    publicActions,
  )
  return async () => {
    const hash = await wallet.writeContract({
      address: world.chain.usdc,
      abi,
      functionName: 'transfer',
      args: [payee.address, 10_000n],
    })
    await wallet.waitForTransactionReceipt({ hash, pollingInterval: pollMilliseconds })
  }
}

const queue = 25
const looksMax = 500
const receipt = z.object({ gasUsed: z.string().transform(Number) }).nullable()
const hashes = z.array(z.object({ tx_hash: z.string(), calls: z.coerce.number() }))
const sent = z.object({ transactionHash: z.string() })

/** Measures gas with payees and payers that keep some of the token: no storage slot is new or emptied. */
export async function benchGas(world: BenchWorld): Promise<Figure[]> {
  const payees = Array.from({ length: queue + 2 }, freshPayee)
  for (const payee of payees) await fund(world.chain, payee, { usdcAtomic: 1n })
  const [ours, plain] = [await productArm(world, 1), await waitingArm(world)]
  const direct = sent.parse(await plain(payees[queue] ?? '0x')).transactionHash
  await ours(payees[queue + 1] ?? '0x')
  const single = await transactionWith(world, 1)
  await holdGasPayers(world, '1 hour')
  await inParallel(queue - 1, 4, async (at) => ours(payees[at] ?? '0x'))
  await holdGasPayers(world, '0')
  await ours(payees[queue - 1] ?? '0x')
  const batch = await transactionWith(world, queue)
  const [directGas, singleGas, batchGas] = await Promise.all(
    [direct, single, batch].map((hash) => gasOf(world, hash)),
  )
  const each = (batchGas ?? Number.NaN) / queue
  const detail = { 'in a batch': each, 'relayed alone': singleGas ?? 0, direct: directGas ?? 0 }
  return [
    {
      name: 'gas at a queue of 25, over a single relay',
      value: each / (singleGas ?? 0),
      target: 0.62,
      detail,
    },
    {
      name: 'gas at a queue of 25, over a direct transfer',
      value: each / (directGas ?? 0),
      target: 1.16,
      detail,
    },
  ]
}

/** Takes the lease of every gas payer for this time, so that transfers have to wait. */
function holdGasPayers({ sql }: BenchWorld, time: string) {
  return sql`update private.gas_payers set lease = gen_random_uuid(),
    leased_until = clock_timestamp() + ${time}::interval`
}

async function transactionWith({ sql }: BenchWorld, calls: number): Promise<string> {
  const rows = await sql`select t.tx_hash, count(*) as calls from private.relay_transactions t
    join private.relay_calls c on c.slot = t.slot group by 1 order by count(*) = ${calls} desc`
  const [first] = hashes.parse([...rows])
  if (first?.calls !== calls) throw new Error(`no transaction carries ${calls} transfers`)
  return first.tx_hash
}

async function gasOf({ chain }: BenchWorld, hash: string): Promise<number> {
  for (let look = 0; look < looksMax; look += 1) {
    const [answer] = await callRpc(chain.rpcUrl, [['eth_getTransactionReceipt', hash]])
    const found = receipt.parse(answer)
    if (found) return found.gasUsed
    await pause(20)
  }
  throw new Error(`${hash} is not mined`)
}
