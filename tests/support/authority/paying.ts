/** Decides from the owner's acts which key may pay what, at which level of consent. */
import type { ActOf, AskedMandate, Book, Level } from './acts.ts'
import { actsOf, day, isUndone } from './acts.ts'
import { holderOf, isFrozen, isInService, isOfLine, isServing, limitOf } from './agents.ts'
import { askerAt, askerOf, mandateAsked, paymentAsked } from './asked.ts'
import { deviceName, imitatedBy, knownDevices, knownRecipients } from './known.ts'

export type Paying = { agent: string; payment: string; level: Level; mandate: string | null }

/** Decides whether a key or app may have a payment signed at this level now. */
export function mayPay(book: Book, { agent, payment: id, level, mandate }: Paying): boolean {
  if (isFrozen(book) || !isServing(book, agent, 'pay') || !isPayable(book, id)) return false
  const { micros, payee } = paymentAsked(book, id)
  if (!isPayer(book, agent, id)) return false
  if (spentBy(book) + micros > limitOf(book, 'cap')) return false
  if (level === 'user_session' || level === 'user_passkey') {
    return approvalOf(book, id)?.level === level
  }
  if (level === 'mandate') return mandate !== null && isCarried(book, agent, id, mandate)
  if (imitatedBy(book, payee) !== undefined) return false
  return level === 'none' ? isAutomatic(book, agent, id) : isWordEnough(book, id)
}

/** Decides whether a payment was requested, has not expired, and was neither paid, declined nor closed. */
export function isPayable(book: Book, id: string): boolean {
  const asked = actsOf(book, 'ask').find(({ payment }) => payment.id === id)
  if (!asked || book.now >= asked.payment.expiresAt) return false
  return !book.acts.some((act) => {
    if (act.do === 'pay' || act.do === 'decline') return act.payment === id
    if (act.do === 'undo') return isClosedBy(book, act, id, asked.at)
    return isClosedWithAsker(book, act, id)
  })
}

/** Decides whether "it was not me" closes a payment: it was requested or approved after the named time. */
function isClosedBy(book: Book, act: ActOf<'undo'>, id: string, askedAt: number): boolean {
  const approvedAt = actsOf(book, 'approve').findLast(({ payment }) => payment === id)?.at ?? 0
  return [askedAt, approvedAt].some((at) => at > act.since && at < act.at)
}

/**
 * Decides whether an act ends the requester of a payment and so the payment, which stays if the owner let
 * any key pay it.
 */
function isClosedWithAsker(book: Book, act: Book['acts'][number], id: string): boolean {
  const then = { now: act.at, acts: book.acts.slice(0, book.acts.indexOf(act)) }
  const isAsked = actsOf(then, 'ask').some(({ payment }) => payment.id === id)
  if (!isAsked || approvalOf(then, id)?.ticks.anyKey) return false
  const { key } = askerOf(then, id)
  if (act.do === 'revoke key') return act.key === key
  return act.do === 'disconnect' && act.app === key
}

/** Returns the owner's latest approval of a payment. */
export function approvalOf(book: Book, id: string): ActOf<'approve'> | undefined {
  return actsOf(book, 'approve').findLast(({ payment }) => payment === id)
}

/** Decides whether an agent may pay: the requester may, and any key if the owner said so. */
function isPayer(book: Book, agent: string, id: string): boolean {
  const approval = approvalOf(book, id)
  if (approval?.ticks.anyKey) return true
  const { key } = approval ? askerAt(book, approval) : askerOf(book, id)
  return isOfLine(book, agent, key)
}

function isAutomatic(book: Book, agent: string, id: string): boolean {
  const { payee, micros } = paymentAsked(book, id)
  const { key, device } = askerOf(book, id)
  return (
    knownRecipients(book).has(payee) &&
    knownDevices(book).has(deviceName(key, device)) &&
    isOfLine(book, agent, key) &&
    spentBy(book, ({ level }) => level === 'none') + micros <= limitOf(book, 'automatic')
  )
}

function isWordEnough(book: Book, id: string): boolean {
  const { payee, micros } = paymentAsked(book, id)
  const onWord = (pay: ActOf<'pay'>) => pay.level === 'agent_asserted'
  const toPayee = (pay: ActOf<'pay'>) => paymentAsked(book, pay.payment).payee === payee
  if (spentBy(book, onWord) + micros > limitOf(book, 'asserted')) return false
  if (knownRecipients(book).has(payee)) return true
  const paid = spentBy(book, (pay) => onWord(pay) && toPayee(pay))
  return paid + micros <= limitOf(book, 'newRecipient')
}

/** Returns the micro-USD paid within 24 hours and not released. */
function spentBy(book: Book, isMeant: (pay: ActOf<'pay'>) => boolean = () => true): number {
  return actsOf(book, 'pay')
    .filter((pay) => book.now - pay.at < day && isMeant(pay) && !isReleased(book, pay))
    .reduce((sum, { payment }) => sum + paymentAsked(book, payment).micros, 0)
}

const isReleased = (book: Book, { payment }: ActOf<'pay'>) =>
  actsOf(book, 'release').some((act) => act.payment === payment)

function isCarried(book: Book, agent: string, id: string, mandate: string): boolean {
  const asked = mandateAsked(book, mandate)
  const approval = mandateApproval(book, mandate)
  const { payee, micros, kind, host } = paymentAsked(book, id)
  const { key, device } = askerOf(book, id)
  if (!approval || !isStanding(book, mandate) || micros > asked.paymentMicros) return false
  const paid = spentUnder(book, mandate)
  if (paid + micros > asked.totalMicros) return false
  if (asked.payTo !== null && asked.payTo !== payee) return false
  if (kind === 'transfer' ? asked.payTo === null : host !== asked.host) return false
  if (asked.payTo === null && imitatedBy(book, payee) !== undefined) return false
  if (!isOfLine(book, agent, key)) return false
  const isAsker = isOfLine(book, agent, asked.key)
  if (!isAsker && !approval.anyKey) return false
  const isFromThere = isAsker && device === asked.device
  return isFromThere || knownDevices(book).has(deviceName(key, device))
}

function spentUnder(book: Book, mandate: string): number {
  return actsOf(book, 'pay')
    .filter((pay) => pay.mandate === mandate && !isReleased(book, pay))
    .reduce((sum, { payment }) => sum + paymentAsked(book, payment).micros, 0)
}

export function mandateApproval(book: Book, id: string): ActOf<'approve mandate'> | undefined {
  return actsOf(book, 'approve mandate').find(({ mandate }) => mandate === id)
}

/** Decides whether an approved mandate is in force: neither ended nor suspended. */
export function isStanding(book: Book, id: string): boolean {
  const approval = mandateApproval(book, id)
  if (!approval || isOverMandate(book, id) || isUndone(book, approval.at)) return false
  const last = book.acts.findLast(
    (act) => (act.do === 'suspend mandate' || act.do === 'resume mandate') && act.mandate === id,
  )
  return last?.do !== 'suspend mandate' && !isResumedBySomebody(book, last)
}

/** True if the mandate was resumed by an act that was undone; it counts as suspended again. */
const isResumedBySomebody = (book: Book, last: Book['acts'][number] | undefined) =>
  last?.do === 'resume mandate' && isUndone(book, last.at)

/** Decides whether a mandate has expired or was declined, revoked or ended with its requester. */
export function isOverMandate(book: Book, id: string): boolean {
  const asked: AskedMandate = mandateAsked(book, id)
  const askedAt = actsOf(book, 'ask mandate').find(({ mandate }) => mandate.id === id)?.at ?? 0
  if (book.now >= asked.expiresAt) return true
  return book.acts.some((act) => {
    if (act.do === 'decline mandate' || act.do === 'revoke mandate') return act.mandate === id
    if (act.do === 'undo') return isPendingAt(book, act, id) && askedAt > act.since
    return endsWithHolder(book, act, asked)
  })
}

function isPendingAt(book: Book, act: ActOf<'undo'>, id: string): boolean {
  const then = { now: act.at, acts: book.acts.slice(0, book.acts.indexOf(act)) }
  const isAsked = actsOf(then, 'ask mandate').some(({ mandate }) => mandate.id === id)
  return isAsked && mandateApproval(then, id) === undefined
}

/**
 * Decides whether an act ends the last key of a mandate's requester, which ends the mandate unless it was
 * approved for any key.
 */
function endsWithHolder(book: Book, act: Book['acts'][number], asked: AskedMandate): boolean {
  if (act.do !== 'revoke key' && act.do !== 'disconnect') return false
  const upTo = book.acts.indexOf(act)
  const then = { now: act.at, acts: book.acts.slice(0, upTo) }
  const isKnown = actsOf(then, 'ask mandate').some(({ mandate }) => mandate.id === asked.id)
  if (!isKnown || mandateApproval(then, asked.id)?.anyKey) return false
  const ended = act.do === 'revoke key' ? act.key : act.app
  if (!isOfLine(then, ended, asked.key)) return false
  const after = { now: act.at, acts: book.acts.slice(0, upTo + 1) }
  const successors = actsOf(after, 'rotate key').map(({ successor }) => successor)
  const others = [...successors, holderOf(then, asked.key)]
  return !others.some(
    (one) => holderOf(after, one) === holderOf(then, asked.key) && isInService(after, one),
  )
}
