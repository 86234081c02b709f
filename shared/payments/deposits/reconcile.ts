/**
 * Compares each wallet's balance with its books, and the sums behind its limits with its payments, once a day and
 * after every restart; a difference writes an alarm. Balances are read in small parts, at the head, and compared once
 * that block is final and all transfers up to it were read.
 */
import * as z from 'zod'
import { readAgreedBalances } from '../../chains/evm/agreement.ts'
import { readAgreedHeads } from '../../chains/evm/rpc/reads.ts'
import { isBlockReplaced } from '../../chains/evm/use.ts'
import { addressSchema, wordSchema } from '../../chains/hex.ts'
import { assetOf, type Chain, connectedChains } from '../../chains/registry.ts'
import { unbound } from '../../db/database.ts'
import { formatAmount } from '../../money/amount.ts'
import { bigintText } from '../../money/row-fields.ts'
import type { World } from '../../world.ts'

/** Number of balances read in one run of a chain, in one call of its node. */
const holdingsMax = 80
/** Number of blocks whose readings are compared in one run. */
const blocksMax = 10

const dueRow = z.object({ wallet: addressSchema, token: addressSchema })
const blockRow = z.object({ block_number: z.int(), block_hash: wordSchema })
const accountRow = z.object({ account_id: z.uuid() })
const mismatchRow = dueRow.extend({
  ...accountRow.shape,
  standing: z.enum(['short', 'surplus']),
  ledger_atomic: bigintText,
  found_atomic: bigintText,
})
type Mismatch = z.output<typeof mismatchRow>

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
  const { block_number: number, block_hash: hash } = block
  const isReplaced = await isBlockReplaced(world, chain, { number, hash })
  if (isReplaced === undefined) return logFailure(world, chain, `no word on block ${number}`)
  const question = { chain: chain.id, ...block }
  if (isReplaced) return ledger.run('housekeeping_drop_balances', question)
  const limits = { chain: chain.id, block_number: number }
  for (const wrong of await ledger.many('housekeeping_wrong_sums', limits, accountRow)) {
    world.log({ operation: 'limits', alarm: 'limit_sums_wrong', account: wrong.account_id })
  }
  const rows = await ledger.many('housekeeping_compare_balances', question, mismatchRow)
  for (const mismatch of rows) alarm(world, chain, mismatch, alarms[mismatch.standing])
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
