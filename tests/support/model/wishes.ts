/** The twin of how a wish that is told again is found. */
import { isCounted } from './limits.ts'
import type { Key, Payment, Twin } from './state.ts'

type Wish = Pick<Payment, 'kind' | 'token' | 'atomic' | 'alias'> & { payee: string | null }

/** Returns the newest payment of the key with these terms that waits; a purchase has to be asked about. */
export function waitingAlike(twin: Twin, key: Key, wish: Wish): Payment | undefined {
  const [newest] = twin.payments
    .filter(
      (one) =>
        one.key === key &&
        (one.state === 'awaiting_confirmation' ||
          (one.state === 'prepared' && one.kind === 'transfer')) &&
        one.expiresAt > twin.now &&
        one.claim === null &&
        one.kind === wish.kind &&
        one.token === wish.token &&
        one.payee === wish.payee &&
        one.atomic === wish.atomic &&
        one.alias === wish.alias,
    )
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
  return newest
}

/** True if the same key sent an equal payment within ten minutes, both without a claim. */
export function isPaidAlready(twin: Twin, payment: Payment): boolean {
  return (
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
        (one.kind === 'transfer' || one.level === 'user_session' || one.level === 'user_passkey') &&
        isCounted(twin, one) &&
        (one.authorizedAt ?? 0) > twin.now - 600,
    )
  )
}
