/**
 * Compares what wallets hold with what their books say, each once a day and after every restart. Less
 * than the books explain freezes the account; whatever differs alarms. It is read in small parts, at
 * the head, and compared once that block is final and all transfers up to it were read.
 */
import * as z from 'zod'
import { readAgreedBalances } from '../chains/evm/agreed-balances.ts'
import { isTransferAgreed } from '../chains/evm/agreed-log.ts'
import { isBlockReplaced } from '../chains/evm/proof.ts'
import { readHeads } from '../chains/evm/transfers.ts'
import { addressSchema, wordSchema } from '../chains/hex.ts'
import type { Address, Chain, Token } from '../chains/registry.ts'
import { assetOf, connectedChains } from '../chains/registry.ts'
import { unbound } from '../db/database.ts'
import { bigintText } from '../db/row-fields.ts'
import { balanceShort } from '../mail/money-messages.ts'
import { sealMail } from '../mail/outbox.ts'
import { formatAmount } from '../money/amount.ts'
import type { World } from '../world.ts'

/** Balances read in one run of a chain, in one call of its node. */
const holdingsMax = 80
/** Blocks whose readings are compared in one run. */
const blocksMax = 10
/** Deposits that are asked for again where a wallet is short, the largest first. */
const depositsMax = 50

const dueRow = z.object({ wallet: addressSchema, token: addressSchema })
const blockRow = z.object({ block_number: z.int(), block_hash: wordSchema })
const mismatchRow = dueRow.extend({
  standing: z.enum(['short', 'unread', 'surplus']),
  ledger_atomic: bigintText,
  found_atomic: bigintText,
})
type Mismatch = z.output<typeof mismatchRow>
const depositRow = z.object({
  sender: addressSchema,
  amount_atomic: bigintText,
  tx_hash: wordSchema,
  log_index: z.int(),
  block_hash: wordSchema,
})
const endedRow = z.object({ account_id: z.uuid() })

const alarms = {
  short: 'balance_short',
  unread: 'transfer_unread',
  surplus: 'balance_surplus',
} as const

/** One run. `isFirst`: nobody can say for how long none ran, so every balance is read soon. */
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
  const place = { number: block.block_number, hash: block.block_hash }
  const isReplaced = await isBlockReplaced(world, chain, place)
  if (isReplaced === undefined) return
  const question = { chain: chain.id, ...block }
  if (isReplaced) return ledger.run('housekeeping_drop_balances', question)
  const found = await ledger.many('housekeeping_compare_balances', question, mismatchRow)
  for (const mismatch of found) await end(world, chain, mismatch)
}

async function end(world: World, chain: Chain, mismatch: Mismatch): Promise<void> {
  const { wallet, standing, ledger_atomic: ledger, found_atomic: found } = mismatch
  const { token } = assetOf({ chain: chain.id, token: mismatch.token })
  const [least, most] = found < ledger ? [found, ledger] : [ledger, found]
  const amount = `${formatAmount(most - least, token.decimals)} ${token.symbol}`
  const isTrusted = standing !== 'short' || (await areDepositsAgreed(world, chain, wallet, token))
  const freezes = standing === 'short' && isTrusted
  const message = { at: world.now(), missing: `${amount} on ${chain.title}`, wallet }
  const told = freezes && {
    summary: `The wallet holds ${amount} less on ${chain.title} than its books say.`,
    mail: await sealMail(world, balanceShort(world.config.WEB_URL, message)),
  }
  const question = { chain: chain.id, wallet, token: token.address, standing, ...told }
  const ended = await unbound(world.db).one('housekeeping_end_mismatch', question, endedRow)
  if (!ended) return
  const alarm = isTrusted ? alarms[standing] : 'endpoints_disagree'
  const account = ended.account_id
  world.log({ operation: 'balances', chain: chain.caip2, wallet, alarm, account, amount })
}

/** Deposits are read from one endpoint: one that invented some would make any wallet short of them. */
async function areDepositsAgreed(world: World, chain: Chain, wallet: Address, token: Token) {
  const question = { chain: chain.id, wallet, token: token.address, batch: depositsMax }
  const ledger = unbound(world.db)
  const deposits = await ledger.many('housekeeping_missed_deposits', question, depositRow)
  for (const { sender: from, amount_atomic: value, tx_hash, log_index, block_hash } of deposits) {
    const place = { transactionHash: tx_hash, logIndex: log_index, blockHash: block_hash }
    const transfer = { token, from, to: wallet, value, ...place }
    if (!(await isTransferAgreed(world, chain, transfer))) return false
  }
  return true
}

async function readDue(world: World, chain: Chain): Promise<void> {
  const ledger = unbound(world.db)
  const tokens = chain.tokens.map(({ address }) => address)
  const question = { chain: chain.id, tokens, batch: holdingsMax }
  const due = await ledger.many('housekeeping_due_balances', question, dueRow)
  if (due.length === 0) return
  const heads = await readHeads(world, chain)
  if ('status' in heads) return logFailure(world, chain, heads.log)
  const holdings = due.map(({ wallet, token }) => {
    return { wallet, token: assetOf({ chain: chain.id, token }).token }
  })
  const { latest } = heads
  const read = await readAgreedBalances(world, chain, latest, holdings)
  if (read.status !== 'agreed') {
    const alarm = read.status === 'disagreed' ? { alarm: 'endpoints_disagree' } : {}
    world.log({
      operation: 'balances',
      chain: chain.caip2,
      log: `balances: ${read.status}`,
      ...alarm,
    })
    return
  }
  const readings = due.flatMap(({ wallet, token }, at) => {
    const amount = read.amounts[at]
    return amount === undefined ? [] : [{ wallet, token, amount_atomic: amount.toString() }]
  })
  const place = { chain: chain.id, block_number: latest.number, block_hash: latest.hash }
  await ledger.run('housekeeping_keep_balances', { ...place, readings })
}

function logFailure(world: World, chain: Chain, log: string): void {
  world.log({ operation: 'balances', chain: chain.caip2, log })
}
