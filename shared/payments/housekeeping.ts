/**
 * What the scheduled function does: closes what was never used, sends stored bytes again that the
 * chain does not know, and books what it knows. Safe to run twice at once: each step is guarded in
 * SQL and every transaction that it sends was stored, and authorized, before.
 */
import * as z from 'zod'
import { broadcast } from '../chains/evm/broadcast.ts'
import { hexSchema } from '../chains/hex.ts'
import { assetOf } from '../chains/registry.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import type { Payment } from './payment.ts'
import { paymentRow } from './payment.ts'
import { watchPayment } from './watch.ts'

const openRow = z.object({
  payment_row: paymentRow,
  transaction: z.object({ tx_hash: hexSchema, raw: hexSchema }).nullable(),
})

/** Payments looked at in one run; the next run goes on with those unseen for longest. */
const batchMax = 50
/** At once, so that a slow chain cannot make a run outlast its interval. */
const parallelMax = 8

/** One run; answers how many payments it looked at and how many reached another state. */
export async function keepHouse(world: World): Promise<{ seen: number; moved: number }> {
  const open = await unbound(world.db).many('housekeeping_open', { batch: batchMax }, openRow)
  let moved = 0
  for (let start = 0; start < open.length; start += parallelMax) {
    const part = open.slice(start, start + parallelMax)
    const results = await Promise.all(part.map((row) => keepOne(world, row)))
    moved += results.filter(Boolean).length
  }
  return { seen: open.length, moved }
}

/** A failure of one payment is logged and never keeps the others waiting. */
async function keepOne(world: World, row: z.output<typeof openRow>): Promise<boolean> {
  const { payment_row: before, transaction } = row
  try {
    const { payment: after } = await watchPayment(world, unbound(world.db), before)
    if (after.state !== before.state) return true
    const isUnseen = after.state === 'signed' && transaction !== null
    if (isUnseen) await broadcast(world, assetOf(after).chain, transaction.raw)
    return false
  } catch (error) {
    logFailure(world, before, error)
    return false
  }
}

function logFailure(world: World, payment: Payment, error: unknown): void {
  world.log({
    operation: 'housekeeping',
    payment: payment.id,
    log: error instanceof Error ? String(error.stack) : String(error),
  })
}
