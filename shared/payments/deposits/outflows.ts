/**
 * Writes the books of a chain from its final blocks: settles the payments whose transfers left, releases
 * those whose signatures ended without, and reports transfers that no payment explains.
 */
import * as z from 'zod'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import type { Chain } from '../../chains/registry.ts'
import { assetOf } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import { bigintText } from '../../db/row-fields.ts'
import { moneyUnaccounted } from '../../mail/money-messages.ts'
import { sealForOutbox } from '../../mail/outbox.ts'
import { formatAmount } from '../../money/amount.ts'
import type { World } from '../../world.ts'

/** Number of transfers booked in one run; the next run continues. */
const batchMax = 500

const unexplainedRow = z.object({
  token: addressSchema,
  tx_hash: wordSchema,
  log_index: z.int(),
  payee: addressSchema,
  amount_atomic: bigintText,
})
type Unexplained = z.output<typeof unexplainedRow>

/** Books what left the wallets on a chain and what ended. */
export async function bookOutflows(world: World, chain: Chain): Promise<void> {
  const question = { chain: chain.id, batch: batchMax }
  const rows = await unbound(world.db).many('housekeeping_write_books', question, unexplainedRow)
  for (const row of rows) await report(world, chain, row)
  // What they held up can be released now.
  if (rows.length > 0)
    await unbound(world.db).many('housekeeping_write_books', question, unexplainedRow)
}

/** Enters a transfer in the feed, tells the owner and alarms. */
async function report(world: World, chain: Chain, outflow: Unexplained): Promise<void> {
  const { tx_hash, log_index, payee: recipient } = outflow
  const { token } = assetOf({ chain: chain.id, token: outflow.token })
  const amount = `${formatAmount(outflow.amount_atomic, token.decimals)} ${token.symbol}`
  const found = { at: world.now(), amount, recipient, transaction: tx_hash }
  const mail = await sealForOutbox(world, moneyUnaccounted(world.config.WEB_URL, found))
  const summary = `${amount} left the wallet on ${chain.title} for ${recipient}, and no payment explains it (transaction ${tx_hash}).`
  const question = { chain: chain.id, tx_hash, log_index, summary, mail }
  const rows = z.object({ account_id: z.uuid() })
  const ended = await unbound(world.db).one('housekeeping_enter_unexplained', question, rows)
  if (!ended) return
  const told = { operation: 'outflows', chain: chain.caip2, tx_hash, log_index, amount }
  world.log({ ...told, alarm: 'unexplained_outflow', account: ended.account_id })
}
