/**
 * The end that every fault must reach: nothing is open, and the ledger agrees with the token's logs for
 * each wallet.
 */
import { id } from 'ethers'
import { expect } from 'vitest'
import * as z from 'zod'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import type { TestWorld } from '../world.ts'
import { node, pass } from './chain.ts'

const stepSeconds = 120
/**
 * Steps that cover the ten minutes in which an authorization is valid and the fifteen after them, with time
 * to spare.
 */
const stepsMax = 15

/** Runs housekeeping, with all clocks moving on, until nothing is open. */
export async function settleAll(world: TestWorld): Promise<void> {
  for (let step = 0; step < stepsMax; step += 1) {
    await pass(world, stepSeconds)
    await runHousekeeping(world.world)
    if ((await openIn(world)).length === 0) return
  }
  expect(await openIn(world)).toEqual([])
}

/** Returns what is still open: payments, transactions and queued calls. */
export async function openIn({ db }: TestWorld): Promise<object[]> {
  return db.sql`
    select 'payment' as what, state, finality from private.payments
     where state in ('authorized', 'signed')
        or state in ('prepared', 'awaiting_confirmation') and expires_at <= private.clock()
    union all select 'slot', state, gas_payer from private.relay_slots where state in ('open', 'mined')
    union all select 'call', null, null from private.relay_calls where slot is null`
}

/**
 * Checks that the token transfers out of our wallets and the settled payments are the same, to the unit and
 * at the same place in the block, and the used authorizations too. `besides` lists transactions that the
 * test itself made.
 */
export async function ledgerEqualsChain(world: TestWorld, besides: string[] = []): Promise<void> {
  const logs = (await logsOf(world)).filter(({ transactionHash }) =>
    besides.every((hash) => hash !== transactionHash),
  )
  const wallets = new Set(await walletsIn(world))
  const own = logs.filter(({ topics }) => wallets.has(addressIn(topics[1])))
  const sent = own.filter(({ topics }) => topics[0] === transferTopic).map(transferIn)
  const used = own.filter(({ topics }) => topics[0] === usedTopic).map(({ topics }) => topics[2])

  expect(new Set(await settledIn(world))).toEqual(new Set(sent))
  expect(new Set(await noncesIn(world))).toEqual(new Set(used))
}

const transferTopic = id('Transfer(address,address,uint256)')
const usedTopic = id('AuthorizationUsed(address,bytes32)')

const logsSchema = z.array(
  z.object({
    transactionHash: z.string(),
    logIndex: z.string().transform(Number),
    topics: z.array(z.string()),
    data: z.string(),
  }),
)
type Log = z.output<typeof logsSchema>[number]

async function logsOf(world: TestWorld) {
  const filter = { address: world.chain.usdc, fromBlock: '0x0', toBlock: 'latest' }
  return logsSchema.parse(await node(world, 'eth_getLogs', filter))
}

function transferIn({ transactionHash: hash, logIndex: log, topics, data }: Log) {
  const [, from, to] = topics.map(addressIn)
  return { hash, log, from, to, atomic: BigInt(data).toString() }
}

function addressIn(topic = ''): string {
  return `0x${topic.slice(-40)}`
}

async function settledIn({ db }: TestWorld) {
  return db.sql<ReturnType<typeof transferIn>[]>`
    select tx_hash as hash, log_index as log, lower(wallet) as from, lower(payee) as to,
      amount_atomic::text as atomic from private.payments p where private.is_in_block(p)`
}

/** Returns the nonces of settled payments that were authorized by a signature. */
async function noncesIn({ db }: TestWorld): Promise<string[]> {
  const rows = await db.sql<{ nonce: string }[]>`
    select authorization_nonce as nonce from private.payments p
     where private.is_in_block(p) and authorization_nonce is not null`
  return rows.map(({ nonce }) => nonce)
}

async function walletsIn({ db }: TestWorld): Promise<string[]> {
  const rows = await db.sql<{ address: string }[]>`
    select lower(address) as address from private.wallets`
  return rows.map(({ address }) => address)
}
