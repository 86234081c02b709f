/** Tells the owner of an account about apps that have access to it. */
import type { Deed } from './deed.ts'
import { notYou, told } from './deed.ts'
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** An app was given access. Its name, which is its own word, stands in the web app alone. */
export function appConnected(
  webUrl: string,
  deed: Deed & { host: string; scope: string },
): Message {
  return letter('app_connected', 'An app was given access to your account', [
    'An app was given access to your account:',
    { facts: { 'It is at': deed.host, 'What it may do': deed.scope, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** A token of an app was used by two, so its access was ended. */
export function appTokenReused(webUrl: string, seen: { host: string }): Message {
  return letter('app_token_reused', 'The access of an app was ended', [
    'What only this app should hold was used a second time. Somebody may have copied it, so the ' +
      'access of the app was ended. If you still trust the app, connect it again.',
    { facts: { 'It is at': seen.host } },
    { link: `${webUrl}/activity`, label: 'See what was done' },
  ])
}
