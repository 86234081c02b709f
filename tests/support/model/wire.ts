/** The twin's state in the form in which the ledger returns it. */

import { gasWire, openWei } from './gas.ts'
import {
  assertedTo,
  firstLeaves,
  isDeviceKnown,
  isKnown,
  lookalikeOf,
  mayPay,
  movedBy,
  reservedOf,
  resetsAt,
  usedOf,
} from './limits.ts'
import { approvalWire, historyOf, mandateWire, refusedOf, timeText } from './mandate-wire.ts'
import { mandatesFor, payerUnder } from './mandates.ts'
import type { Account, Key, Lane, Level, Payment, Twin } from './state.ts'
import { isPaidAlready } from './wishes.ts'

/** Follows private.payment_json. */
export function paymentWire(twin: Twin, payment: Payment) {
  const { account, place } = payment
  return {
    id: payment.id,
    account: account.id,
    asked_by: payment.key.id,
    paid_by: (payment.paidBy ?? payment.key).id,
    for_any_key: payment.ticks.anyKey,
    remembers_payee: payment.ticks.payee,
    asked_again: false,
    remembered_device: payment.ticks.device ? payment.device : null,
    kind: payment.kind,
    state: payment.state,
    chain: twin.chain,
    token: payment.token,
    wallet: account.wallet,
    payee: payment.payee,
    payee_alias: payment.alias,
    amount_atomic: payment.atomic.toString(),
    amount_usd_micros: payment.usd.toString(),
    terms: payment.origin === null ? {} : { origin: payment.origin },
    memo: null,
    decline_reason: null,
    resource: payment.resource,
    heard: payment.heard,
    mandate: payment.mandate?.id ?? null,
    created_at: timeText(payment.createdAt),
    expires_at: timeText(payment.expiresAt),
    asked_level: payment.askedLevel,
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
    settled_at: timeText(payment.state === 'settled' ? payment.settledAt : null),
    delivery: payment.delivery,
    failure: payment.failure,
  }
}

/** Follows private.limits_json. */
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

/** Follows private.caps_json. */
export function capsWire(twin: Twin, key: Key) {
  const { payment, day } = key.caps
  const moved = movedBy(twin, key)
  const daily = {
    limit: day?.toString(),
    spent: moved.reduce((sum, { usd }) => sum + usd, 0n).toString(),
    resets_at: timeText(firstLeaves(twin, moved)),
  }
  return { payment: payment?.toString() ?? null, daily: day === null ? null : daily }
}

/** Follows private.payment_facts; the order of lanes has no meaning. */
export function factsWire(twin: Twin, key: Key, payment: Payment) {
  const asserted = assertedTo(twin, payment)
  const inService = twin.lanes.filter((lane) => lane.kind === 'relayer' && lane.pausedFor === null)
  return {
    version: payment.account.version,
    limits: limitsWire(twin, payment.account),
    caps: capsWire(twin, key),
    may_pay: mayPay(twin, key, payment),
    asserted_new_recipient: {
      limit: payment.account.limits.newRecipient.toString(),
      spent: asserted.reduce((sum, { usd }) => sum + usd, 0n).toString(),
      resets_at: timeText(firstLeaves(twin, asserted)),
    },
    recipient_known: isKnown(payment),
    similar_recipient: lookalikeOf(payment),
    is_paid_already: isPaidAlready(twin, payment),
    device_known: isDeviceKnown(payment) && key === payment.key,
    approval: approvalWire(payment),
    has_passkey: payment.account.passkeys.length > 0,
    mandates: mandatesFor(twin, payment).map((mandate) => ({
      ...mandateWire(twin, mandate),
      payer: payerUnder(key, mandate, payment),
    })),
    history: historyOf(twin, payment),
    refused_ways: refusedOf(twin, payment),
    reserved_atomic: reservedOf(twin, payment).toString(),
    is_refilled: false,
    gas: gasWire(twin, payment.account),
    now: twin.now,
    lanes:
      payment.kind === 'transfer'
        ? inService.map((lane) => laneWire(twin, lane)).sort(byAddress)
        : [],
  }
}

const laneWire = (twin: Twin, lane: Lane) => ({
  address: lane.address,
  next_nonce: lane.next,
  open_wei: openWei(twin, lane),
  left_wei: null,
})

export const byAddress = (a: { address: string }, b: { address: string }) =>
  a.address < b.address ? -1 : 1
