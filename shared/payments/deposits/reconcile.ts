/**
 * Compares each wallet's balance with its books, once a day and after every restart. If they differ, what
 * moved since the last time is read and booked once more. If the wallet still holds less, the account is
 * frozen; every difference writes an alarm. Balances are read in small parts, at the head, and compared
 * once that block is final and all transfers up to it were read.
 */
import * as z from 'zod'
import { readAgreedBalances } from '../../chains/evm/quorum/agreed-balances.ts'
import { readReplaced } from '../../chains/evm/quorum/block-gone.ts'
import { readAgreedHeads } from '../../chains/evm/rpc/heads.ts'
import { readAgreedTransfers } from '../../chains/evm/transfers.ts'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import type { Chain } from '../../chains/registry.ts'
import { assetOf, connectedChains } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import { bigintText } from '../../db/row-fields.ts'
import { balanceShort } from '../../mail/money-messages.ts'
import { sealForOutbox } from '../../mail/outbox.ts'
import { formatAmount } from '../../money/amount.ts'
import type { World } from '../../world.ts'
import { bookInPieces } from './book-pieces.ts'
import { readInPieces } from './pieces.ts'
import { transferRows } from './transfer-row.ts'

/** Number of balances read in one run of a chain, in one call of its node. */
const holdingsMax = 80
/** Number of blocks whose readings are compared in one run. */
const blocksMax = 10
/** Limits of reading one wallet's transfers again after its books differed. */
const rereadLimits = { blocksMax: 9_000, readsMax: 200 }

const dueRow = z.object({ wallet: addressSchema, token: addressSchema })
const blockRow = z.object({ block_number: z.int(), block_hash: wordSchema })
const mismatchRow = dueRow.extend({
  account_id: z.uuid(),
  known_block: z.int(),
  standing: z.enum(['short', 'surplus']),
  ledger_atomic: bigintText,
  found_atomic: bigintText,
})
type Mismatch = z.output<typeof mismatchRow>
const endedRow = z.object({ account_id: z.uuid() })

const alarms = { short: 'balance_short', surplus: 'balance_surplus' } as const

/** Runs once. `isFirst` is true if it is unknown how long none ran; every balance is then read soon. */
export async function reconcileBalances(world: World, isFirst: boolean): Promise<void> {
  await Promise.all(
    connectedChains(world.config).map(async (chain) => {
      try {
        await reconcileChain(world, chain, isFirst)
      } catch (error) {
        logFailure(world, chain, error instanceof Error ? String(error.stack) : String(error))
      }
    }),
  )
}

async function reconcileChain(world: World, chain: Chain, isFirst: boolean): Promise<void> {
  const ledger = unbound(world.db)
  if (isFirst) await ledger.run('housekeeping_hasten_balances', { chain: chain.id })
  const question = { chain: chain.id, batch: blocksMax }
  for (const block of await ledger.many('housekeeping_final_balances', question, blockRow)) {
    await compareAt(world, chain, block)
  }
  await readDue(world, chain)
}

async function compareAt(world: World, chain: Chain, block: z.output<typeof blockRow>) {
  const ledger = unbound(world.db)
  const blockReference = { number: block.block_number, hash: block.block_hash }
  const read = await readReplaced(world, chain, blockReference)
  if (read.status !== 'agreed') return logSilence(world, chain, read)
  const question = { chain: chain.id, ...block }
  if (read.answer.isReplaced) return ledger.run('housekeeping_drop_balances', question)
  const compare = () => ledger.many('housekeeping_compare_balances', question, mismatchRow)
  const reread: Mismatch[] = []
  for (const mismatch of await compare()) {
    if (await rebook(world, chain, mismatch, blockReference.number)) reread.push(mismatch)
    else alarm(world, chain, mismatch, 'balance_undecided')
  }
  const rest = reread.length === 0 ? [] : await compare()
  for (const before of reread) {
    const { wallet, token } = before
    const now = rest.find((one) => one.wallet === wallet && one.token === token)
    if (now) await closeMismatch(world, chain, now)
    else alarm(world, chain, before, 'transfers_rebooked')
  }
}

/** Books again what moved since the last reading; true if enough endpoints agreed on all of it. */
async function rebook(
  world: World,
  chain: Chain,
  { wallet, known_block: known }: Mismatch,
  to: number,
): Promise<boolean> {
  return readInPieces({ from: known + 1, to }, rereadLimits, async (piece) => {
    const read = await readAgreedTransfers(world, chain, piece, [wallet])
    if (read.status !== 'agreed') {
      if (piece.from === piece.to) logSilence(world, chain, read)
      return 'refused'
    }
    await bookInPieces(piece, transferRows(read.answer.transfers), {
      async book({ from, to, transfers }) {
        const part = {
          from_block: from.block,
          from_log: from.log,
          to_block: to.block,
          to_log: to.log,
        }
        const question = { chain: chain.id, wallet, ...part, transfers }
        await unbound(world.db).run('housekeeping_rebook_transfers', question)
        return true
      },
      // No account is frozen for what could not be booked: it is tried again.
      giveUp(_, error) {
        throw error
      },
    })
    return 'done'
  })
}

async function closeMismatch(world: World, chain: Chain, mismatch: Mismatch): Promise<void> {
  const { wallet, token, standing } = mismatch
  const amount = differenceOf(chain, mismatch)
  const message = { at: world.now(), missing: `${amount} on ${chain.title}`, wallet }
  const told = standing === 'short' && {
    summary: `The wallet holds ${amount} less on ${chain.title} than its books say.`,
    mail: await sealForOutbox(world, balanceShort(world.config.WEB_URL, message)),
  }
  const question = { chain: chain.id, wallet, token, standing, ...told }
  const ended = await unbound(world.db).one('housekeeping_end_mismatch', question, endedRow)
  if (ended) alarm(world, chain, mismatch, alarms[standing])
}

function differenceOf(chain: Chain, { ledger_atomic, found_atomic, ...mismatch }: Mismatch) {
  const { token } = assetOf({ chain: chain.id, token: mismatch.token })
  const difference = found_atomic - ledger_atomic
  const most = difference < 0n ? -difference : difference
  return `${formatAmount(most, token.decimals)} ${token.symbol}`
}

function alarm(world: World, chain: Chain, mismatch: Mismatch, name: string): void {
  const { wallet, account_id: account } = mismatch
  const amount = differenceOf(chain, mismatch)
  world.log({ operation: 'balances', chain: chain.caip2, wallet, alarm: name, account, amount })
}

async function readDue(world: World, chain: Chain): Promise<void> {
  const ledger = unbound(world.db)
  const tokens = chain.tokens.map(({ address }) => address)
  const question = { chain: chain.id, tokens, batch: holdingsMax }
  const due = await ledger.many('housekeeping_due_balances', question, dueRow)
  if (due.length === 0) return
  const heads = await readAgreedHeads(world, chain)
  if ('status' in heads) return logFailure(world, chain, heads.log)
  const holdings = due.map(({ wallet, token }) => {
    return { wallet, token: assetOf({ chain: chain.id, token }).token }
  })
  const { number } = heads.latest
  const read = await readAgreedBalances(world, chain, number, holdings)
  if (read.status !== 'agreed') return logSilence(world, chain, read)
  const { amounts, blockHash } = read.answer
  const readings = due.flatMap(({ wallet, token }, at) => {
    const amount = amounts[at]
    return amount === undefined ? [] : [{ wallet, token, amount_atomic: amount.toString() }]
  })
  const blockReference = { chain: chain.id, block_number: number, block_hash: blockHash }
  await ledger.run('housekeeping_keep_balances', { ...blockReference, readings })
}

/** Logs a reading that was not agreed. No account is frozen for it; the next run tries again. */
function logSilence(world: World, chain: Chain, { status, log }: { status: string; log: string }) {
  const alarm = status === 'disagreed' ? { alarm: 'endpoints_disagree' } : {}
  world.log({ operation: 'balances', chain: chain.caip2, log, ...alarm })
}

function logFailure(world: World, chain: Chain, log: string): void {
  world.log({ operation: 'balances', chain: chain.caip2, log })
}
