/**
 * Sees to it that every payment of a token that left a wallet is in the books. SQL pairs what the
 * index read in final blocks with payments; what no payment accounts for is told by several
 * endpoints before the account is frozen for it, and alarms. It books nothing that SQL does not
 * find so once more.
 */
import * as z from 'zod'
import type { Transfer } from '../chains/evm/transfers.ts'
import { readAgreedTransfers } from '../chains/evm/transfers.ts'
import { addressSchema, wordSchema } from '../chains/hex.ts'
import type { Chain } from '../chains/registry.ts'
import { assetOf } from '../chains/registry.ts'
import { unbound } from '../db/database.ts'
import { bigintText } from '../db/row-fields.ts'
import { moneyUnaccounted } from '../mail/money-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import type { World } from '../world.ts'

/** Outflows looked at in one run; the next run goes on. */
const batchMax = 200

const judgedRow = z.object({
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
type Judged = z.output<typeof judgedRow>
const endedRow = z.object({ account_id: z.uuid(), payment_id: z.uuid().nullable() })

const alarms = {
  over: 'payment_rebooked',
  short: 'payment_rebooked',
  unknown: 'unknown_outflow',
} as const

/** Looks at what left the wallets on a chain and is due. */
export async function judgeOutflows(world: World, chain: Chain): Promise<void> {
  const question = { chain: chain.id, batch: batchMax }
  const judged = await unbound(world.db).many('housekeeping_judge_outflows', question, judgedRow)
  for (const outflow of judged) {
    try {
      await end(world, chain, outflow)
    } catch (error) {
      const { tx_hash } = outflow
      world.log({ alarm: 'outflow_not_judged', chain: chain.caip2, tx_hash, log: String(error) })
    }
  }
}

/** An outflow that few endpoints show stays as it is, and is looked at again. */
async function end(world: World, chain: Chain, outflow: Judged): Promise<void> {
  const { standing, tx_hash, log_index } = outflow
  const { token } = assetOf({ chain: chain.id, token: outflow.token })
  const { payee: to, amount_atomic: value } = outflow
  const told = { operation: 'outflows', chain: chain.caip2, tx_hash, log_index, standing }
  if (!(await isShown(world, chain, outflow))) {
    world.log({ ...told, alarm: 'endpoints_disagree' })
    return
  }
  const amount = `${formatAmount(value, token.decimals)} ${token.symbol}`
  const found = { at: world.now(), amount, recipient: to, transaction: tx_hash }
  const mail = await sealMail(world, moneyUnaccounted(world.config.WEB_URL, found))
  const summary = `${amount} left the wallet on ${chain.title} for ${to}, and no payment accounts for it (transaction ${tx_hash}).`
  const question = { chain: chain.id, tx_hash, log_index, standing, summary, mail }
  const ended = await unbound(world.db).one('housekeeping_book_outflow', question, endedRow)
  if (!ended || standing === 'late') return
  world.log({ ...told, alarm: alarms[standing], account: ended.account_id, amount })
}

/** Whether enough endpoints show it as it is in the books, with the authorization that moved it or none. */
async function isShown(world: World, chain: Chain, outflow: Judged): Promise<boolean> {
  const { block_number: block, wallet } = outflow
  const read = await readAgreedTransfers(world, chain, { from: block, to: block }, [wallet])
  return read.status === 'agreed' && read.answer.transfers.some((shown) => isSame(shown, outflow))
}

function isSame(shown: Transfer, outflow: Judged): boolean {
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
