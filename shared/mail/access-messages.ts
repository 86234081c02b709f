/** Tells the owner that somebody came in, or can from now on, so that a stranger is noticed. */
import type { Deed } from './deed.ts'
import { notYou, told } from './deed.ts'
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** A browser signed in. */
export function newSignIn(webUrl: string, deed: Deed & { method: string }): Message {
  return letter('new_sign_in', 'New sign-in to your account', [
    'Somebody signed in to your account:',
    { facts: { With: deed.method, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** An API key was made. */
export function newApiKey(webUrl: string, deed: Deed & { label: string; scope: string }): Message {
  return letter('new_api_key', 'New API key for your account', [
    'An API key was made:',
    { facts: { Label: deed.label, 'What it may do': deed.scope, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** An API key may read secrets of the vault from now on. */
export function secretsReadable(webUrl: string, deed: Deed & { label: string }): Message {
  return letter('secrets_readable', 'An API key may read your secrets', [
    'From now on this API key reads the secrets of your vault, as they are:',
    { facts: { Label: deed.label, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** Agents may read codes of mails from now on. */
export function codesReadable(webUrl: string, deed: Deed): Message {
  return letter('codes_readable', 'Agents may read codes in your mails', [
    'From now on agents read the one-time codes and sign-in links of mails, as they are.',
    { facts: told(deed) },
    ...notYou(webUrl, deed),
  ])
}

/** A passkey was added. */
export function newPasskey(webUrl: string, deed: Deed & { label: string }): Message {
  return letter('new_passkey', 'New passkey for your account', [
    'A passkey that can sign in and approve was added:',
    { facts: { Passkey: deed.label, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** A passkey was removed. */
export function passkeyRemoved(webUrl: string, deed: Deed & { label: string }): Message {
  return letter('passkey_removed', 'A passkey was removed', [
    'This passkey no longer signs in to your account:',
    { facts: { Passkey: deed.label, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** Somebody who came in by a recovery code says that all passkeys are lost. */
export function passkeysLost(webUrl: string, deed: Deed): Message {
  return letter('passkeys_lost', 'Your passkeys were given up for lost', [
    'Somebody who signed in with a recovery code says that all passkeys of your account are lost. In ' +
      'three days a password takes their place. If you still have one, sign in with it before: that ' +
      'takes it back.',
    { facts: told(deed) },
    ...notYou(webUrl, deed),
  ])
}

/** The password was set or changed. */
export function passwordChanged(webUrl: string, deed: Deed): Message {
  return letter('password_changed', 'Your password was changed', [
    'The password of your account was changed.',
    { facts: told(deed) },
    ...notYou(webUrl, deed),
  ])
}

/** Somebody came in by a recovery code. */
export function recoveryUsed(webUrl: string, deed: Deed): Message {
  return letter('recovery_used', 'A recovery code was used', [
    'Somebody signed in to your account with a recovery code. That code is used up. For three days ' +
      'nobody can raise a limit, approve a payment or make a key.',
    { facts: told(deed) },
    ...notYou(webUrl, deed),
  ])
}

/** New recovery codes took the place of the old. */
export function recoveryCodesMade(webUrl: string, deed: Deed): Message {
  return letter('recovery_codes_made', 'New recovery codes were made', [
    'New recovery codes were made. The old ones no longer work.',
    { facts: told(deed) },
    ...notYou(webUrl, deed),
  ])
}

/** Everything that was made since a time was ended, and the password set anew. */
export function madeEnded(webUrl: string, deed: Deed & { since: string }): Message {
  return letter('made_ended', 'What was made in your account was ended', [
    'You said that it was not you: everything that was made in your account since this time was ended, ' +
      'and every other session. If there is a password, it is a new one.',
    { facts: { 'Made since': deed.since, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}
