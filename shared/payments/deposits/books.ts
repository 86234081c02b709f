/**
 * Writes the books of a chain: ends what signatures came to, settles the payments whose transfers are in final
 * blocks, and reports transfers that no payment explains.
 */
import * as z from 'zod'
import { readAgreedEndings } from '../../chains/evm/quorum/agreed-endings.ts'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import type { Chain } from '../../chains/registry.ts'
import { assetOf } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import { bigintText } from '../../db/row-fields.ts'
import { moneyUnaccounted } from '../../mail/money-messages.ts'
import { sealForOutbox } from '../../mail/outbox.ts'
import { formatAmount } from '../../money/amount.ts'
import type { World } from '../../world.ts'

/** Number of transfers booked in one run, which takes three seconds at most; the next run continues. */
const bookedMax = 5_000
/** Number of signatures read at once: what fits into one call of the chain. */
const endedMax = 97
/** Time after which a run reads no more signatures. */
const endingMilliseconds = 10_000

const unexplainedRow = z.object({
  token: addressSchema,
  tx_hash: wordSchema,
  log_index: z.int(),
  payee: addressSchema,
  amount_atomic: bigintText,
})
type Unexplained = z.output<typeof unexplainedRow>

/** Ends what ended on a chain, and books what left its wallets. */
export async function writeBooks(world: World, chain: Chain): Promise<void> {
  await endSignatures(world, chain)
  const question = { chain: chain.id, batch: bookedMax }
  const rows = await unbound(world.db).many('housekeeping_write_books', question, unexplainedRow)
  for (const row of rows) {
    try {
      await report(world, chain, row)
    } catch (error) {
      // One that cannot be told must not hold up the others.
      const told = { operation: 'books', chain: chain.caip2, tx_hash: row.tx_hash }
      world.log({ ...told, alarm: 'transfer_not_booked', log: String(error) })
    }
  }
}

const endedRow = z.object({
  id: z.uuid(),
  wallet: addressSchema,
  token: addressSchema,
  nonce: wordSchema,
  is_permit: z.boolean(),
  ended_at: z.int(),
  valid_before: z.int(),
})
type EndedRow = z.output<typeof endedRow>
/** Place before all signatures in their order. */
const beginning = { valid_before: 0, id: '00000000-0000-0000-0000-000000000000' }

/** Settles or releases payments whose signatures ended, the earliest first, as far as final blocks reach. */
async function endSignatures(world: World, chain: Chain): Promise<void> {
  const db = unbound(world.db)
  const end = world.deadline(endingMilliseconds)
  let last: Pick<EndedRow, 'valid_before' | 'id'> | undefined = beginning
  while (last && !end.aborted) {
    const question = { chain: chain.id, batch: endedMax }
    const behind = { behind_end: last.valid_before, behind_id: last.id }
    const rows: EndedRow[] = await db.many(
      'housekeeping_ended',
      { ...question, ...behind },
      endedRow,
    )
    const signatures = rows.map(({ is_permit: isPermit, ended_at: endSeconds, ...row }) => {
      return { ...row, isPermit, endSeconds }
    })
    const endings = rows.length > 0 ? await readAgreedEndings(world, chain, signatures) : []
    const those = (how: string) => rows.flatMap(({ id }, at) => (endings[at] === how ? id : []))
    const [used, unused] = [those('used'), those('unused')]
    if (used.length + unused.length === 0) return
    await db.run('housekeeping_end', { used, unused })
    last = rows.length === endedMax ? rows.at(-1) : undefined
  }
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
  const told = { operation: 'books', chain: chain.caip2, tx_hash, log_index, amount }
  world.log({ ...told, alarm: 'unexplained_outflow', account: ended.account_id })
}
