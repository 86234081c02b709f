/**
 * The watch over everything that capabilities depend on: endpoints and relayers of each chain, custody, the
 * vault, and settings that were left empty. It moves no money. A part that fails or hangs does not stop the
 * other checks.
 */
import type { Chain } from '../chains/chain.ts'
import { type GasPayerStates, readGasPayers } from '../chains/evm/gas-payers.ts'
import { hasOneOperator } from '../chains/evm/rpc/endpoints.ts'
import { connectedChains, tokenBySymbol } from '../chains/registry.ts'
import type { CapabilityPart, ChainPart } from '../contract/gaps.ts'
import { unbound } from '../db/database.ts'
import { usdMicrosOf } from '../money/usd.ts'
import { type GasPayerRow, gasPayerRow } from '../payments/relay/gas-payers.ts'
import { fundedGasPayers } from '../payments/relay/relay.ts'
import type { World } from '../world.ts'

// Readers keep health for 10 seconds and documents for 15, so a failure shows within a minute.
const pauseMilliseconds = 15_000

/** Checks now and again every 15 seconds; a check that fails is logged, and the others go on. */
export async function watchHealth(world: World, looks: number): Promise<void> {
  for (let look = 1; look <= looks; look += 1) {
    await lookAround(world).catch((error: unknown) =>
      world.log({ work: 'health', log: String(error) }),
    )
    if (look < looks) await world.pause(pauseMilliseconds)
  }
}

/** Returns the time after which a watch of so many looks has ended, of which the last one takes 10 seconds at most. */
export function watchMilliseconds(looks: number): number {
  return (looks - 1) * pauseMilliseconds + 10_000
}

/** Result of a check; `reason` is null if the part is well. */
type Found = { part: CapabilityPart | `${ChainPart}:${string}`; reason: string | null }

/** Time after which a silent neighbour counts as absent. */
const neighbourMilliseconds = 5_000
/** Maximum age of the newest block; every chain of the registry has one at least every 15 seconds. */
const headAgeSecondsMax = 120

/** Checks once and stores the results. */
async function lookAround(world: World): Promise<void> {
  const ledger = unbound(world.db)
  const rows = await ledger.many('housekeeping_gas_payers', {}, gasPayerRow)
  const relayers = rows.filter(({ kind }) => kind === 'relayer')
  const { custody, vault, mailer } = world
  const found = await Promise.all([
    lookAtNeighbour(world, 'custody', custody && (() => custody.ready())),
    lookAtNeighbour(world, 'vault', vault && (() => vault.ready())),
    ...(mailer ? [lookAtNeighbour(world, 'mailer', () => mailer.ready())] : []),
    ...connectedChains(world.config).map((chain) => lookAtChain(world, chain, relayers)),
  ])
  await ledger.run('health_report', { parts: [...settingsFound(world), ...found.flat()] })
}

async function lookAtNeighbour(
  world: World,
  part: CapabilityPart,
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

/** Stops waiting for a call between two functions, which cannot be aborted. */
function within(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
    work.then(resolve, reject)
  })
}

function settingsFound({ config }: World): Found[] {
  const hasRelay = (config.WALLETCONNECT_PROJECT_ID ?? '') !== ''
  const hasChallenge = config.TURNSTILE_SITE_KEY !== ''
  return [
    { part: 'walletconnect', reason: hasRelay ? null : 'not_set' },
    { part: 'agent_sign_up', reason: hasChallenge ? 'page_only' : null },
  ]
}

async function lookAtChain(
  world: World,
  chain: Chain,
  rows: readonly GasPayerRow[],
): Promise<Found[]> {
  const relayers = rows.filter((row) => row.chain === chain.id)
  const addresses = relayers.map(({ address }) => address)
  const seen = await readGasPayers(world, chain, addresses)
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
  const isFunded = fundedGasPayers(relayers, seen).length > 0
  return [
    ...own,
    found('endpoints', isStalled(world, seen) ? 'stalled' : null),
    found('relayers', isFunded ? null : 'unfunded'),
  ]
}

/** True if the newest block is too old. A local chain makes blocks only for new transactions. */
function isStalled(world: World, { blockTimestampSeconds }: GasPayerStates): boolean {
  if (world.config.ENVIRONMENT === 'local') return false
  return Number(blockTimestampSeconds) < world.now().getTime() / 1000 - headAgeSecondsMax
}
