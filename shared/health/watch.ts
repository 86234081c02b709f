/**
 * The watch over everything that capabilities rest on: endpoints and relayers of each chain, custody, the
 * vault, and settings that were left empty. It moves nothing, and one part that fails or hangs keeps no
 * other from being looked at.
 */
import type { Chain } from '../chains/chain.ts'
import { hasOneOperator } from '../chains/evm/endpoints.ts'
import type { LaneStates } from '../chains/evm/lanes.ts'
import { readLanes } from '../chains/evm/lanes.ts'
import { connectedChains, tokenBySymbol } from '../chains/registry.ts'
import type { ChainPart, Part } from '../contract/gaps.ts'
import { unbound } from '../db/database.ts'
import { usdMicrosOf } from '../money/usd.ts'
import { carriesTransfers, fundedLanes } from '../payments/funded-lanes.ts'
import type { LaneRow } from '../payments/lanes.ts'
import { laneRow } from '../payments/lanes.ts'
import type { World } from '../world.ts'

// With what readers keep for 10 seconds and documents for 15, no failure goes untold for a minute.
const pauseMilliseconds = 15_000

/** Looks now, and again every 15 seconds; a look that fails is logged and leaves the others. */
export async function watchHealth(world: World, looks: number): Promise<void> {
  for (let look = 1; look <= looks; look += 1) {
    await lookAround(world).catch((error: unknown) =>
      world.log({ work: 'health', log: String(error) }),
    )
    if (look < looks) await world.pause(pauseMilliseconds)
  }
}

/** Null where it was found well. */
type Found = { part: Part | `${ChainPart}:${string}`; reason: string | null }

/** A neighbour that says nothing for so long is not there. */
const neighbourMilliseconds = 5_000
/** Every chain of the registry has a block at least every quarter of a minute. */
const headAgeSecondsMax = 120

/** Looks once and writes down what was found. */
async function lookAround(world: World): Promise<void> {
  const ledger = unbound(world.db)
  const rows = await ledger.many('housekeeping_lanes', {}, laneRow)
  const relayers = rows.filter(({ kind }) => kind === 'relayer')
  const { custody, vault, mailer } = world
  const found = await Promise.all([
    lookAtNeighbour(world, 'custody', custody && (() => custody.ready())),
    lookAtNeighbour(world, 'vault', vault && (() => vault.ready())),
    ...(mailer ? [lookAtNeighbour(world, 'mailer', () => mailer.ready())] : []),
    ...connectedChains(world.config).map((chain) => lookAtChain(world, chain, relayers)),
  ])
  await ledger.run('health_report', { parts: [lookAtWalletConnect(world), ...found.flat()] })
}

async function lookAtNeighbour(
  world: World,
  part: Part,
  ready: (() => Promise<void>) | undefined,
): Promise<Found> {
  if (!ready) return { part, reason: 'not_bound' }
  try {
    await within(world.deadline(neighbourMilliseconds), ready())
    return { part, reason: null }
  } catch (error) {
    world.log({ work: 'health', part, log: String(error) })
    return { part, reason: 'unreachable' }
  }
}

/** A call between two functions cannot be aborted; this stops waiting for it. */
function within(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
    work.then(resolve, reject)
  })
}

function lookAtWalletConnect({ config }: World): Found {
  const isSet = (config.WALLETCONNECT_PROJECT_ID ?? '') !== ''
  return { part: 'walletconnect', reason: isSet ? null : 'not_set' }
}

async function lookAtChain(world: World, chain: Chain, rows: readonly LaneRow[]): Promise<Found[]> {
  const relayers = rows.filter((row) => row.chain === chain.id)
  const addresses = relayers.map(({ address }) => address)
  const seen = await readLanes(world, chain, addresses)
  const found = (part: ChainPart, reason: string | null): Found => ({
    part: `${part}:${chain.caip2}`,
    reason,
  })
  const eurc = tokenBySymbol(chain, 'EURC')
  const hasRate = !eurc || usdMicrosOf(eurc, 1n, world.config) !== undefined
  const isAlone = hasOneOperator(world.config.chainRpcUrls[chain.caip2] ?? [])
  const own = [
    found('eurc', hasRate ? null : 'rate_not_set'),
    found('second_operator', isAlone ? 'missing' : null),
  ]
  if (seen.status !== 'ok') {
    world.log({ work: 'health', chain: chain.caip2, log: seen.log })
    return [...own, found('endpoints', 'unreachable')]
  }
  const isFunded = fundedLanes(relayers, seen).some(carriesTransfers)
  return [
    ...own,
    found('endpoints', isStalled(world, seen) ? 'stalled' : null),
    found('relayers', isFunded ? null : 'unfunded'),
  ]
}

/** A local chain makes blocks only when there is something to put into them. */
function isStalled(world: World, { blockTimestampSeconds }: LaneStates): boolean {
  if (world.config.ENVIRONMENT === 'local') return false
  return Number(blockTimestampSeconds) < world.now().getTime() / 1000 - headAgeSecondsMax
}
