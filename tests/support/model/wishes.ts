/** The twin of how a wish that is told again is found. */
import type { Key, Payment, Twin } from './state.ts'

type Wish = Pick<Payment, 'kind' | 'token' | 'atomic' | 'alias' | 'resource'> & {
  payee: string | null
}

/** Returns the newest payment of the key with these terms that waits for a confirmation. */
export function waitingAlike(twin: Twin, key: Key, wish: Wish): Payment | undefined {
  const [newest] = twin.payments
    .filter(
      (one) =>
        one.key === key &&
        one.state === 'awaiting_confirmation' &&
        one.expiresAt > twin.now &&
        one.claim === null &&
        one.kind === wish.kind &&
        one.token === wish.token &&
        one.payee === wish.payee &&
        one.atomic === wish.atomic &&
        one.alias === wish.alias &&
        one.resource === wish.resource,
    )
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
  return newest
}

/** True if the same key sent an equal transfer within ten minutes, both without a claim. */
export function isPaidAlready(twin: Twin, payment: Payment): boolean {
  return (
    payment.kind === 'transfer' &&
    payment.claim === null &&
    twin.payments.some(
      (one) =>
        one !== payment &&
        one.paidBy === payment.key &&
        one.claim === null &&
        one.kind === payment.kind &&
        one.account === payment.account &&
        one.token === payment.token &&
        one.payee === payment.payee &&
        one.atomic === payment.atomic &&
        ['signed', 'unknown', 'settled'].includes(one.state) &&
        (one.authorizedAt ?? 0) > twin.now - 600,
    )
  )
}
