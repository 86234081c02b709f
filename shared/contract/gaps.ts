/**
 * Capability gaps: what is offered, how mature it is at best, and which parts it rests on. A reply to a
 * user must not claim more than its gap says (SPEC section 1). How each stands now is computed from
 * this table and from what was found failing: contract/gap-states.ts.
 */

/** From best to worst. */
export const gapStatuses = ['live', 'partial_live', 'unavailable'] as const

/** How a capability stands: as offered, with exceptions that its reasons name, or not at all. */
export type GapStatus = (typeof gapStatuses)[number]

/** What a capability rests on, wherever it is used. */
export type Part = 'custody' | 'vault' | 'mailer' | 'mail_out' | 'walletconnect'

/** What it rests on once for each chain. */
export type ChainPart = 'endpoints' | 'second_operator' | 'relayers' | 'eurc'

/** One capability. */
export type Capability = {
  title: string
  /** What it is with everything well; below `live` it says why. */
  best: 'live' | 'partial_live'
  limits?: string
  /** Without one of these it is unavailable. */
  needs: readonly Part[]
  /** Without one of these it goes on, worse. */
  helps: readonly Part[]
  /** The same for each chain; absent where it has nothing to do with chains. */
  onChain?: { needs: readonly ChainPart[]; helps: readonly ChainPart[] }
}

/** Every capability that an operation belongs to. */
export const gaps = {
  GAP_X402_V1: {
    title: 'x402 payments',
    best: 'partial_live',
    limits: 'Not every merchant, scheme and chain; delivery is the merchant’s.',
    needs: ['custody'],
    helps: [],
    // Where one operator alone tells what the chain says, ends wait longer.
    onChain: { needs: ['endpoints'], helps: ['second_operator', 'eurc'] },
  },
  GAP_PAYMENT_MANDATE_V1: {
    title: 'payment mandates',
    best: 'partial_live',
    limits: 'Caps of this service, not interoperable with the mandates of card networks.',
    needs: [],
    helps: [],
  },
  GAP_TRANSFER_V1: {
    title: 'stablecoin transfers',
    best: 'live',
    needs: ['custody'],
    helps: [],
    // Without a relayer the wallet pays its own gas, if it has any.
    onChain: { needs: ['endpoints'], helps: ['second_operator', 'relayers', 'eurc'] },
  },
  GAP_BALANCES_V1: {
    title: 'balances and deposits',
    best: 'live',
    needs: [],
    helps: [],
    onChain: { needs: ['endpoints'], helps: ['eurc'] },
  },
  GAP_VAULT_V1: { title: 'the vault', best: 'live', needs: ['vault'], helps: [] },
  // A mail that cannot leave waits and is tried again.
  GAP_MAIL_V1: { title: 'mail', best: 'live', needs: ['vault'], helps: ['mailer', 'mail_out'] },
  GAP_SIGN_UP_V1: {
    title: 'sign-up',
    best: 'live',
    needs: ['custody'],
    helps: ['mailer', 'mail_out'],
  },
  GAP_HOSTED_ACTION_V1: {
    title: 'hosted pages',
    best: 'live',
    needs: [],
    helps: ['vault', 'walletconnect'],
  },
} as const satisfies Record<string, Capability>

/** A gap that an operation or an answer names. */
export type GapId = keyof typeof gaps
