/** Freezes and unfreezes accounts, and cancels on the chain what they had signed. */
import { hold } from './custody-work.ts'
import type { Dice } from './dice.ts'
import { hasCancelRoom } from './gas.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickKey, pickPayment, rowOf } from './house.ts'
import { rowsOf } from './ledger.ts'
import { isGivenUp, newCall } from './relay.ts'
import type { Account, Call, Key, Payment, Twin } from './state.ts'
import { admit, isUnexpired, liveUntil, refusable, stop } from './state.ts'
import { paymentWire } from './wire.ts'

async function freezeOne(house: House, dice: Dice): Promise<void> {
  const { twin, ledger } = house
  const key = pickKey(house, dice)
  const credential = dice.isLucky(70) ? key.credential : key.account.session
  const listedMax = dice.oneOf([1000, 1000, 2])
  const given = {
    freeze: key.account.freezes + dice.oneOf([0, 0, 1]),
    place: dice.oneOf([0, 0, 2]),
  }
  const question = { credential, listed_max: listedMax, after_place: cursorOf(given) }
  const answer = await ask(house, 'freeze_account', question)
  // This rate limit counts in real time.
  await ledger.query("delete from private.rate_buckets where bucket like 'freeze:%'")
  const isSession = credential === key.account.session
  const found = refusable(() => (isSession ? key : admitBrake(twin, credential)))
  if ('refused' in found) return agree('freeze_account', answer, found)
  freeze(twin, found.account)
  const { freezes } = found.account
  const after = given.freeze === freezes ? given.place : 0
  const { frozen_since, open_payments, next_place } = rowOf(answer) ?? {}
  const open = found.account.openAtFreeze.slice(after)
  agree(
    'freeze_account',
    { since: Number(frozen_since) / 1000, listed: rowsOf(open_payments), next_place },
    {
      since: found.account.frozenAt,
      listed: open.slice(0, listedMax).map((payment) => openWire(twin, payment)),
      next_place:
        open.length > listedMax ? cursorOf({ freeze: freezes, place: after + listedMax }) : null,
    },
  )
}

/** Returns a place in the list of a freeze: its number, then nine digits. */
function cursorOf({ freeze, place }: { freeze: number; place: number }): number {
  return freeze * 1_000_000_000 + place
}

/** Freezes the account, once: releases what was not signed and what no transaction ever carried. */
function freeze(twin: Twin, account: Account): void {
  if (account.isFrozen) return
  const { freezes, version } = account
  Object.assign(account, {
    isFrozen: true,
    frozenAt: twin.now,
    freezes: freezes + 1,
    version: version + 1,
  })
  for (const payment of twin.payments) {
    if (payment.account === account && payment.state === 'authorized') {
      stop(payment, 'the account was frozen before anything was signed')
    }
  }
  const isWithdrawn = ({ kind, slot, payment }: Call) =>
    kind === 'transfer' && slot === null && payment.account === account
  const withdrawn = twin.calls.filter(isWithdrawn)
  twin.calls = twin.calls.filter((call) => !withdrawn.includes(call))
  for (const { payment, tries } of withdrawn) {
    if (tries > 0 || payment.state !== 'signed') continue
    stop(payment, 'the account was frozen before it was sent')
  }
  account.openAtFreeze = openSignatures(twin, account)
  account.feed.push({ type: 'account_frozen', payment: null })
}

const cancellationOf = (twin: Twin, payment: Payment) =>
  twin.calls.find((call) => call.payment === payment && call.kind === 'cancel')

const isOpen = (twin: Twin, payment: Payment) =>
  payment.state === 'signed' ||
  payment.state === 'unknown' ||
  (payment.state === 'settled' &&
    (payment.finality !== 'finalized' || liveUntil(payment) > twin.now))

/** Returns the payments that may still settle: unsettled ones first, then by amount. */
function openSignatures(twin: Twin, account: Account): Payment[] {
  const open = twin.payments
    .filter((one) => one.account === account && isOpen(twin, one))
    .sort(byAmount)
  const rank = (one: Payment) => (one.state === 'settled' ? 1 : 0)
  return open.toSorted((a, b) => rank(a) - rank(b))
}

function byAmount(a: Payment, b: Payment): number {
  if (a.usd !== b.usd) return a.usd > b.usd ? -1 : 1
  return a.id < b.id ? -1 : 1
}

const isOver = (twin: Twin, payment: Payment) => liveUntil(payment) <= twin.now

const untold = new Set(['delivery', 'terms', 'signature', 'allowance_signature'])

function openWire(twin: Twin, payment: Payment) {
  const row = Object.entries(paymentWire(twin, payment)).filter(([name]) => !untold.has(name))
  const isCarried = twin.slots
    .filter(({ state }) => state !== 'final')
    .flatMap(({ attempts }) => attempts)
    .some(({ carries, isOut }) => isOut === true && carries.includes(payment))
  const obstacle = isOver(twin, payment) ? 'expired' : null
  return {
    ...Object.fromEntries(row),
    obstacle,
    is_cancelled: cancellationOf(twin, payment) !== undefined,
    is_handed: false,
    is_carried: isCarried,
    is_reopened: payment.isReopened,
  }
}

async function thaw(house: House, dice: Dice): Promise<void> {
  const account = dice.anyOf(house.twin.accounts.filter(({ isFrozen }) => isFrozen))
  if (!account) return
  const answer = await ask(house, 'owner_unfreeze', {
    credential: account.session,
    freeze: account.freezes,
  })
  agree('owner_unfreeze', answer, [{ unfrozen: true }])
  Object.assign(account, { isFrozen: false, version: account.version + 1 })
  account.feed.push({ type: 'account_unfrozen', payment: null })
}

function mayCancel(twin: Twin, payment: Payment): boolean {
  const { state, signature } = payment
  if (signature === null || isOver(twin, payment) || !hasCancelRoom(twin, payment)) return false
  if (state === 'released') return true
  return isGivenUp(payment) && (state === 'signed' || state === 'unknown')
}

/** Has custody sign the cancellation of a payment, unless that is done; it may be stored later. */
async function cancel(house: House, dice: Dice, payment: Payment): Promise<void> {
  const { twin } = house
  const answer = await ask(house, 'custody_cancel', { payment: payment.id })
  const kept = cancellationOf(twin, payment)?.signature ?? null
  const row = { payment_row: paymentWire(twin, payment), wallet_envelope: {}, kept }
  const isLive = mayCancel(twin, payment)
  agree('custody_cancel', answer, isLive ? [row] : [])
  if (!isLive || kept !== null) return
  await hold(house, dice, 'record cancel', () => recordCancel(house, payment))
}

async function recordCancel(house: House, payment: Payment): Promise<void> {
  const { twin } = house
  const signature = `cancellation of ${payment.id}`
  const question = { payment: payment.id, signature }
  const answer = await ask(house, 'custody_record_cancel', question)
  if (mayCancel(twin, payment) && !cancellationOf(twin, payment)) {
    twin.calls.push(newCall(twin, 'cancel', payment, signature))
  }
  const isQueued = cancellationOf(twin, payment) !== undefined
  agree('custody_record_cancel', answer, [{ custody_record_cancel: isQueued }])
}

async function cancelAny(house: House, dice: Dice): Promise<void> {
  const { payments } = house.twin
  const stopped = payments.filter((one) => one.state === 'released' || isGivenUp(one))
  const likely = dice.isLucky(70) ? dice.anyOf(stopped.slice(-8)) : undefined
  const payment = likely ?? pickPayment(house, dice)
  if (payment) await cancel(house, dice, payment)
}

/** Queues the missing cancellations, as housekeeping does. */
export async function cancelFrozen(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const batch = dice.oneOf([1000, 1000, 2])
  const answer = await ask(house, 'housekeeping_uncancelled', { batch })
  const waiting = twin.payments
    .filter(({ state }) => state === 'signed' || state === 'unknown')
    .filter((one) => mayCancel(twin, one) && !cancellationOf(twin, one))
    .sort(byAmount)
  const turnOf = (one: Payment) =>
    waiting.filter(({ account }) => account === one.account).indexOf(one)
  const uncancelled = waiting
    .toSorted((a, b) => turnOf(a) - turnOf(b) || byAmount(a, b))
    .slice(0, batch)
  agree(
    'housekeeping_uncancelled',
    answer,
    uncancelled.map(({ id }) => ({ payment: id })),
  )
  for (const payment of uncancelled) await cancel(house, dice, payment)
}

export const freezingOperations: readonly Operation[] = [
  { name: 'freeze', weight: 1, run: freezeOne },
  { name: 'thaw', weight: 2, run: thaw },
  { name: 'cancel', weight: 2, run: cancelAny },
  { name: 'cancel frozen', weight: 2, run: cancelFrozen },
]

/** Admits a key to a freeze, which a key may request within three days after its revocation. */
function admitBrake(twin: Twin, credential: string): Key {
  const key = twin.keys.find((one) => one.credential === credential)
  const wasRevoked = key !== undefined && (key.revokedAt ?? -Infinity) > twin.now - 3 * 86_400
  return wasRevoked && isUnexpired(twin, key) ? key : admit(twin, credential, 'read')
}
