/** The twin of owners' consent: who may consent, that each digest counts once, and what it covers. */
import { createHash } from 'node:crypto'
import { deviceName, lookalikeOf } from './limits.ts'
import type {
  Account,
  Assertion,
  Consent,
  Decision,
  Passkey,
  Payment,
  Ticks,
  Twin,
} from './state.ts'
import { isInService, Refused } from './state.ts'

/** Admits an owner's approval: by a passkey if the account has one, otherwise by a recent proof. */
export function admitConsent(account: Account, assertion: Assertion | null): void {
  if (!assertion && account.passkeys.length > 0) throw new Refused('passkey_required')
  const used = account.passkeys.find(
    ({ id, counter }) => id === assertion?.passkey && String(counter) === assertion.counter_seen,
  )
  if (assertion && !used) throw new Refused('proof_required')
  if (account.isFrozen) throw new Refused('account_frozen')
  if (assertion && used) used.counter = Number(assertion.counter_now)
}

/**
 * Records one act of consent, unless the digest was used before. Throws if the passkey is younger than the
 * request.
 */
export function keepConsent(
  twin: Twin,
  account: Account,
  given: Pick<Consent, 'digest' | 'leaves' | 'askedAt'> & { assertion: Assertion | null },
): Consent | undefined {
  const { digest, leaves, assertion, askedAt } = given
  const used = account.passkeys.find(({ id }) => id === assertion?.passkey)
  // No passkey in this house is added with another one, so `addedAt` decides. A refusal also takes the
  // counter back.
  if (used && used.addedAt > askedAt) {
    used.counter = Number(assertion?.counter_seen)
    throw new Refused('passkey_younger')
  }
  if (twin.consented.has(digest)) return undefined
  twin.consented.add(digest)
  const signed = assertion && used ? { assertion, ...pick(used) } : null
  return { digest, leaves, signed, askedAt, at: twin.now }
}

const pick = ({ publicKey, addedAt }: Passkey) => ({ publicKey, addedAt })

/** Returns the digest that identifies the requester of a payment. */
export function askerOf({ key, device }: Payment): string {
  return createHash('sha256').update(`${key.id} ${device}`).digest('hex')
}

export type Word = {
  id: string
  decision: Decision
  digest: string
  asker: string | null
  assertion: Assertion | null
  ticks: Ticks
}

/** Applies the owner's decision about a payment; `shown` is the digest of its terms with the ticks. */
export function decide(twin: Twin, account: Account, word: Word, shown: string): string {
  const { decision, digest, assertion, ticks } = word
  const isApproval = decision === 'approved'
  if (isApproval) admitConsent(account, assertion)
  const payment = ownOf(twin, account, word.id)
  const asker = isApproval ? word.asker : null
  const said = { isShown: digest === shown, asker, declines: !isApproval }
  const hindrance = undecidable(twin, payment, said)
  if (hindrance || !payment) return hindrance ?? 'not_found'
  if (isApproval && ticks.payee && lookalikeOf(payment) !== null) return 'similar'
  if (isApproval && payment.approval) {
    return payment.approval.digest === digest ? decision : 'closed'
  }
  const consent = isApproval
    ? keepConsent(twin, account, { digest, leaves: null, assertion, askedAt: payment.createdAt })
    : (payment.approval?.consent ?? null)
  if (consent === undefined) return 'closed'
  enter(payment, { decision, digest, consent })
  if (isApproval) remember(payment, ticks)
  return decision
}

/** True if the payment is reserved by an approval, which the owner can take back until it is signed. */
const isApprovedUnsigned = ({ state, level }: Payment) =>
  state === 'authorized' && (level === 'user_session' || level === 'user_passkey')

/** Makes the ticked recipient and device known; an entry that was known already keeps its origin. */
function remember(payment: Payment, ticks: Ticks): void {
  const { account, payee, id } = payment
  const { recipients, devices } = account
  payment.ticks = ticks
  const device = deviceName(payment)
  if (ticks.payee && !recipients.has(payee)) recipients.set(payee, id)
  if (ticks.device && !devices.has(device)) devices.set(device, id)
  if (!ticks.payee && !ticks.device) return
  account.version += 1
  account.feed.push({ type: 'remembered', payment: null })
}

/** Removes what an approval made known, once that approval is taken back. */
function forget({ account, id }: Payment): void {
  for (const known of [account.recipients, account.devices]) {
    for (const [name, by] of known) if (by === id) known.delete(name)
  }
}

const ownOf = (twin: Twin, account: Account, id: string) =>
  twin.payments.find((payment) => payment.id === id && payment.account === account)

function undecidable(
  twin: Twin,
  payment: Payment | undefined,
  said: { isShown: boolean; asker: string | null; declines?: boolean },
): string | undefined {
  if (!payment) return 'not_found'
  const isWaiting = payment.state === 'awaiting_confirmation'
  if (payment.state === 'expired' || (isWaiting && payment.expiresAt <= twin.now)) return 'expired'
  const isOpen = isWaiting || (said.declines === true && isApprovedUnsigned(payment))
  if (!isOpen || !isInService(twin, payment.key)) return 'closed'
  if (!said.isShown) return 'terms_changed'
  return said.asker !== null && said.asker !== askerOf(payment) ? 'asker_changed' : undefined
}

function enter(payment: Payment, approval: NonNullable<Payment['approval']>): void {
  payment.approval = approval
  if (approval.decision === 'declined') {
    Object.assign(payment, { state: 'declined', finality: null })
    forget(payment)
  }
  payment.account.feed.push({ type: `confirmation_${approval.decision}`, payment })
}

export type BatchWord = {
  payments: readonly { id: string; asker: string | null; shown: string }[]
  digest: string
  assertion: Assertion | null
}

/** Applies one approval to several payments, all or none; `shown` is the digest of exactly these. */
export function approveBatch(
  twin: Twin,
  account: Account,
  { payments, digest, assertion }: BatchWord,
  shown: string,
): string {
  admitConsent(account, assertion)
  const hindrances = payments.flatMap(({ id, asker }) => {
    const payment = ownOf(twin, account, id)
    const isSaid = payment?.approval ? ['closed'] : []
    // An approval of several payments must name the requester of each.
    return undecidable(twin, payment, { isShown: true, asker: asker ?? '' }) ?? isSaid
  })
  const different = new Set(payments.map(({ id }) => id)).size
  if (different < 2 || different > 50 || different < payments.length) return 'out_of_bounds'
  const [first] = hindrances.toSorted()
  if (first !== undefined) return first
  if (digest !== shown) return 'terms_changed'
  const leaves = payments.map((one) => one.shown).toSorted()
  const times = payments.flatMap(({ id }) => ownOf(twin, account, id)?.createdAt ?? [])
  const askedAt = Math.min(...times)
  const consent = keepConsent(twin, account, { digest, leaves, assertion, askedAt })
  if (!consent) return 'closed'
  for (const { id, shown: leaf } of inOrder(payments)) {
    const payment = ownOf(twin, account, id)
    if (payment) enter(payment, { decision: 'approved', digest: leaf, consent })
  }
  return 'approved'
}

const inOrder = <One extends { id: string }>(payments: readonly One[]) =>
  payments.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Declines everything that waits and returns the number of payments. */
export function declineAll(
  twin: Twin,
  account: Account,
  digests: ReadonlyMap<Payment, string>,
): number {
  const waiting = waitingOf(twin, account)
  for (const payment of inOrder(waiting)) {
    const consent = payment.approval?.consent ?? null
    enter(payment, { decision: 'declined', digest: digests.get(payment) ?? '', consent })
  }
  return waiting.length
}

export function waitingOf(twin: Twin, account: Account): Payment[] {
  return twin.payments.filter(
    (payment) =>
      payment.account === account &&
      ((payment.state === 'awaiting_confirmation' &&
        payment.expiresAt > twin.now &&
        (payment.askedLevel !== 'agent_asserted' || payment.approval !== null)) ||
        isApprovedUnsigned(payment)),
  )
}
