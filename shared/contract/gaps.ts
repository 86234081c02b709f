/**
 * Capability gaps: the maturity of what is offered, in the words that every surface must use.
 * A reply to a user must not claim more than its gap says (SPEC section 1).
 */
export const gaps = {
  GAP_X402_V1: 'partial_live',
  GAP_PAYMENT_MANDATE_V1: 'partial_live',
} as const satisfies Record<string, 'partial_live' | 'live'>

/** A gap that an operation or an answer names. */
export type GapId = keyof typeof gaps
