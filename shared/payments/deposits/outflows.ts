/**
 * Makes sure that every token transfer out of a wallet is in the books. SQL matches what the index read in
 * final blocks with payments. If no payment accounts for a transfer, several endpoints must show it before
 * the account is frozen and an alarm written. SQL checks each finding again before it books it.
 */
import * as z from 'zod'
import type { Transfer } from '../../chains/evm/transfers.ts'
import { readAgreedTransfers } from '../../chains/evm/transfers.ts'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import type { Chain } from '../../chains/registry.ts'
import { assetOf } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import { bigintText } from '../../db/row-fields.ts'
import { moneyUnaccounted } from '../../mail/money-messages.ts'
import { sealForOutbox } from '../../mail/outbox.ts'
import { formatAmount } from '../../money/amount.ts'
import type { World } from '../../world.ts'

/** Number of outflows looked at in one run; the next run continues. */
const batchMax = 200

const dueOutflowRow = z.object({
  standing: z.enum(['late', 'over', 'short', 'unknown']),
  token: addressSchema,
  tx_hash: wordSchema,
  log_index: z.int(),
  block_number: z.int(),
  block_hash: wordSchema,
  authorization_nonce: wordSchema.nullable(),
  wallet: addressSchema,
  payee: addressSchema,
  amount_atomic: bigintText,
})
type DueOutflow = z.output<typeof dueOutflowRow>
const endedRow = z.object({ account_id: z.uuid(), payment_id: z.uuid().nullable() })

const alarms = {
  over: 'payment_rebooked',
  short: 'payment_rebooked',
  unknown: 'unknown_outflow',
} as const

/** Judges what left the wallets on a chain and is due. What is booked may let the next one be judged. */
export async function judgeOutflows(world: World, chain: Chain): Promise<void> {
  const db = unbound(world.db)
  for (let left = batchMax, isAnyBooked = true; isAnyBooked && left > 0; ) {
    const question = { chain: chain.id, batch: left }
    const judged = await db.many('housekeeping_judge_outflows', question, dueOutflowRow)
    isAnyBooked = false
    left -= judged.length
    for (const outflow of judged) {
      if (await tryToBook(world, chain, outflow)) isAnyBooked = true
    }
  }
}

async function tryToBook(world: World, chain: Chain, outflow: DueOutflow): Promise<boolean> {
  try {
    return await bookOutflow(world, chain, outflow)
  } catch (error) {
    const { tx_hash } = outflow
    world.log({ alarm: 'outflow_not_judged', chain: chain.caip2, tx_hash, log: String(error) })
    return false
  }
}

/**
 * Books an outflow; returns true if it did. One that few endpoints show stays as it is and is looked at
 * again.
 */
async function bookOutflow(world: World, chain: Chain, outflow: DueOutflow): Promise<boolean> {
  const { standing, tx_hash, log_index } = outflow
  const { token } = assetOf({ chain: chain.id, token: outflow.token })
  const { payee: to, amount_atomic: value } = outflow
  const told = { operation: 'outflows', chain: chain.caip2, tx_hash, log_index, standing }
  if (!(await isShown(world, chain, outflow))) {
    world.log({ ...told, alarm: 'endpoints_disagree' })
    return false
  }
  const amount = `${formatAmount(value, token.decimals)} ${token.symbol}`
  const found = { at: world.now(), amount, recipient: to, transaction: tx_hash }
  const mail = await sealForOutbox(world, moneyUnaccounted(world.config.WEB_URL, found))
  const summary = `${amount} left the wallet on ${chain.title} for ${to}, and no payment accounts for it (transaction ${tx_hash}).`
  const question = { chain: chain.id, tx_hash, log_index, standing, summary, mail }
  const ended = await unbound(world.db).one('housekeeping_book_outflow', question, endedRow)
  if (ended && standing !== 'late')
    world.log({ ...told, alarm: alarms[standing], account: ended.account_id, amount })
  return ended !== undefined
}

/** True if enough endpoints show it as it is in the books, with the same authorization or none. */
async function isShown(world: World, chain: Chain, outflow: DueOutflow): Promise<boolean> {
  const { block_number: block, wallet } = outflow
  const read = await readAgreedTransfers(world, chain, { from: block, to: block }, [wallet])
  return read.status === 'agreed' && read.answer.transfers.some((shown) => isSame(shown, outflow))
}

function isSame(shown: Transfer, outflow: DueOutflow): boolean {
  const { token, from, to, value, authorizationNonce, ...place } = shown
  return (
    place.transactionHash === outflow.tx_hash &&
    place.logIndex === outflow.log_index &&
    place.blockHash === outflow.block_hash &&
    token.address === outflow.token &&
    from === outflow.wallet &&
    to === outflow.payee &&
    value === outflow.amount_atomic &&
    authorizationNonce === outflow.authorization_nonce
  )
}
