/**
 * What became of an EIP-3009 authorization, as all endpoints of a chain show it now. Each tells the log
 * that ended it from its own state, and what one alone tells stands for as long as no other contradicts:
 * nothing is remembered of an earlier look. Final is what enough of them show in the same final block.
 */
import type { Chain } from '../chain.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { answersUntil } from './answers-until.ts'
import type { AuthorizationFate, PlacedEnd } from './authorization.ts'
import { isEnough, isUncontradicted, lagBlocks } from './enough.ts'
import { showsAsFinal } from './final.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import type { Finality, Settlement } from './settlement.ts'
import type { Untraced, Unused } from './unused.ts'

/** `contradicted`: an endpoint shows its use, and another one that keeps up does not. */
export type AgreedFate =
  | { status: 'used'; settlement: Settlement }
  | { status: 'canceled' | 'contradicted' }
  | Untraced
  | Unused

type Told = { operator: string; rpc: Rpc; fate: AuthorizationFate | Unavailable }

/** Asks each endpoint by itself. */
export async function agreeOnUse(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<AuthorizationFate | Unavailable>,
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
  const isSpent = told.every(
    ({ fate: { status } }) => status === 'used' || status === 'unavailable',
  )
  const use = agreed ?? (isSpent ? first : undefined)
  return use ? { status: 'used', settlement: await settle(told, use) } : { status: 'contradicted' }
}

/**
 * Once enough of them show it as unused, nobody is waited for. A use that another one contradicts is none, so
 * for that all of them are.
 */
async function askUntilUnused(
  endpoints: ReturnType<typeof endpointsFor>,
  ask: (rpc: Rpc) => Promise<Told['fate']>,
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
  const says = ({ status }: Told['fate']) =>
    status === 'unavailable' ? undefined : status === 'unused'
  if (!isUncontradicted(told.map(({ operator, fate }) => ({ operator, says: says(fate) })))) {
    return undefined
  }
  const unused = told.flatMap(({ fate }) => (fate.status === 'unused' ? [fate] : []))
  return unused.toSorted((a, b) => Number(b.latest - a.latest))[0]
}

/** Undefined where an endpoint says nothing of it, or lags behind its block. */
function compare(fate: Told['fate'], use: PlacedEnd): boolean | undefined {
  if (fate.status === 'used') return isSame(fate, use)
  if (fate.status === 'canceled') return false
  if (fate.status !== 'unused') return undefined
  const { latest } = fate
  return latest < use.blockNumber && latest + lagBlocks >= use.blockNumber ? undefined : false
}

function isSame(one: PlacedEnd, other: PlacedEnd): boolean {
  const isInBlock = one.blockHash === other.blockHash && one.logIndex === other.logIndex
  return isInBlock && one.transactionHash === other.transactionHash
}

async function settle(told: readonly Told[], use: PlacedEnd): Promise<Settlement> {
  const votes = await Promise.all(
    told.map(async ({ operator, rpc, fate }) => {
      const isShown = fate.status === 'used' && fate.finality === 'finalized' && isSame(fate, use)
      return { operator, agrees: isShown && (await showsAsFinal(rpc, use)) }
    }),
  )
  const { blockNumber, blockHash, confirmations, transactionHash, logIndex } = use
  const shown = use.finality === 'finalized' ? 'safe' : use.finality
  const finality: Finality = isEnough(votes) ? 'finalized' : shown
  // The token writes the transfer right after the use of its authorization.
  const logs = [{ transactionHash, logIndex: logIndex + 1 }]
  const place = { blockNumber, blockHash, confirmations, finality }
  return { ...place, transactionHash, logs, takenAtomic: null }
}

function withoutUse(told: readonly Told[]): AgreedFate | Unavailable {
  const fates = told.map(({ fate }) => fate)
  const untraced = fates.find((fate) => fate.status === 'untraced')
  if (untraced) return untraced
  if (fates.some(({ status }) => status === 'canceled')) return { status: 'canceled' }
  return fates.find((fate) => fate.status === 'unavailable') ?? unavailable('no endpoint')
}
