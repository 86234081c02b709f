/**
 * The end of a play: endpoints tell the truth, blocks come, the schedule runs, and no new payment is
 * requested. Every payment must be final within its validity, finality and two minutes, and its reported
 * outcome must be what the chain shows.
 */
import * as z from 'zod'
import { mine, type Outflow } from './blocks.ts'
import { countsOf } from './book.ts'
import { usualMwei } from './clock.ts'
import { brokenGasBudget } from './gas-budget.ts'
import { brokenInvariant } from './invariants.ts'
import { house } from './owner-acts.ts'
import type { Play } from './play.ts'

/** Longest validity of a signature in seconds. */
const longestSeconds = 15 * 60
/** Seconds from a payment's end until it is final; more if there is only one endpoint. */
const finalSeconds = { several: 2 * 60, one: (15 + 2) * 60 }
/** Seconds between runs of a platform's schedule. */
const stepSeconds = 60
const blocksPerStep = 10

/** Returns a description of what is wrong at the end, if anything. */
export async function settleDown(play: Play): Promise<string | undefined> {
  const { world, network, clock, gasPayers } = play
  Object.assign(network, { lie: 'none', isOut: false })
  play.isMining = true
  clock.baseFeeMwei = usualMwei
  await gasPayers.fund(1_000_000)
  await mine(world.chain, blocksPerStep)
  const isAlone = Object.values(world.world.config.chainRpcUrls).every((urls) => urls.length === 1)
  const patience = finalSeconds[isAlone ? 'one' : 'several']
  const began = clock.seconds()
  const rounds = Math.ceil((longestSeconds + patience) / stepSeconds)
  for (let round = 0; round < rounds; round += 1) {
    await clock.advance(stepSeconds)
    await mine(world.chain, blocksPerStep)
    await house(play)
    await mine(world.chain)
    const late = await openAfter(play, { began, patience })
    if (late) return late
  }
  return (await brokenInvariant(play)) ?? (await unlikeChain(play)) ?? (await brokenGasBudget(play))
}

/**
 * Finds a payment that is not final this long after its end, or after the endpoints began to tell the truth
 * if that is later.
 */
async function openAfter(
  { world, thief, clock }: Play,
  { began, patience }: { began: number; patience: number },
): Promise<string | undefined> {
  // The blocks of a step finalize what the step before included.
  const since = clock.seconds() - patience - stepSeconds
  if (since < began) return undefined
  const [late] = await world.db.sql<{ state: string; finality: string | null; ago: number }[]>`
    select state, finality, ${clock.seconds()} - valid_before as ago from private.payments
     where account = ${thief.id} and valid_before <= ${since}
       and state in ('authorized', 'signed')
     order by valid_before limit 1`
  return (
    late && `final: a payment is ${late.state} and ${late.finality} ${late.ago} s after its end`
  )
}

const told = z.object({
  status: z.string(),
  finality: z.string().nullable(),
  tx_hash: z.string().nullable(),
  to: z.string(),
  amount_atomic: z.string(),
  proof: z
    .object({ block: z.object({ hash: z.string() }), log_index: z.int().nullable() })
    .nullish(),
})
type Told = z.output<typeof told> & { id: string; isMost: boolean }

/** Returns every payment of the account as transfer-status reports it. */
async function paymentsTold(play: Play): Promise<Told[]> {
  const rows = await play.world.db.sql<{ id: string; scheme: string | null }[]>`
    select id, terms ->> 'scheme' as scheme from private.payments where account = ${play.thief.id}`
  const payments: Told[] = []
  for (const { id, scheme } of rows) {
    payments.push({ ...(await statusTold(play, id)), id, isMost: scheme === 'upto' })
  }
  return payments
}

const asksMax = 5

/** Reads a status, and repeats the request while a busy computer makes it unavailable. */
async function statusTold(
  { product, reader }: Pick<Play, 'product' | 'reader'>,
  id: string,
  asks = 1,
): Promise<z.output<typeof told>> {
  const { status, body } = await product.post(reader, '/transfer-status', { transfer_id: id })
  if (status === 200) return told.parse(body)
  if (body['error'] === 'unavailable' && asks < asksMax) {
    return statusTold({ product, reader }, id, asks + 1)
  }
  throw new Error(`transfer-status of ${id} answers ${status} ${JSON.stringify(body)}`)
}

const overStates = ['released', 'expired', 'declined', 'awaiting_confirmation']

async function unlikeChain(play: Play): Promise<string | undefined> {
  const payments = await paymentsTold(play)
  const open = payments.find(
    ({ status, finality }) =>
      !overStates.includes(status) && !(status === 'settled' && finality === 'finalized'),
  )
  if (open) return `final: a payment is ${open.status} and ${open.finality} long after its end`
  const settled = payments.filter(({ status }) => status === 'settled')
  return oneLogTwice(settled) ?? unreported(settled, await play.outflows.read())
}

/** Finds a log that proves more than one payment. */
function oneLogTwice(settled: readonly Told[]): string | undefined {
  const places = settled.flatMap(({ proof }) =>
    proof && proof.log_index !== null ? [`${proof.block.hash} ${proof.log_index}`] : [],
  )
  const twice = [...countsOf(places)].find(([, count]) => count > 1)
  return twice && `told: the log ${twice[0]} proves ${twice[1]} payments`
}

/**
 * Finds outflows that no payment reports, and reported payments that did not leave. For a payment reported
 * without its transaction, or as a maximum, any transfer of at most that amount is a match.
 */
function unreported(settled: readonly Told[], outflows: readonly Outflow[]): string | undefined {
  const exact = settled.filter(({ isMost, tx_hash }) => !isMost && tx_hash !== null)
  const keyOf = (tx: string | null, to: string, value: bigint | string) =>
    `${tx} ${to.toLowerCase()} ${value}`
  const owed = countsOf(
    exact.map(({ tx_hash, to, amount_atomic }) => keyOf(tx_hash, to, amount_atomic)),
  )
  const rest: Outflow[] = []
  for (const flow of outflows) {
    const key = keyOf(flow.tx, flow.to, flow.value)
    const count = owed.get(key) ?? 0
    if (count === 0) rest.push(flow)
    else owed.set(key, count - 1)
  }
  const missing = [...owed].find(([, count]) => count > 0)
  if (missing) return `told: ${missing[0]} is told to be settled, and did not leave`
  return unexplained(
    settled.filter((one) => !exact.includes(one)),
    rest,
  )
}

/** Checks that each of these payments has one outflow of at most its amount. */
function unexplained(most: readonly Told[], outflows: readonly Outflow[]): string | undefined {
  if (outflows.length !== most.length) {
    return `told: ${outflows.length} transfers left beside those that are told, and ${most.length} payments of up to an amount are settled`
  }
  const ascending = (values: bigint[]) => values.toSorted((a, b) => (a < b ? -1 : 1))
  const taken = ascending(outflows.map(({ value }) => value))
  const allowed = ascending(most.map(({ amount_atomic }) => BigInt(amount_atomic)))
  const over = taken.findIndex((value, at) => value > (allowed[at] ?? 0n))
  return over < 0
    ? undefined
    : `told: ${taken[over]} left for a payment of at most ${allowed[over]}`
}
