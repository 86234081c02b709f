/** Questions about the owner's consent in a session, for payments and mandates. */
import { batchTerms } from '../../../shared/consent/batch.ts'
import { termsDigest } from '../../../shared/consent/terms.ts'
import { newDigest } from '../model/ledger.ts'
import type { Book, Ticks } from './acts.ts'
import { isFrozen } from './agents.ts'
import { paymentAsked } from './asked.ts'
import type { Question } from './asking.ts'
import { imitatedBy } from './known.ts'
import { approvalOf, isOverMandate, isPayable, mandateApproval } from './paying.ts'
import { hasRow, says } from './questions.ts'
import type { Shown } from './rows.ts'
import { mandateDigest, noTicks, paymentDigest } from './rows.ts'
import type { Session, Story } from './stage.ts'
import { bookOf } from './stage.ts'
import { isOpen, mayConsent, mayWiden } from './standing.ts'

export type Signing = Story['cast']['passkeys'][number] | null

const assertionBy = (signing: Signing) =>
  signing && {
    passkey: signing.id,
    counter_seen: String(signing.counter),
    counter_now: String(signing.counter + 1),
    client_data: newDigest(),
    authenticator_data: newDigest(),
    signature: newDigest(),
  }

/** Returns the question whether a session may approve a payment with these ticks. */
export async function approve(
  story: Story,
  shown: Shown,
  session: Session,
  { payment, ticks, signing }: { payment: string; ticks: Ticks; signing: Signing },
): Promise<Question> {
  const found = shown.payments.find(({ row }) => row.id === payment)
  const digest = found ? await paymentDigest(found, ticks) : newDigest()
  const book = bookOf(story)
  return {
    kind: `approve ${signing ? 'by passkey' : 'in a session'}`,
    words: `${payment} in ${session.id} with ${JSON.stringify(ticks)}`,
    name: 'owner_decide_payment',
    args: {
      credential: session.credential,
      payment,
      decision: 'approved',
      digest,
      assertion: assertionBy(signing),
      any_key: ticks.anyKey,
      remember_payee: ticks.payee,
      remember_device: ticks.device,
    },
    isDone: says('outcome', 'approved'),
    isGiven: () =>
      mayConsent(book, session.id, signing?.id ?? null) && isApprovable(book, payment, ticks),
  }
}

/**
 * Decides whether a payment waits for approval with these options. A second approval with the same options
 * changes nothing.
 */
function isApprovable(book: Book, payment: string, ticks: Ticks): boolean {
  if (isFrozen(book) || !isPayable(book, payment)) return false
  const approved = approvalOf(book, payment)
  if (approved) return JSON.stringify(approved.ticks) === JSON.stringify(ticks)
  return !ticks.payee || imitatedBy(book, paymentAsked(book, payment).payee) === undefined
}

/** Returns the question whether a session may approve several payments in one act, without ticks. */
export async function approveSeveral(
  story: Story,
  shown: Shown,
  session: Session,
  { payments, signing }: { payments: readonly string[]; signing: Signing },
): Promise<Question> {
  const found = shown.payments.filter(({ row }) => payments.includes(row.id))
  const leaves = await Promise.all(found.map((one) => paymentDigest(one, noTicks)))
  const isAny = leaves.length > 0
  const digest = isAny ? await termsDigest(await batchTerms(story.account, leaves)) : newDigest()
  const book = bookOf(story)
  return {
    kind: 'approve several',
    words: `${payments.join(' ')} in ${session.id}`,
    name: 'owner_approve_batch',
    args: {
      credential: session.credential,
      payments: found.map(({ row }) => row.id),
      askers: found.map(({ asker }) => asker),
      digest,
      assertion: assertionBy(signing),
    },
    isDone: says('outcome', 'approved'),
    isGiven: () =>
      mayConsent(book, session.id, signing?.id ?? null) &&
      payments.every((one) => !approvalOf(book, one) && isApprovable(book, one, noTicks)),
  }
}

export function decline(story: Story, session: Session, payment: string): Question {
  const book = bookOf(story)
  return {
    kind: 'decline',
    words: `${payment} in ${session.id}`,
    name: 'owner_decide_payment',
    args: { credential: session.credential, payment, decision: 'declined', digest: '' },
    isDone: says('outcome', 'declined'),
    isGiven: () => isOpen(book, session.id),
  }
}

type Word = 'approved' | 'declined'

export async function decideMandate(
  story: Story,
  shown: Shown,
  session: Session,
  given: { mandate: string; decision: Word; anyKey: boolean; signing: Signing },
): Promise<Question> {
  const { mandate, decision, anyKey, signing } = given
  const approves = decision === 'approved'
  const book = bookOf(story)
  return {
    kind: `${approves ? 'approve' : 'decline'} a mandate`,
    words: `${mandate} in ${session.id} ${anyKey ? 'for any key' : ''}`,
    name: 'owner_decide_mandate',
    args: {
      credential: session.credential,
      mandate,
      decision,
      digest: await mandateDigest(shown, mandate, approves && anyKey),
      assertion: approves ? assertionBy(signing) : null,
      any_key: anyKey,
    },
    isDone: says('outcome', decision),
    isGiven: () => {
      if (!approves) return isOpen(book, session.id)
      // A second approval of an approved mandate changes nothing.
      const isConsent = mayConsent(book, session.id, signing?.id ?? null)
      return isConsent && !isFrozen(book) && !isOverMandate(book, mandate)
    },
  }
}

export function suspend(
  story: Story,
  session: Session,
  { mandate, suspended }: { mandate: string; suspended: boolean },
): Question {
  const book = bookOf(story)
  return {
    kind: suspended ? 'suspend a mandate' : 'resume a mandate',
    words: `${mandate} in ${session.id}`,
    name: 'owner_suspend_mandate',
    args: { credential: session.credential, mandate, suspended },
    isDone: says('outcome', suspended ? 'suspended' : 'active'),
    isGiven: () => {
      if (suspended) return isOpen(book, session.id)
      const isApproved = mandateApproval(book, mandate) !== undefined
      return mayWiden(book, session.id) && !isFrozen(book) && isApproved
    },
  }
}

export function revokeMandate(story: Story, session: Session, mandate: string): Question {
  const book = bookOf(story)
  return {
    kind: 'revoke a mandate',
    words: `${mandate} in ${session.id}`,
    name: 'owner_revoke_mandate',
    args: { credential: session.credential, mandate },
    isDone: hasRow,
    isGiven: () => isOpen(book, session.id),
  }
}
