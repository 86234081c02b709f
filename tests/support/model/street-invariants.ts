/** Invariants of the street, checked after each event, and at the end by the token's logs alone. */
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { addressSchema, wordSchema } from '../../../shared/chains/hex.ts'
import { authorizationNonce } from '../../../shared/custody/nonce.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import type { Agent } from '../world.ts'
import { agree } from './house.ts'
import { fundsUsd, pass, type Street, startMining, usedUsd } from './street.ts'

const limits = { none: 200, agent_asserted: 200 }

/** Checks that no account has reserved and spent more than a limit, even with parallel requests. */
export async function confirmStreet(street: Street): Promise<void> {
  for (const payer of street.payers) {
    for (const [level, limit] of Object.entries(limits)) {
      const used = await usedUsd(street, payer, level)
      if (used > limit) throw new Error(`${used} USD of ${limit} are used at ${level}`)
    }
  }
}

const roundSeconds = 200
const restingRounds = 12

/** Checks that everything open ends with blocks and housekeeping alone, and then compares the chain. */
export async function confirmStreetEnd(street: Street): Promise<void> {
  await startMining(street)
  let open = await openIn(street)
  for (let round = 0; open.length > 0 && round < restingRounds; round += 1) {
    await pass(street, roundSeconds)
    await callRpc(street.market.chain.rpcUrl, [['anvil_mine', '0x10']])
    await runHousekeeping(street.market.world)
    open = await openIn(street)
  }
  agree('still open', open, [])
  for (const payer of street.payers) await confirmLogs(street, payer)
}

/** Returns the payments of the street that are not final. */
async function openIn({ market, payers }: Street) {
  const accounts = payers.map(({ id }) => id)
  const rows = await market.db.sql`select id, kind, state, finality from private.payments
    where account = any(${accounts}) and state in ('authorized', 'signed')`
  return rows.map((row) => ({ ...row }))
}

const settledRows = z.array(
  z.object({ id: z.uuid(), token: addressSchema, atomic: z.string().transform(BigInt) }),
)
const logRows = z.array(z.object({ topics: z.array(wordSchema), data: z.string() }))

// keccak-256 of `AuthorizationUsed(address,bytes32)` and of `Transfer(address,address,uint256)`.
const usedTopic = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * Checks that a wallet's token logs are exactly its settled payments. Each has one debit, found by the
 * nonce derived from its id, and their sum is what the wallet has lost.
 */
async function confirmLogs({ market, since }: Street, { id, address }: Agent): Promise<void> {
  const { chain } = market
  const settled = settledRows.parse([
    ...(await market.db.sql`select id, token, amount_atomic::text as atomic from private.payments p
       where account = ${id} and private.is_in_block(p)`),
  ])
  const holder = `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
  const logsOf = (topic: string) => {
    const filter = { address: chain.usdc, topics: [topic, holder] }
    return callRpc(chain.rpcUrl, [
      ['eth_getLogs', { ...filter, fromBlock: `0x${since.toString(16)}`, toBlock: 'latest' }],
    ])
  }
  const [[usedLogs], [transferLogs]] = await Promise.all([logsOf(usedTopic), logsOf(transferTopic)])
  const nonces = logRows.parse(usedLogs).map(({ topics }) => String(topics[2]))
  const wanted = settled.map((payment) =>
    authorizationNonce({ chainId: chain.chainId, token: payment.token, paymentId: payment.id }),
  )
  agree('authorizations used on chain', nonces.sort(), wanted.sort())
  const debits = logRows.parse(transferLogs).map(({ data }) => BigInt(data))
  agree('debits', debits.length, settled.length)
  const sum = (amounts: bigint[]) => amounts.reduce((total, one) => total + one, 0n)
  const spent = BigInt(fundsUsd) * 1_000_000n - (await market.usdcOf(address))
  agree('journal', String(sum(debits)), String(sum(settled.map(({ atomic }) => atomic))))
  agree('balance', String(spent), String(sum(debits)))
}
