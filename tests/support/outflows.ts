/** Money that leaves wallets: what the books, the feed, the log and the owner hear of it. */
import { randomBytes } from 'node:crypto'
import { AbiCoder, keccak256 } from 'ethers'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/rpc.ts'
import { indexTransfers } from '../../shared/payments/index-transfers.ts'
import type { Agent, TestWorld } from './world.ts'
import { finalize } from './world.ts'

/** An agent whose account has an owner with a mail address; `told` are the subjects of its mails. */
export async function owned(world: TestWorld, usdc = 1000) {
  const agent = await world.agent('pay', { usdc })
  const email = `${randomBytes(6).toString('hex')}@people.example`
  await world.db.sql`insert into private.owners (account, email) values (${agent.id}, ${email})`
  const told = async () => (await world.mails(email)).map(({ subject }) => subject)
  return { agent, email, told }
}

/** What was mined becomes final, is read, and is looked at twice once its two minutes are over. */
export async function passGrace(world: TestWorld): Promise<void> {
  await finalize(world.chain)
  await indexTransfers(world.world)
  for (const seconds of [121, 31]) {
    await world.tick(seconds)
    await indexTransfers(world.world)
  }
}

/** Sets what a wallet holds, and no log tells: Circle's token keeps it in the mapping of slot nine. */
export async function holds({ chain }: TestWorld, { address }: Agent, atomic: number) {
  const coder = AbiCoder.defaultAbiCoder()
  const slot = keccak256(coder.encode(['address', 'uint256'], [address, 9]))
  const word = coder.encode(['uint256'], [atomic])
  await callRpc(chain.rpcUrl, [['anvil_setStorageAt', chain.usdc, slot, word]])
}

/** What was found to have left a wallet, in the order of the chain. */
export async function verdictsOn(world: TestWorld, { id }: Agent) {
  const rows = await world.db.sql<{ verdict: string | null; payment: string | null }[]>`
    select verdict, payment from private.outflows where account = ${id}
     order by block_number, log_index`
  return [...rows]
}

export async function isFrozen(world: TestWorld, { id }: Agent): Promise<boolean> {
  const [row] = await world.db.sql<{ frozen: boolean }[]>`
    select frozen_at is not null as frozen from private.accounts where id = ${id}`
  return row?.frozen ?? false
}

/** Alarms that name the account. */
export function alarmsOf({ log }: TestWorld, { id }: Agent) {
  return log.filter((line) => line['account'] === id).map((line) => line['alarm'])
}

const page = z.object({ items: z.array(z.looseObject({ type: z.string() })) })

/** The newest items of the feed, newest first. */
export async function feedOf(agent: Agent) {
  return page.parse((await agent.get('/wallet-activity-list')).body).items
}

/** What counts against the account's cap, in micro-USD. */
export async function countedOf(world: TestWorld, { id }: Agent): Promise<string> {
  const [row] = await world.db.sql<{ total: string }[]>`
    select (private.spent(${id})).total::text as total`
  return row?.total ?? ''
}
