/**
 * Capability gaps: what is offered, its best possible status, and the parts it depends on. A reply to a
 * user must not claim more than its gap says (functions/README.md). contract/gap-states.ts computes the
 * current status from this table and from the parts found failing.
 */

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
export type Capability = {
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
