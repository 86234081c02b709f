/**
 * Capability gaps: what is offered, its best possible status, and the parts it depends on. A reply to a
 * user must not claim more than its gap says (functions/README.md). The current status
 * follows from this table and from the parts found failing.
 */
import * as z from 'zod'

/** Statuses, best first. */
export const gapStatuses = ['live', 'partial_live', 'unavailable'] as const

/** Status of a capability: as offered, with exceptions that its reasons name, or not at all. */
export type GapStatus = (typeof gapStatuses)[number]

/** A part on which a capability depends as a whole. */
export type CapabilityPart =
  | 'custody'
  | 'vault'
  | 'mailer'
  | 'mail_out'
  | 'walletconnect'
  | 'agent_sign_up'
  | 'vaults'

/** A part that exists once for each chain. */
export type ChainPart = 'endpoints' | 'second_operator' | 'relayers' | 'eurc'

/** One capability. */
type Capability = {
  /** Status when every part is well. */
  best: 'live' | 'partial_live'
  /** Parts without which it is unavailable. */
  needs: readonly CapabilityPart[]
  /** Parts without which it works, but with exceptions. */
  helps: readonly CapabilityPart[]
  /** The same for each chain; absent if it does not depend on chains. */
  onChain?: { needs: readonly ChainPart[]; helps: readonly ChainPart[] }
}

/** All capabilities, by the id that operations name. */
export const gaps = {
  GAP_X402_V1: {
    best: 'partial_live',
    needs: ['custody'],
    helps: [],
    // If only one operator reports the chain, an unused payment is released 15 minutes later.
    onChain: { needs: ['endpoints'], helps: ['second_operator', 'eurc'] },
  },
  GAP_PAYMENT_MANDATE_V1: {
    best: 'partial_live',
    needs: [],
    helps: [],
  },
  GAP_TRANSFER_V1: {
    best: 'live',
    needs: ['custody'],
    helps: [],
    // Without a relayer the wallet pays its own gas, if it has any.
    onChain: { needs: ['endpoints'], helps: ['second_operator', 'relayers', 'eurc'] },
  },
  GAP_BALANCES_V1: {
    best: 'live',
    needs: [],
    helps: [],
    onChain: { needs: ['endpoints'], helps: ['eurc'] },
  },
  GAP_DEFI_AUTOMATION_V1: {
    best: 'partial_live',
    needs: ['custody', 'vaults'],
    helps: [],
  },
  GAP_VAULT_V1: { best: 'live', needs: ['vault'], helps: [] },
  // A mail that cannot be sent waits and is retried.
  GAP_MAIL_V1: { best: 'live', needs: ['vault'], helps: ['mailer', 'mail_out'] },
  GAP_SIGN_UP_V1: {
    best: 'live',
    needs: ['custody'],
    helps: ['mailer', 'mail_out', 'agent_sign_up'],
  },
  GAP_HOSTED_ACTION_V1: {
    best: 'live',
    needs: [],
    helps: ['vault', 'walletconnect'],
  },
} as const satisfies Record<string, Capability>

/** Id of a gap, as operations and answers name it. */
export type GapId = keyof typeof gaps

/** Health as the database returns it; `part`: a CapabilityPart, or a ChainPart, a colon and its chain. */
export const health = z.object({
  /** True if the watch has run recently. */
  watched: z.boolean(),
  /** CAIP-2 ids of the connected chains. */
  chains: z.array(z.string()),
  failing: z.array(z.object({ part: z.string(), reason: z.string() })),
})

/** Health, parsed. */
export type Health = z.output<typeof health>

/** A status and the reasons why it is not better, each `<part>_<reason>`. */
type Standing = { status: GapStatus; reasons: string[] }

/** Status of one capability; `chains` if it depends on chains. */
export type GapState = Standing & {
  gap_id: GapId
  chains?: (Standing & { chain: string })[]
}

/** Returns the state of every capability in the order of the table. */
export function gapStates(found: Health): GapState[] {
  return gapIds.map((gap_id) => stateOf(gap_id, found))
}

/** Returns the states while the database does not answer: nothing works without it. */
export function gapStatesWithoutDatabase(): GapState[] {
  return gapIds.map((gap_id) => ({
    gap_id,
    status: 'unavailable',
    reasons: ['database_unreachable'],
  }))
}

const gapIds = Object.keys(gaps).filter((key): key is GapId => key in gaps)

function stateOf(gap_id: GapId, found: Health): GapState {
  const capability: Capability = gaps[gap_id]
  const { best, needs, helps, onChain } = capability
  const unwatched: Standing = { status: 'partial_live', reasons: ['health_not_watched'] }
  const own = worstOf([
    { status: best, reasons: [] },
    ...(found.watched ? [] : [unwatched]),
    ...failures(found, needs, 'unavailable'),
    ...failures(found, helps, 'partial_live'),
  ])
  if (!onChain) return { gap_id, ...own }
  const chains = found.chains.map((chain) => ({
    chain,
    ...worstOf([
      own,
      ...failures(found, onChain.needs, 'unavailable', chain),
      ...failures(found, onChain.helps, 'partial_live', chain),
    ]),
  }))
  return { gap_id, ...overall(own, chains, found.watched), chains }
}

function failures(
  { failing }: Health,
  parts: readonly string[],
  status: GapStatus,
  chain?: string,
): Standing[] {
  return parts.flatMap((part) => {
    const name = chain === undefined ? part : `${part}:${chain}`
    const found = failing.filter((one) => one.part === name)
    return found.map(({ reason }) => ({ status, reasons: [`${part}_${reason}`] }))
  })
}

/** Combines the chains: unavailable only if no chain is left, partial_live if some chains are. */
function overall(own: Standing, chains: readonly Standing[], watched: boolean): Standing {
  if (chains.length === 0) {
    const none: Standing = { status: 'unavailable', reasons: ['no_chain_connected'] }
    return watched ? worstOf([own, none]) : own
  }
  const all = worstOf([own, ...chains])
  const isLeft = chains.some(({ status }) => status !== 'unavailable')
  return isLeft && all.status === 'unavailable' ? { ...all, status: 'partial_live' } : all
}

function worstOf(standings: readonly Standing[]): Standing {
  const rank = Math.max(...standings.map(({ status }) => gapStatuses.indexOf(status)))
  const reasons = [...new Set(standings.flatMap((one) => one.reasons))]
  return { status: gapStatuses[rank] ?? 'unavailable', reasons }
}
