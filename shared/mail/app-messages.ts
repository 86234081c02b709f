/** Notices to the owner about apps that have access to the account. */
import type { SecurityEvent } from './deed.ts'
import { eventFacts, notYou } from './deed.ts'
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** Writes the notice that an app was given access. Only the web app shows the name that the app chose. */
export function appConnected(
  webUrl: string,
  event: SecurityEvent & { host: string; scope: string },
): Message {
  return letter('app_connected', 'An app was given access to your account', [
    'An app was given access to your account:',
    { facts: { 'It is at': event.host, 'What it may do': event.scope, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that a connected app may do more than before. */
export function appRaised(
  webUrl: string,
  event: SecurityEvent & { host: string; scope: string; caps: Readonly<Record<string, string>> },
): Message {
  return letter('app_raised', 'An app may do more in your account', [
    'A connected app may do more in your account than before:',
    {
      facts: {
        'It is at': event.host,
        'What it may do': event.scope,
        ...event.caps,
        ...eventFacts(event),
      },
    },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that an app's token was used twice, so its access was ended. */
export function appTokenReused(webUrl: string, seen: { host: string }): Message {
  return letter('app_token_reused', 'The access of an app was ended', [
    'What only this app should hold was used a second time. Somebody may have copied it, so the ' +
      'access of the app was ended. If you still trust the app, connect it again.',
    { facts: { 'It is at': seen.host } },
    { link: `${webUrl}/activity`, label: 'See what was done' },
  ])
}
