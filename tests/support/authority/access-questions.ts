/** Questions about an owner session: sessions, ways in, and items that an intruder may have made. */
import { newDigest } from '../model/ledger.ts'
import type { Question } from './asking.ts'
import { inSession } from './in-session.ts'
import { hasRow, says } from './questions.ts'
import type { Session, Story } from './stage.ts'
import { bookOf } from './stage.ts'
import {
  isOpen,
  mayEndBrakes,
  mayLosePasskeys,
  mayMakeCodes,
  maySetPassword,
  mayWiden,
} from './standing.ts'
import { passwordOf, undoingSince } from './undoing.ts'
import { needsPasskey, passkeysOf } from './ways-in.ts'

export const touch = (story: Story, session: Session) =>
  inSession(story, session, {
    kind: 'touch',
    name: 'owner_touch_session',
    isDone: hasRow,
    may: isOpen,
  })

export const proveByPassword = (story: Story, session: Session, password: string) =>
  inSession(story, session, {
    kind: 'prove by password',
    name: 'owner_prove',
    args: { password_hash: password, session_digest: newDigest() },
    isDone: hasRow,
    may: (book, id) =>
      isOpen(book, id) && !needsPasskey(book) && passwordOf(book).password === password,
  })

export const proveByPasskey = (
  story: Story,
  session: Session,
  { id: passkey, counter }: Story['cast']['passkeys'][number],
) =>
  inSession(story, session, {
    kind: 'prove by passkey',
    name: 'owner_prove_with_passkey',
    args: {
      passkey,
      counter_seen: String(counter),
      counter_now: String(counter + 1),
      session_digest: newDigest(),
    },
    isDone: hasRow,
    may: (book, id) => isOpen(book, id) && passkeysOf(book).has(passkey),
  })

export const endSession = (story: Story, session: Session, ended: Session) =>
  inSession(story, session, {
    kind: 'end a session',
    name: 'owner_end_session',
    args: { session: ended.id },
    isDone: says('owner_end_session', true),
    may: ended.id === session.id ? isOpen : mayEndBrakes,
  })

export const endOthers = (story: Story, session: Session) =>
  inSession(story, session, {
    kind: 'end other sessions',
    name: 'owner_end_other_sessions',
    isDone: says('owner_end_other_sessions', true),
    may: mayEndBrakes,
  })

export const setPassword = (story: Story, session: Session, password = newDigest()) =>
  inSession(story, session, {
    kind: 'set a password',
    name: 'owner_set_password',
    args: { password_hash: password, session_digest: newDigest() },
    isDone: hasRow,
    may: maySetPassword,
  })

export const makeCodes = (story: Story, session: Session, digests = [newDigest(), newDigest()]) =>
  inSession(story, session, {
    kind: 'make recovery codes',
    name: 'owner_set_recovery_codes',
    args: { digests },
    isDone: says('owner_set_recovery_codes', true),
    may: mayMakeCodes,
  })

export const addPasskey = (story: Story, session: Session, passkey = newDigest()) =>
  inSession(story, session, {
    kind: 'add a passkey',
    name: 'owner_add_passkey',
    args: { passkey, public_key: 'key', counter: '0', transports: [], label: 'One' },
    isDone: hasRow,
    may: mayWiden,
  })

export const removePasskey = (story: Story, session: Session, passkey: string) =>
  inSession(story, session, {
    kind: 'remove a passkey',
    name: 'owner_remove_passkey',
    args: { passkey },
    isDone: says('outcome', 'removed'),
    may: mayWiden,
  })

export const losePasskeys = (story: Story, session: Session) =>
  inSession(story, session, {
    kind: 'lose passkeys',
    name: 'owner_lose_passkeys',
    isDone: says('owner_lose_passkeys', true),
    may: mayLosePasskeys,
  })

/**
 * Returns the question whether the session may end everything created after a time, and nothing older than
 * it is allowed to.
 */
export function listMade(story: Story, session: Session, since: number): Question {
  const from = undoingSince(bookOf(story), session.id, since)
  return inSession(story, session, {
    kind: 'see what was made',
    name: 'owner_list_made',
    args: { since: new Date(since * 1000).toISOString() },
    isDone: hasRow,
    may: () => from !== undefined,
  })
}
