/** Compares a transfer through the product with a plain script: sign, send, wait for the receipt. */
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
import { fund } from '../local/chain.ts'
import { type Figure, median, quantile } from './report.ts'
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
