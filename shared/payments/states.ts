/**
 * States of a payment. Those that are stored change in SQL alone, each from the one before:
 *
 *     prepared -> awaiting_confirmation -> authorized -> signed -> settled | released
 *
 * It is `expired` or `declined` before it is authorized, and `released` too if nothing was signed in time. Only a
 * final block makes `settled`, and the end of a signature `released`. Of a signed payment is told (private.told_state):
 * `settled` while an endpoint shows it in a block, `unknown` from a merchant's answer until then. `finality` tells
 * these from what is final. No limit and no reservation follows what is told.
 */
export const paymentStates = [
  'prepared',
  'awaiting_confirmation',
  'authorized',
  'signed',
  'unknown',
  'settled',
  'released',
  'expired',
  'declined',
] as const

/** State as it is told. */
export type PaymentState = (typeof paymentStates)[number]

/** True if nothing is reserved for it so far. */
export function isUndecided(state: PaymentState): boolean {
  return state === 'prepared' || state === 'awaiting_confirmation'
}

/** True if it is signed or about to be, and no endpoint shows it in a block. */
export function isUnderWay(state: PaymentState): boolean {
  return state === 'authorized' || state === 'signed' || state === 'unknown'
}

/** True if its signature was or can be used. */
export function isSigned(state: PaymentState): boolean {
  return state === 'signed' || state === 'unknown' || state === 'settled'
}

/** True if it was decided that it may be paid, and it was not given up since. */
export function isReserved(state: PaymentState): boolean {
  return state === 'authorized' || isSigned(state)
}
