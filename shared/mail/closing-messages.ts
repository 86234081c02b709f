/** Notices to the owner that the account was closed, or opened again. */
import { eventFacts, notYou, type SecurityEvent, utc } from './deed.ts'
import { letter, type Message } from './letter.ts'

/** Writes the notice that the account was closed. */
export function accountClosed(
  webUrl: string,
  { until, ...event }: SecurityEvent & { until: Date },
): Message {
  return letter('account_closed', 'Your account was closed', [
    'All keys, apps, mandates and requests of your account ended, and it no longer receives mail. Until it is ' +
      'erased you can sign in and reopen it.',
    { facts: { 'Erased from': utc(until), ...eventFacts(event) } },
    { link: `${webUrl}/closed`, label: 'See or reopen the account' },
    'If it was not you, sign in, reopen the account, and secure it.',
  ])
}

/** Writes the notice that the account was opened again. */
export function accountReopened(webUrl: string, event: SecurityEvent): Message {
  return letter('account_reopened', 'Your account was reopened', [
    'Your account is open again. It stays frozen until you unfreeze it, and what ended stays ended.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}
