/**
 * What became of a signature, as all endpoints of a chain show it now. Each tells the block in which it was
 * used from its own state, and what one alone tells stands for as long as no other contradicts: nothing is
 * remembered of an earlier look. Final is what enough of them show in the same final block.
 */
import type { Chain } from '../chain.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { answersUntil } from './answers-until.ts'
import { isEnough, isUncontradicted, lagBlocks } from './enough.ts'
import { showsAsFinal } from './final.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import type { Finality, Place, Settlement, Shown } from './settlement.ts'
import type { Untraced, Unused } from './unused.ts'

/** `contradicted`: an endpoint shows its use, and another one that keeps up does not. */
export type AgreedFate =
  | { status: 'used'; settlement: Settlement }
  | { status: 'canceled' | 'contradicted' }
  | Untraced
  | Unused

/**
 * A use as one endpoint tells it. Two with one `mark` are the same; `isFinal` where the endpoint knows that
 * it is final in this very block.
 */
export type ToldUse = { status: 'used'; mark: string; isFinal: boolean; shown: Shown } & Place

/** What one endpoint tells. */
export type ToldFate = ToldUse | { status: 'canceled' } | Untraced | Unused | Unavailable

/** What each endpoint shows of the use that they agree on; undefined where it tells another or none. */
export type Views = readonly { operator: string; shown: Shown | undefined }[]

type Told = { operator: string; rpc: Rpc; fate: ToldFate }

/** Asks each endpoint by itself; `show` is what is booked of their views. */
export async function agreeOnUse(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<ToldFate>,
  show: (views: Views, use: ToldUse) => Shown = (_, use) => use.shown,
): Promise<AgreedFate | Unavailable> {
  const told = await askUntilUnused(endpointsFor(world, chain), ask)
  const unused = findUnused(told)
  if (unused) return unused
  const uses = told.flatMap(({ fate }) => (fate.status === 'used' ? [fate] : []))
  const [first] = uses
  if (!first) return withoutUse(told)
  const agreed = uses.find((one) =>
    isUncontradicted(told.map(({ operator, fate }) => ({ operator, says: compare(fate, one) }))),
  )
  // Where they differ in the block alone it is spent all the same, and can be used nowhere else.
  const isSpent = told.every(({ fate }) => spentStates.has(fate.status))
  const use = agreed ?? (isSpent ? first : undefined)
  if (!use) return { status: 'contradicted' }
  const views = told.map(({ operator, fate }) => {
    return { operator, shown: isSame(fate, use) ? fate.shown : undefined }
  })
  const place = await placeOf(told, use)
  return { status: 'used', settlement: { ...place, ...show(views, use) } }
}

const spentStates = new Set<ToldFate['status']>(['used', 'untraced', 'unavailable'])

/**
 * Once enough of them show it as unused, nobody is waited for. A use that another one contradicts is none, so
 * for that all of them are.
 */
async function askUntilUnused(
  endpoints: ReturnType<typeof endpointsFor>,
  ask: (rpc: Rpc) => Promise<ToldFate>,
): Promise<Told[]> {
  const asked = endpoints.map(({ rpc }) => ask(rpc))
  const fates = await answersUntil(asked, (soFar) =>
    isEnough(
      endpoints.map(({ operator }, at) => ({ operator, agrees: soFar[at]?.status === 'unused' })),
    ),
  )
  return endpoints.map((one, at) => ({ ...one, fate: fates[at] ?? unavailable('not awaited') }))
}

/** As the latest block shows it, where nobody says otherwise or enough of them say so. */
function findUnused(told: readonly Told[]): Unused | undefined {
  const says = ({ status }: ToldFate) =>
    status === 'unavailable' ? undefined : status === 'unused'
  if (!isUncontradicted(told.map(({ operator, fate }) => ({ operator, says: says(fate) })))) {
    return undefined
  }
  const unused = told.flatMap(({ fate }) => (fate.status === 'unused' ? [fate] : []))
  return unused.toSorted((a, b) => Number(b.latest - a.latest))[0]
}

/** Undefined where an endpoint says nothing of it, or lags behind its block. */
function compare(fate: ToldFate, use: ToldUse): boolean | undefined {
  if (fate.status === 'used') return isSame(fate, use)
  if (fate.status === 'canceled') return false
  if (fate.status !== 'unused') return undefined
  const { latest } = fate
  return latest < use.blockNumber && latest + lagBlocks >= use.blockNumber ? undefined : false
}

function isSame(fate: ToldFate, use: ToldUse): fate is ToldUse {
  return fate.status === 'used' && fate.mark === use.mark
}

async function placeOf(told: readonly Told[], use: ToldUse): Promise<Place> {
  const votes = await Promise.all(
    told.map(async ({ operator, rpc, fate }) => {
      const isShown = isSame(fate, use) && fate.isFinal
      return { operator, agrees: isShown && (await showsAsFinal(rpc, use)) }
    }),
  )
  const { blockNumber, blockHash, confirmations } = use
  const shown = use.finality === 'finalized' ? 'safe' : use.finality
  const finality: Finality = isEnough(votes) ? 'finalized' : shown
  return { blockNumber, blockHash, confirmations, finality }
}

function withoutUse(told: readonly Told[]): AgreedFate | Unavailable {
  const fates = told.map(({ fate }) => fate)
  const untraced = fates.find((fate) => fate.status === 'untraced')
  if (untraced) return untraced
  if (fates.some(({ status }) => status === 'canceled')) return { status: 'canceled' }
  return fates.find((fate) => fate.status === 'unavailable') ?? unavailable('no endpoint')
}
