/**
 * Ordinary life at random: transfers, x402 payments whose answers are lost, uses of permits,
 * blocks that are replaced and housekeeping that comes when it comes. Nobody does anything wrong, so
 * nobody is to be frozen.
 */
import { expect } from 'vitest'
import { callRpc } from '../../scripts/local/rpc.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { indexTransfers } from '../../shared/payments/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/reconcile.ts'
import { hex, newKey, transfer } from './chain-world.ts'
import { reorg, sendAs } from './deposits.ts'
import { usdcOf } from './ledger.ts'
import { isFrozen, passGrace, verdictsOn } from './outflows.ts'
import type { Random } from './seed.ts'
import { authorizing, signedPayment } from './signed.ts'
import type { Agent, TestWorld } from './world.ts'

type Use = () => Promise<string>
type Play = {
  world: TestWorld
  random: Random
  agents: Agent[]
  payee: `0x${string}`
  /** What holders of signatures have not done yet, or lost with its block. */
  uses: Use[]
  /** What they have done, by the hash of its transaction. */
  used: Map<string, Use>
  /** Deposits less what was held when it began, by agent. */
  begun: bigint[]
}

const fundedUsdc = 500

/** Agents with money and an index that has begun. */
export async function beginPlay(world: TestWorld, random: Random): Promise<Play> {
  const agents = []
  const payee = newKey().at
  for (let count = 0; count < 3; count += 1) {
    agents.push(await world.agent('pay', { usdc: fundedUsdc }))
  }
  for (const agent of agents) {
    for (const { address } of agents) await world.acquaint(agent, address)
    await world.acquaint(agent, payee)
  }
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x10']])
  await indexTransfers(world.world)
  const begun = await Promise.all(
    agents.map(async (agent) => (await hadInAll(world, agent)) - (await usdcOf(world, agent))),
  )
  return { world, random, agents, payee, uses: [], used: new Map(), begun }
}

/** So many steps, each drawn anew. */
export async function play(of: Play, steps: number): Promise<void> {
  const acts = [pay, pay, sign, sign, permit, use, use, keep, read, wait, restart, replace]
  for (let step = 0; step < steps; step += 1) await one(of, acts)(of)
}

/** All that left is booked and counted, no account is frozen, and nothing has alarmed. */
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

/** Everybody does what is left to do, and all of it is looked at. */
async function endPlay(of: Play): Promise<void> {
  while (of.uses.length > 0) await use(of)
  for (let run = 0; run < 3; run += 1) {
    await of.world.tick(60)
    await keepHouse(of.world.world)
    await passGrace(of.world)
    await restart(of)
  }
  await of.world.db.sql`update private.payments set valid_before = 1
    where terms ->> 'transfer_method' = 'permit2'`
  for (let run = 0; run < 3; run += 1) {
    await of.world.tick(700)
    await read(of)
  }
}

/** By account: micro-USD that left its wallet by the chain, and what the books count. */
async function leftAndCounted({ world, agents, begun }: Play) {
  return Promise.all(
    agents.map(async (agent, at) => {
      const left = (await hadInAll(world, agent)) - (await usdcOf(world, agent))
      return { left: left - (begun[at] ?? 0n), counted: await countedEver(world, agent) }
    }),
  )
}

/** What counts or counted, whatever its age: a long play outlasts the windows of the limits. */
async function countedEver({ db }: TestWorld, { id }: Agent): Promise<bigint> {
  const [row] = await db.sql<{ total: string }[]>`
    select coalesce(sum(counted_usd_micros), 0)::text as total from private.payments
     where account = ${id} and state in ('authorized', 'signed', 'unknown', 'settled')`
  return BigInt(row?.total ?? 0)
}

/** All that was deposited since the index began. */
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

/** A merchant is given a signature, and uses it at some time or other. */
async function sign(of: Play): Promise<void> {
  const { calldata } = await signedPayment(of.world, one(of, of.agents), of.payee)
  of.uses.push(() => sendAs(of.world, newKey().at, calldata))
}

/** Permit2 is not on this chain: what its use leaves behind, a transfer that names no nonce, is made. */
async function permit(of: Play): Promise<void> {
  const agent = one(of, of.agents)
  const requirement = { extra: { facilitatorAddress: of.payee } }
  const scheme = one(of, ['exact', 'upto'])
  const terms = { transfer_method: 'permit2', scheme, requirement }
  const request = await authorizing(of.world, agent, of.payee, terms)
  await of.world.world.custody?.authorize(request)
  const taken = scheme === 'exact' ? 5_000_000 : of.random.between(1, 5_000_000)
  of.uses.push(() => sendAs(of.world, agent.address, transfer(of.payee, BigInt(taken))))
}

async function use({ uses, used, random }: Play): Promise<void> {
  const [next] = uses.splice(random.between(0, Math.max(uses.length - 1, 0)), 1)
  if (next) used.set(await next(), next)
}

async function keep({ world }: Play): Promise<void> {
  await keepHouse(world.world)
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

/** Up to eight blocks go with all that is in them; who relays or holds a signature sends it again. */
async function replace({ world, random, uses, used }: Play): Promise<void> {
  // At times the node tells nothing of the last blocks any more when it replaces them right after one alone.
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x2']])
  await reorg(world, random.between(3, 10))
  for (const [hash, again] of used) {
    const [receipt] = await callRpc(world.chain.rpcUrl, [['eth_getTransactionReceipt', hash]])
    if (receipt) continue
    used.delete(hash)
    uses.push(again)
  }
}
