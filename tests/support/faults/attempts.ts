/**
 * x402 attempts with two faults: a worker is struck at one of its requests while the merchant misbehaves.
 * The outcome is read from the chain and from the ledger.
 */
import { expect } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { attemptOf, type Market, prepare, priceAtomic } from '../market.ts'
import type { Agent } from '../world.ts'
import { pass } from './chain.ts'
import { ledgerEqualsChain, settleAll } from './settle.ts'
import { type Strike, strikesAt, unreliable } from './unreliable.ts'

/** The merchant's behaviour, as its path, and the fault of the worker. */
export type Trial = { path: string; strike: Strike }
type Tried = Trial & { agent: Agent; attempt: string }

/** Returns everything that the merchant can do with a payment that it was sent. */
export function behavioursOf({ hostile }: Market): string[] {
  return hostile.paths.filter((path) => /^\/(paid|settled|later|after)\//.test(path))
}

/** Returns every strike that is possible in an execution. */
export async function strikesAtExecution(market: Market): Promise<Strike[]> {
  const counted = unreliable()
  const { agent, attempt } = await prepared(market, '/paid/ok')
  await execute(market, { agent, attempt }, counted)
  return strikesAt(counted.requests())
}

async function prepared(market: Market, path: string) {
  const agent = await market.agent('pay', { usdc: 1 })
  const body = { resource_url: `${market.hostile.url}${path}` }
  return { agent, attempt: attemptOf(await prepare(agent, body)) }
}

type Attempt = Pick<Tried, 'agent' | 'attempt'>

function execute(market: Market, { agent, attempt }: Attempt, network = unreliable()) {
  const body = { attempt_id: attempt, user_confirmed: true }
  const { fetch } = network
  return market.worker({ fetch }).post(agent, '/x402-payment-execute', body)
}

const parallelMax = 6

/** Runs all trials, and half of them again once the leases of struck workers have ended. */
async function tryAll(market: Market, trials: readonly Trial[]): Promise<Tried[]> {
  const tried = await inParallel(trials, async (trial) => {
    const entered = await prepared(market, trial.path)
    await execute(market, entered, unreliable(trial.strike))
    return { ...trial, ...entered }
  })
  await pass(market, leaseSeconds)
  const again = tried.filter((_, index) => index % 2 === 0)
  await inParallel(again, (one) => execute(market, one))
  await pass(market, leaseSeconds)
  await market.hostile.idle()
  await pass(market, 1)
  for (let seen = 0; seen <= tried.length; seen += batch) await runHousekeeping(market.world)
  return tried
}

/** Seconds after which no worker holds a payment's lease any more. */
const leaseSeconds = 46
/** Number of payments that one run of housekeeping handles. */
const batch = 50

async function inParallel<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += parallelMax) {
    results.push(...(await Promise.all(items.slice(start, start + parallelMax).map(run))))
  }
  return results
}

/**
 * Runs trials to their end. Meanwhile no attempt is debited or reserved more than once, and what is
 * reserved can still settle. At the end each attempt is paid or free, and the ledger agrees.
 */
export async function endEvenly(market: Market, trials: readonly Trial[]): Promise<void> {
  const tried = await tryAll(market, trials)
  await ledgerEqualsChain(market)
  for (const one of tried)
    expect.soft(await standingOf(market, one), labelOf(one)).toSatisfy(isEven)
  await pass(market, attemptSeconds)
  await settleAll(market)
  await ledgerEqualsChain(market)
  for (const one of tried)
    expect.soft(await standingOf(market, one), labelOf(one)).toSatisfy(isOver)
}

/** Seconds that exceed both the day an attempt can wait for its owner and the validity of its signature. */
const attemptSeconds = 86_500

const labelOf = ({ path, strike }: Tried) => `${path} ${strike.fault} ${strike.at}`

type Standing = Awaited<ReturnType<typeof standingOf>>

/** Returns the payments of an attempt's account, their reservations, and the wallet's remaining balance. */
async function standingOf(market: Market, { agent }: Attempt) {
  const [row] = await market.db.sql<{ state: string; payments: number; reserved: number }[]>`
    select min(private.reported_state(p)) as state, count(*)::integer as payments, coalesce(sum(amount_atomic)
      filter (where state in ('authorized', 'signed') and block_hash is null), 0)::integer as reserved
    from private.payments p where account = ${agent.id}`
  return { ...row, held: await market.usdcOf(agent.address) }
}

const fundedAtomic = 1_000_000n

/** Decides whether there is one debit of the price, one reservation of it, or neither. */
function isEven({ payments, reserved = 0, held }: Standing): boolean {
  return payments === 1 && [0n, priceAtomic].includes(fundedAtomic - held + BigInt(reserved))
}

function isOver(standing: Standing): boolean {
  const { state = '', reserved, held } = standing
  const isPaid = state === 'settled' && held === fundedAtomic - priceAtomic
  const isFree = ['expired', 'released'].includes(state) && held === fundedAtomic
  return isEven(standing) && reserved === 0 && (isPaid || isFree)
}
