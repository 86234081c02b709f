/** Questions about an owner session: keys, apps, known recipients and devices, and limits. */
import { newDigest } from '../model/ledger.ts'
import type { LimitName, Permission, Scope } from './acts.ts'
import { freezesOf, isFrozen, keyDays, limitOf } from './agents.ts'
import { inSession } from './in-session.ts'
import { imitatedBy } from './known.ts'
import { hasRow, holds, says } from './questions.ts'
import type { Agent, Session, Story } from './stage.ts'
import { bookOf, opening } from './stage.ts'
import { isOpen, mayEndBrakes, mayWiden } from './standing.ts'

export const makeKey = (story: Story, session: Session, scope: Scope, digest = newDigest()) =>
  inSession(story, session, {
    kind: 'make a key',
    name: 'owner_create_key',
    args: { digest, label: 'One', shown: 'shown', scope, expires_in_days: keyDays },
    isDone: holds('key'),
    may: mayWiden,
  })

export const rotateKey = (
  story: Story,
  session: Session,
  { id: key }: Agent,
  overlapHours = 1,
  digest = newDigest(),
) =>
  inSession(story, session, {
    kind: 'rotate a key',
    name: 'owner_rotate_key',
    args: {
      key,
      digest,
      shown: 'shown',
      expires_in_days: keyDays,
      overlap_hours: overlapHours,
    },
    isDone: holds('placed'),
    may: mayWiden,
  })

export const revokeKey = (story: Story, session: Session, { id: key }: Agent) =>
  inSession(story, session, {
    kind: 'revoke a key',
    name: 'owner_revoke_key',
    args: { key },
    isDone: hasRow,
    may: mayEndBrakes,
  })

export const appScopes = ['read', 'pay', 'vault'] as const
export const appDays = 30
/** OAuth request that the app of these histories sends. */
export const asking = {
  client_id: 'https://app.example/client',
  client_name: 'An app',
  client_host: 'app.example',
  redirect_uri: 'https://app.example/back',
  redirect_host: 'app.example',
  challenge: 'c',
  dpop_key: null,
  is_bound: false,
  refreshes: true,
}

export const letIn = (story: Story, session: Session, scope: Scope, code = newDigest()) =>
  inSession(story, session, {
    kind: 'let an app in',
    name: 'owner_grant_access',
    args: {
      code_digest: code,
      asked: asking,
      asked_scopes: [scope],
      scopes: [scope],
      days: appDays,
    },
    isDone: says('owner_grant_access', true),
    may: (book, id) => mayWiden(book, id) && !isFrozen(book),
  })

export const disconnect = (story: Story, session: Session, { id: app }: Agent) =>
  inSession(story, session, {
    kind: 'disconnect an app',
    name: 'owner_disconnect_apps',
    args: { app },
    isDone: says('disconnected', 1),
    may: mayEndBrakes,
  })

export const addRecipient = (story: Story, session: Session, address: string) =>
  inSession(story, session, {
    kind: 'add a recipient',
    name: 'owner_add_recipient',
    args: { address },
    isDone: says('outcome', 'added'),
    may: (book, id) => mayWiden(book, id) && imitatedBy(book, address) === undefined,
  })

export const removeRecipient = (story: Story, session: Session, address: string) =>
  inSession(story, session, {
    kind: 'remove a recipient',
    name: 'owner_forget_recipient',
    args: { address },
    isDone: says('forgotten', true),
    may: isOpen,
  })

export const removeDevice = (
  story: Story,
  session: Session,
  { id: key }: Agent,
  fingerprint: string,
) =>
  inSession(story, session, {
    kind: 'remove a device',
    name: 'owner_forget_device',
    args: { key, fingerprint },
    isDone: says('forgotten', true),
    may: isOpen,
  })

export const forgetAllBy = (story: Story, session: Session, { id: key }: Agent) =>
  inSession(story, session, {
    kind: 'forget all by a key',
    name: 'owner_forget_known_by',
    args: { key },
    isDone: hasRow,
    may: isOpen,
  })

export const unfreeze = (story: Story, session: Session) =>
  inSession(story, session, {
    kind: 'unfreeze',
    name: 'owner_unfreeze',
    args: { freeze: freezesOf(bookOf(story)).count },
    isDone: says('unfrozen', true),
    may: mayWiden,
  })

const limitNames: Record<LimitName, string> = {
  automatic: 'automatic_daily',
  asserted: 'asserted_daily',
  newRecipient: 'asserted_new_recipient',
  cap: 'daily_spending_cap',
}

export const setLimit = (
  story: Story,
  session: Session,
  name: LimitName = 'automatic',
  micros = 2 * opening.cap,
) =>
  inSession(story, session, {
    kind: 'set a limit',
    name: 'owner_set_limit',
    args: { limit_name: limitNames[name], usd_micros: String(micros) },
    isDone: ([row]) => row?.['outcome'] === 'raised' || row?.['outcome'] === 'lowered',
    may: (book, id) => (micros > limitOf(book, name) ? mayWiden(book, id) : isOpen(book, id)),
  })

export const permit = (
  story: Story,
  session: Session,
  what: Permission,
  { id: key }: Agent,
  permits = true,
) =>
  inSession(story, session, {
    kind: `permit: ${what}`,
    ...(what === 'reads_secrets'
      ? { name: 'owner_set_reads_secrets', args: { key, reads: permits } }
      : { name: 'owner_set_shows_codes', args: { shows: permits } }),
    isDone: hasRow,
    may: permits ? mayWiden : isOpen,
  })
