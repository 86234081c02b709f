/** The twin's state in the form in which the ledger answers it. */
import { isDeviceKnown, isKnown, lookalikeOf, reservedOf, resetsAt, usedOf } from './limits.ts'
import type { Account, Level, Payment, Twin } from './state.ts'

const timeText = (seconds: number | null) =>
  seconds === null ? null : new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00')

/** As private.payment_json. */
export function paymentWire(twin: Twin, payment: Payment) {
  const { account, place } = payment
  return {
    id: payment.id,
    account: account.id,
    kind: payment.kind,
    state: payment.state,
    chain: twin.chain,
    token: payment.token,
    wallet: account.wallet,
    payee: payment.payee,
    payee_alias: payment.alias,
    amount_atomic: payment.atomic.toString(),
    amount_usd_micros: payment.usd.toString(),
    terms: {},
    memo: null,
    resource: null,
    heard: false,
    mandate: null,
    created_at: timeText(payment.createdAt),
    expires_at: timeText(payment.expiresAt),
    consent_level: payment.level,
    authorized_at: timeText(payment.authorizedAt),
    valid_after: payment.validBefore === null ? null : 0,
    valid_before: payment.validBefore,
    authorized_block: payment.seenBlock,
    authorization_nonce: payment.nonce,
    signature: payment.signature,
    tx_hash: payment.txHash,
    block_number: place?.block ?? null,
    block_hash: place?.hash ?? null,
    log_index: place?.log ?? null,
    settled_atomic: null,
    allowance_nonce: null,
    allowance_signature: null,
    finality: payment.finality,
    settled_at: timeText(payment.settledAt),
    delivery: payment.delivery,
    failure: payment.failure,
  }
}

/** As private.limits_json. */
export function limitsWire(twin: Twin, account: Account) {
  const window = (limit: bigint, level?: Level) => ({
    limit: limit.toString(),
    spent: usedOf(twin, account, level).toString(),
    resets_at: timeText(resetsAt(twin, account, level)),
  })
  return {
    automatic_daily: window(account.limits.automatic, 'none'),
    asserted_daily: window(account.limits.asserted, 'agent_asserted'),
    daily_spending_cap: window(account.limits.cap),
  }
}

/** As private.payment_facts; the order of lanes means nothing. */
export function factsWire(twin: Twin, payment: Payment) {
  const inService = twin.lanes.filter((lane) => lane.kind === 'relayer' && lane.pausedFor === null)
  return {
    version: payment.account.version,
    limits: limitsWire(twin, payment.account),
    asserted_new_recipient_limit: payment.account.limits.newRecipient.toString(),
    recipient_known: isKnown(payment),
    similar_recipient: lookalikeOf(payment),
    device_known: isDeviceKnown(payment),
    approval: approvalWire(payment),
    has_passkey: false,
    mandates: [],
    history: { payees: [], assets: [], lowest_usd_micros: null, highest_usd_micros: null },
    reserved_atomic: reservedOf(twin, payment).toString(),
    now: twin.now,
    lanes: payment.kind === 'transfer' ? inService.map(laneWire).sort(byAddress) : [],
  }
}

function approvalWire({ approval }: Payment) {
  if (!approval) return null
  const { decision, digest, consent } = approval
  return { decision, digest, level: consent?.level ?? 'user_session' }
}

/** As private.consent_behind, without the id that only the ledger knows. */
export function consentWire({ level, approval }: Payment) {
  const consent = approval?.consent
  if ((level !== 'user_session' && level !== 'user_passkey') || !consent) return null
  const signed = { passkey: null, public_key: null, client_data: null, authenticator_data: null }
  const { digest, at } = consent
  const decided = { level: consent.level, digest, leaves: null, decided_at: timeText(at) }
  return { ...decided, ...signed, signature: null }
}

const laneWire = ({ address, next }: { address: string; next: number }) => ({
  address,
  next_nonce: next,
})

export const byAddress = (a: { address: string }, b: { address: string }) =>
  a.address < b.address ? -1 : 1
