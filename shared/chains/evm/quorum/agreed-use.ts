/**
 * Determines the outcome of a signature from the current answers of all endpoints of a chain. Each endpoint
 * reports the block of the use from its own state. The report of a single endpoint holds as long as no
 * other contradicts it; no earlier look is remembered. A use is final once a quorum shows it in the same
 * final block.
 */
import type { Chain } from '../../chain.ts'
import type { Unavailable } from '../rpc/answer.ts'
import { unavailable } from '../rpc/answer.ts'
import { showsAsFinal } from '../rpc/final.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import type { BlockPosition, Finality, Settlement, UseEvidence } from '../settlement.ts'
import { answersUntil } from './answers-until.ts'
import type { Opinion } from './enough.ts'
import { isQuorum, isUncontradicted, lagBlocks } from './enough.ts'
import type { Untraced, Unused } from './unused.ts'

/**
 * Outcome of a signature. `contradicted`: one endpoint shows its use, another that keeps up does not. `isPlaced`
 * is false if all show it as used, in different blocks.
 */
export type AgreedOutcome =
  | { status: 'used'; settlement: Settlement; isPlaced: boolean }
  | { status: 'canceled' | 'contradicted' }
  | Untraced
  | Unused

/**
 * A use as one endpoint reports it. Two uses with the same `mark` are the same use. `isFinal` is true if
 * the endpoint knows that the use is final in this very block.
 */
export type ReportedUse = {
  status: 'used'
  mark: string
  isFinal: boolean
  shown: UseEvidence
} & BlockPosition

/** Outcome of a signature as one endpoint reports it. */
export type ReportedOutcome = ReportedUse | { status: 'canceled' } | Untraced | Unused | Unavailable

/** Views of the agreed use. `shown` is undefined if the endpoint reports another use or none. */
export type Views = readonly { operator: string; shown: UseEvidence | undefined }[]

type EndpointReport = { operator: string; rpc: Rpc; fate: ReportedOutcome }

/** Asks each endpoint separately. `show` derives from their views what is booked. */
export async function agreeOnUse(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<ReportedOutcome>,
  show: (views: Views, use: ReportedUse) => UseEvidence = (_, use) => use.shown,
): Promise<AgreedOutcome | Unavailable> {
  const reports = await askUntilUnused(endpointsFor(world, chain), ask)
  const unused = findUnused(reports)
  if (unused) return unused
  const uses = reports.flatMap(({ fate }) => (fate.status === 'used' ? [fate] : []))
  const [first] = uses
  if (!first) return outcomeWithoutUse(reports)
  const shown = uses.filter((one) => isUncontradicted(opinionsOn(reports, one)))
  const agreed = shown.find((one) => hasReached(reports, one))
  // If the endpoints differ only in the block, the nonce is spent all the same and cannot be used again.
  const isSpent = reports.every(({ fate }) => spentStates.has(fate.status))
  const use = agreed ?? (isSpent ? first : undefined)
  if (!use) return shown.length > 0 ? notReached : { status: 'contradicted' }
  const views = reports.map(({ operator, fate }) => {
    return { operator, shown: isSame(fate, use) ? fate.shown : undefined }
  })
  const place = await agreedPositionOf(reports, use)
  const settlement = { ...place, ...show(views, use) }
  return { status: 'used', settlement, isPlaced: agreed !== undefined }
}

const spentStates = new Set<ReportedOutcome['status']>(['used', 'untraced', 'unavailable'])

/**
 * Stops waiting once a quorum shows the signature as unused. A use counts only if no endpoint contradicts
 * it, so to find a use all endpoints are waited for.
 */
async function askUntilUnused(
  endpoints: ReturnType<typeof endpointsFor>,
  ask: (rpc: Rpc) => Promise<ReportedOutcome>,
): Promise<EndpointReport[]> {
  const asked = endpoints.map(({ rpc }) => ask(rpc))
  const outcomes = await answersUntil(asked, (soFar) =>
    isQuorum(
      endpoints.map(({ operator }, at) => ({ operator, agrees: soFar[at]?.status === 'unused' })),
    ),
  )
  return endpoints.map((one, at) => ({ ...one, fate: outcomes[at] ?? unavailable('not awaited') }))
}

/** Returns the unused state at the newest block, if all endpoints that answer show it, or a quorum does. */
function findUnused(reports: readonly EndpointReport[]): Unused | undefined {
  const says = ({ status }: ReportedOutcome) =>
    status === 'unavailable' ? undefined : status === 'unused'
  if (!isUncontradicted(reports.map(({ operator, fate }) => ({ operator, says: says(fate) })))) {
    return undefined
  }
  const unused = reports.flatMap(({ fate }) => (fate.status === 'unused' ? [fate] : []))
  return unused.toSorted((a, b) => Number(b.latest - a.latest))[0]
}

const notReached = unavailable('an endpoint has not reached the block of the use')

/**
 * Returns true if a quorum shows the use, or no endpoint that answers is yet to reach its block: one alone
 * could show a block that there is not.
 */
function hasReached(reports: readonly EndpointReport[], use: ReportedUse): boolean {
  const votes = opinionsOn(reports, use).map(({ operator, says }) => ({
    operator,
    agrees: says === true,
  }))
  const isAhead = ({ fate }: EndpointReport) =>
    fate.status === 'unused' && compare(fate, use) === undefined
  return isQuorum(votes) || !reports.some(isAhead)
}

function opinionsOn(reports: readonly EndpointReport[], use: ReportedUse): Opinion[] {
  return reports.map(({ operator, fate }) => ({ operator, says: compare(fate, use) }))
}

/** Compares with the use; undefined if silent or at most `lagBlocks` behind. A longer lag contradicts. */
function compare(outcome: ReportedOutcome, use: ReportedUse): boolean | undefined {
  if (outcome.status === 'used') return isSame(outcome, use)
  if (outcome.status === 'canceled') return false
  if (outcome.status !== 'unused') return undefined
  const { latest } = outcome
  return latest < use.blockNumber && latest + lagBlocks >= use.blockNumber ? undefined : false
}

function isSame(outcome: ReportedOutcome, use: ReportedUse): outcome is ReportedUse {
  return outcome.status === 'used' && outcome.mark === use.mark
}

async function agreedPositionOf(
  reports: readonly EndpointReport[],
  use: ReportedUse,
): Promise<BlockPosition> {
  const votes = await Promise.all(
    reports.map(async ({ operator, rpc, fate }) => {
      const isShown = isSame(fate, use) && fate.isFinal
      return { operator, agrees: isShown && (await showsAsFinal(rpc, use)) }
    }),
  )
  const { blockNumber, blockHash, confirmations } = use
  const shown = use.finality === 'finalized' ? 'safe' : use.finality
  const finality: Finality = isQuorum(votes) ? 'finalized' : shown
  return { blockNumber, blockHash, confirmations, finality }
}

function outcomeWithoutUse(reports: readonly EndpointReport[]): AgreedOutcome | Unavailable {
  const outcomes = reports.map(({ fate }) => fate)
  const untraced = outcomes.find((outcome) => outcome.status === 'untraced')
  if (untraced) return untraced
  if (outcomes.some(({ status }) => status === 'canceled')) return { status: 'canceled' }
  return outcomes.find((outcome) => outcome.status === 'unavailable') ?? unavailable('no endpoint')
}
