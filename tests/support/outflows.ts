/** Money that leaves wallets, and what the books, the feed, the log and the owner learn of it. */
import { AbiCoder, keccak256 } from 'ethers'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { randomBytes } from './seed.ts'
import { type Agent, finalize, type TestWorld } from './world.ts'

/** Creates an agent whose owner has a mail address; `told` returns the subjects of the owner's mails. */
export async function owned(world: TestWorld, usdc = 1000) {
  const agent = await world.agent('pay', { usdc })
  const email = `${randomBytes(6).toString('hex')}@people.example`
  await world.db.sql`insert into private.owners (account, email) values (${agent.id}, ${email})`
  const told = async () => (await world.mails(email)).map(({ subject }) => subject)
  return { agent, email, told }
}

/** Finalizes and reads what was mined, and reads again twice once its two minutes are over. */
export async function passGrace(world: TestWorld): Promise<void> {
  await finalize(world.chain)
  await indexTransfers(world.world)
  for (const seconds of [121, 31]) {
    await world.tick(seconds)
    await indexTransfers(world.world)
  }
}

/** Sets a wallet's balance without a log: Circle's token stores it in the mapping of slot nine. */
export async function holds({ chain }: TestWorld, { address }: Agent, atomic: number) {
  const coder = AbiCoder.defaultAbiCoder()
  const slot = keccak256(coder.encode(['address', 'uint256'], [address, 9]))
  const word = coder.encode(['uint256'], [atomic])
  await callRpc(chain.rpcUrl, [['anvil_setStorageAt', chain.usdc, slot, word]])
}

/** Returns the verdicts on a wallet's outflows, in chain order. */
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

/** Returns the alarms that name the account. */
export function alarmsOf({ log }: TestWorld, { id }: Agent) {
  return log.filter((line) => line['account'] === id).map((line) => line['alarm'])
}

const page = z.object({ items: z.array(z.looseObject({ type: z.string() })) })

/** Returns the newest items of the feed, newest first. */
export async function feedOf(agent: Agent) {
  return page.parse((await agent.get('/wallet-activity-list')).body).items
}

/** Returns the micro-USD that count against the account's cap. */
export async function countedOf(world: TestWorld, { id }: Agent): Promise<string> {
  const [row] = await world.db.sql<{ total: string }[]>`
    select (private.spent(${id})).total::text as total`
  return row?.total ?? ''
}
