/** The processes of the runtime, as the kernel shows them (proc(5), Linux). */
import { readdirSync, readFileSync } from 'node:fs'
import { createWalletClient, defineChain, http, nonceManager, parseAbi, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { fund } from '../local/chain.ts'
import type { BenchWorld } from './world.ts'

/** Returns the ids of the workerd processes below `parent`. */
export function runtimesOf(parent: number): number[] {
  const below = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => processStatus(pid))
    .filter((status) => status.parent === parent)
  return below.flatMap(({ pid, name }) => [
    ...(name.startsWith('workerd') ? [pid] : []),
    ...runtimesOf(pid),
  ])
}

/** Sums the resident memory of those processes. */
export function residentBytes(parent: number): number {
  const sizes = runtimesOf(parent).flatMap((pid) => processStatus(String(pid)))
  return sizes.reduce((sum, { residentKilobytes }) => sum + residentKilobytes * 1_024, 0)
}

function processStatus(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(text)?.[1] ?? ''
    return [
      {
        pid: Number(pid),
        name: field('Name'),
        parent: Number(field('PPid')),
        residentKilobytes: Number(field('VmRSS')),
      },
    ]
  } catch {
    return []
  }
}

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
const sentBody = z.object({ transfer_id: z.uuid(), tx_hash: z.string().optional() })

/** Makes one transfer of 0.01 USDC to a payee. Resolves when the sender is free for the next one. */
export type Arm = (payee: `0x${string}`) => Promise<unknown>

/** Returns an address that was never used before. */
export function freshPayee(): `0x${string}` {
  return privateKeyToAccount(generatePrivateKey()).address
}

/** Sends through wallet-custodial-transfer, from this number of accounts in turn. */
export async function productArm(world: BenchWorld, payers: number): Promise<Arm> {
  const keys: string[] = []
  while (keys.length < payers) keys.push((await world.payer()).key)
  let next = 0
  return async (payee) => {
    next += 1
    const headers = {
      authorization: `Bearer ${keys[next % payers]}`,
      'content-type': 'application/json',
    }
    // With notes of their own they are separate wishes, and none is asked about.
    const terms = { chain: 'base-sepolia', token: 'USDC', amount: '0.01', memo: String(next) }
    const order = { recipient: payee, ...terms }
    const answer = await fetch(`${world.url}/wallet-custodial-transfer`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...order, user_confirmed: true }),
    })
    return sentBody.parse(await answer.json())
  }
}

/** Sends with a viem wallet and its nonce manager. It does not wait for receipts and stores nothing. */
export async function nonceManagerArm(
  world: BenchWorld,
  rpcUrl = world.chain.rpcUrl,
): Promise<Arm> {
  const wallet = await scriptWallet(world, true, rpcUrl)
  return (to) => wallet.writeContract(transferTo(world, to))
}

/** Sends with a viem wallet that waits for each receipt before the next transfer. */
export async function waitingArm(world: BenchWorld): Promise<Arm> {
  const wallet = await scriptWallet(world, false, world.chain.rpcUrl)
  return async (to) => {
    const hash = await wallet.writeContract(transferTo(world, to))
    return wallet.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  }
}

function transferTo({ chain }: BenchWorld, to: `0x${string}`) {
  const args = [to, 10_000n] as const
  return { address: chain.usdc, abi, functionName: 'transfer', args } as const
}

async function scriptWallet({ chain: local }: BenchWorld, isManaged: boolean, rpcUrl: string) {
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key, isManaged ? { nonceManager } : {})
  await fund(local, account.address, { usdcAtomic: 10n ** 12n, weiAmount: 10n ** 21n })
  const chain = defineChain({
    id: local.chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const wallet = createWalletClient({ account, chain, transport: http(rpcUrl, { retryCount: 0 }) })
  return wallet.extend(publicActions)
}

/** Runs a task this many times, with this many clients at once. */
export async function inParallel(
  tasks: number,
  clients: number,
  run: (at: number) => Promise<unknown>,
) {
  let started = 0
  const client = async () => {
    while (started < tasks) {
      started += 1
      await run(started - 1)
    }
  }
  await Promise.all(Array.from({ length: Math.min(clients, tasks) }, client))
}
