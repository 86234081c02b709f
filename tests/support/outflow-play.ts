/**
 * Ordinary use at random: transfers, x402 payments whose answers are lost, uses of permits, replaced
 * blocks, and housekeeping at irregular times. No one does anything wrong, so no account may be frozen.
 */
import { expect } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { hex, newKey } from './chain-world.ts'
import { reorg, sendAs } from './deposits.ts'
import { node, pass } from './faults/chain.ts'
import { allowPermit2, signedPermit } from './faults/permits.ts'
import { usdcOf } from './ledger.ts'
import { isFrozen, passGrace, verdictsOn } from './outflows.ts'
import type { Random } from './seed.ts'
import { signedPayment } from './signed.ts'
import type { Agent, TestWorld } from './world.ts'

type Use = () => Promise<string>
type Play = {
  world: TestWorld
  random: Random
  agents: Agent[]
  payee: `0x${string}`
  /** Uses of signatures that are not done yet, or were lost with their block. */
  uses: Use[]
  /** Completed uses, by the hash of their transaction. */
  used: Map<string, Use>
  /** Deposits minus the balance at the beginning, by agent. */
  begun: bigint[]
}

const fundedUsdc = 500

/** Creates agents with money and an index that has begun. */
export async function beginPlay(world: TestWorld, random: Random): Promise<Play> {
  const agents = []
  const payee = newKey().at
  for (let count = 0; count < 3; count += 1) {
    agents.push(await world.agent('pay', { usdc: fundedUsdc }))
  }
  for (const agent of agents) {
    for (const { address } of agents) await world.acquaint(agent, address)
    await world.acquaint(agent, payee)
    await allowPermit2(world, agent)
  }
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x10']])
  await indexTransfers(world.world)
  const begun = await Promise.all(
    agents.map(async (agent) => (await hadInAll(world, agent)) - (await usdcOf(world, agent))),
  )
  return { world, random, agents, payee, uses: [], used: new Map(), begun }
}

/** Plays steps, each drawn at random. */
export async function play(of: Play, steps: number): Promise<void> {
  const acts = [pay, pay, sign, sign, permit, use, use, keep, read, wait, restart, replace]
  for (let step = 0; step < steps; step += 1) await one(of, acts)(of)
}

/** Checks that every outflow is booked and counted, no account is frozen, and there was no alarm. */
export async function expectNobodyFrozen(of: Play): Promise<void> {
  const { world, agents } = of
  await endPlay(of)
  for (const agent of agents) {
    expect(await isFrozen(world, agent)).toBe(false)
    const verdicts = await verdictsOn(world, agent)
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(verdicts.map(() => 'booked'))
  }
  const sums = await leftAndCounted(of)
  expect(sums.some(({ left }) => left > 0n)).toBe(true)
  for (const { left, counted } of sums) {
    expect(counted).toBeGreaterThanOrEqual(left)
  }
  expect(world.log.filter((line) => line['alarm'] !== undefined)).toEqual([])
}

/** Completes all uses that are left, and reads and reconciles everything. */
async function endPlay(of: Play): Promise<void> {
  while (of.uses.length > 0) await use(of)
  for (let run = 0; run < 3; run += 1) {
    await of.world.tick(60)
    await runHousekeeping(of.world.world)
    await passGrace(of.world)
    await restart(of)
  }
  // The chain stood still while the clock went on, so no signature has ended there.
  await catchUp(of)
  for (let run = 0; run < 3; run += 1) {
    await pass(of.world, 700)
    await passGrace(of.world)
    await read(of)
  }
}

/** Moves the chain's time to that of the product. */
async function catchUp({ world }: Play): Promise<void> {
  const block = await node(world, 'eth_getBlockByNumber', 'latest', false)
  const { timestamp } = z.object({ timestamp: z.string() }).parse(block)
  const now = Math.floor(world.world.now().getTime() / 1000)
  await node(world, 'evm_increaseTime', Math.max(0, now - Number(timestamp)))
}

/** Returns for each account the micro-USD that left its wallet, and the sum that the books count. */
async function leftAndCounted({ world, agents, begun }: Play) {
  return Promise.all(
    agents.map(async (agent, at) => {
      const left = (await hadInAll(world, agent)) - (await usdcOf(world, agent))
      return { left: left - (begun[at] ?? 0n), counted: await countedEver(world, agent) }
    }),
  )
}

/**
 * Returns the micro-USD that count or counted at any age, since a long play outlasts the windows of the
 * limits.
 */
async function countedEver({ db }: TestWorld, { id }: Agent): Promise<bigint> {
  const [row] = await db.sql<{ total: string }[]>`
    select coalesce(sum(amount_usd_micros), 0)::text as total from private.payments
     where account = ${id} and state in ('authorized', 'signed', 'settled')`
  return BigInt(row?.total ?? 0)
}

/** Returns all deposits since the index began. */
async function hadInAll({ db }: TestWorld, { address }: Agent): Promise<bigint> {
  const [row] = await db.sql<{ total: string }[]>`
    select coalesce(sum(amount_atomic), 0)::text as total from private.deposits
     where not reorged and wallet = ${address}`
  return BigInt(row?.total ?? 0)
}

function one<Item>({ random }: Play, items: readonly Item[]): Item {
  const item = items[random.between(0, items.length - 1)]
  if (item === undefined) throw new Error('nothing to choose from')
  return item
}

async function pay(of: Play): Promise<void> {
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '1' }
  const recipient = one(of, of.agents).address
  await one(of, of.agents).post('/wallet-custodial-transfer', { ...order, recipient })
}

/** Gives a signature to a merchant, who uses it at some later time. */
async function sign(of: Play): Promise<void> {
  const { calldata } = await signedPayment(of.world, one(of, of.agents), of.payee)
  of.uses.push(() => sendAs(of.world, newKey().at, calldata))
}

/** Gives a permit to a payee, who uses it at some later time. */
async function permit(of: Play): Promise<void> {
  const scheme = one(of, ['exact', 'upto'] as const)
  const takes = scheme === 'exact' ? 5_000_000n : BigInt(of.random.between(1, 5_000_000))
  const terms = { payee: of.payee, takes }
  const { use } = await signedPermit(of.world, one(of, of.agents), scheme, {}, terms)
  of.uses.push(use)
}

async function use({ uses, used, random }: Play): Promise<void> {
  const [next] = uses.splice(random.between(0, Math.max(uses.length - 1, 0)), 1)
  if (next) used.set(await next(), next)
}

async function keep({ world }: Play): Promise<void> {
  await runHousekeeping(world.world)
}

async function read({ world }: Play): Promise<void> {
  await indexTransfers(world.world)
  await reconcileBalances(world.world, false)
}

async function restart({ world }: Play): Promise<void> {
  await world.tick(3_601)
  await indexTransfers(world.world)
  await reconcileBalances(world.world, true)
}

async function wait({ world, random }: Play): Promise<void> {
  await world.tick(random.between(1, 150))
  await callRpc(world.chain.rpcUrl, [['anvil_mine', hex(random.between(1, 12).toString(16))]])
}

/** Replaces up to eight blocks with their content; relayers and holders of signatures send it again. */
async function replace({ world, random, uses, used }: Play): Promise<void> {
  // At times the node loses the last blocks if it replaces them right after mining a single one.
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x2']])
  await reorg(world, random.between(3, 10))
  for (const [hash, again] of used) {
    const [receipt] = await callRpc(world.chain.rpcUrl, [['eth_getTransactionReceipt', hash]])
    if (receipt) continue
    used.delete(hash)
    uses.push(again)
  }
}
