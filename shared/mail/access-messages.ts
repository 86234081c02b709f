/** Notices to the owner that somebody gained access to the account, so that an intruder is noticed. */
import { endTheHold, eventFacts, notYou, type SecurityEvent, utc } from './deed.ts'
import { letter, type Message } from './letter.ts'

/** Writes the notice that a browser signed in. */
export function newSignIn(webUrl: string, event: SecurityEvent & { method: string }): Message {
  return letter('new_sign_in', 'New sign-in to your account', [
    'Somebody signed in to your account:',
    { facts: { With: event.method, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that an API key was created. */
export function newApiKey(
  webUrl: string,
  event: SecurityEvent & { label: string; scope: string },
): Message {
  return letter('new_api_key', 'New API key for your account', [
    'An API key was created:',
    { facts: { Label: event.label, 'What it may do': event.scope, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that an API key can read the secrets of the vault from now on. */
export function secretsReadable(webUrl: string, event: SecurityEvent & { label: string }): Message {
  return letter('secrets_readable', 'An API key can now read your secrets', [
    'This API key can now read the secrets of your vault, unmasked:',
    { facts: { Label: event.label, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that agents can read the codes in mails from now on. */
export function codesReadable(webUrl: string, event: SecurityEvent): Message {
  return letter('codes_readable', 'Agents can now read codes in your emails', [
    'Agents can now read the one-time codes and sign-in links in your emails.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that a passkey was added. */
export function newPasskey(webUrl: string, event: SecurityEvent & { label: string }): Message {
  return letter('new_passkey', 'New passkey for your account', [
    'A passkey that can sign in and approve was added:',
    { facts: { Passkey: event.label, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that a browser receives notifications from now on, even when nobody is signed in there. */
export function newPushDevice(webUrl: string, event: SecurityEvent): Message {
  return letter('new_push_device', 'A browser now receives your notifications', [
    'This browser now shows the notifications of your account, signed in or not:',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the push by which the owner sees that notifications arrive. */
export function notificationTest(webUrl: string): Message {
  return letter('notification_test', 'Notifications arrive here', [
    'This is the test that you asked for.',
    { link: `${webUrl}/notifications`, label: 'Open the settings' },
  ])
}

/** Writes the notice that a passkey was removed. */
export function passkeyRemoved(webUrl: string, event: SecurityEvent & { label: string }): Message {
  return letter('passkey_removed', 'A passkey was removed', [
    'This passkey no longer signs in to your account:',
    { facts: { Passkey: event.label, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that the only passkey is removed with the end of a hold. */
export function passkeyRemovalBegun(
  webUrl: string,
  event: SecurityEvent & { label: string },
): Message {
  return letter('passkey_removal_begun', 'Your only passkey will be removed', [
    'The only passkey of your account will be removed in 48 hours. Until then the account is on hold; with ' +
      'the passkey you can end the hold and keep it.',
    { facts: { Passkey: event.label, ...eventFacts(event) } },
    ...endTheHold(webUrl),
  ])
}

/** Writes the notice that somebody who signed in with a recovery code set a new password. */
export function recoveryBegun(webUrl: string, event: SecurityEvent): Message {
  return letter('recovery_begun', 'A new password was set with a recovery code', [
    'Somebody who signed in with a recovery code set a new password. It takes effect in 48 hours; until then the ' +
      'account is on hold, and you sign in as before.',
    { facts: eventFacts(event) },
    ...endTheHold(webUrl),
  ])
}

/** Writes the notice that the hold of an account was ended. */
export function holdEnded(webUrl: string, event: SecurityEvent): Message {
  return letter('hold_ended', 'The hold on your account was ended', [
    'Somebody who confirmed your identity ended the hold on your account. The changes that were pending ' +
      'were dropped.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that the password was set or changed. */
export function passwordChanged(webUrl: string, event: SecurityEvent): Message {
  return letter('password_changed', 'Your password was changed', [
    'The password of your account was changed.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that somebody signed in with a recovery code. */
export function recoveryUsed(webUrl: string, event: SecurityEvent): Message {
  return letter('recovery_used', 'A recovery code was used', [
    'Somebody signed in to your account with a recovery code. That code is used up. For 48 hours the account is ' +
      'on hold: nobody can raise a limit, approve a payment, see a secret or make a key.',
    { facts: eventFacts(event) },
    ...endTheHold(webUrl),
  ])
}

/** Writes the notice that new recovery codes replaced the old ones. */
export function recoveryCodesMade(webUrl: string, event: SecurityEvent): Message {
  return letter('recovery_codes_made', 'New recovery codes were made', [
    'New recovery codes were made. The old ones no longer work.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that the owner secured the account. */
export function accountSecured(webUrl: string, event: SecurityEvent): Message {
  return letter('account_secured', 'Your account was secured', [
    'All keys, apps, mandates and requests of your account ended, and every session but the one in which you ' +
      'did this. The account is frozen until you unfreeze it. If there is a password, it is a new one.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that an app was given access. Only the web app shows the name that the app chose. */
export function appConnected(
  webUrl: string,
  event: SecurityEvent & { host: string; scope: string },
): Message {
  return letter('app_connected', 'An app was given access to your account', [
    'An app was given access to your account:',
    { facts: { Host: event.host, 'What it may do': event.scope, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that a connected app may do more than before. */
export function appRaised(
  webUrl: string,
  event: SecurityEvent & { host: string; scope: string; caps: Readonly<Record<string, string>> },
): Message {
  return letter('app_raised', 'An app can now do more in your account', [
    'A connected app can now do more in your account:',
    {
      facts: {
        Host: event.host,
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
    'A token that only this app should hold was used a second time. Somebody may have copied it, so the ' +
      'access of the app was ended. If you still trust the app, connect it again.',
    { facts: { Host: seen.host } },
    { link: `${webUrl}/activity`, label: 'See what was done' },
  ])
}

/** Writes the notice that a secret was used at a site, or read for one, for the first time. */
export function siteFirstUsed(webUrl: string, { site, at }: { site: string; at: Date }): Message {
  return letter('site_first_used', 'A login from your vault was used at a new site', [
    'A secret from your vault was used at this site, or read by your agent, for the first time:',
    { facts: { Site: site, When: utc(at) } },
    'You are told once for each site; the activity lists every use.',
    { link: `${webUrl}/activity`, label: 'See the activity' },
    'If you did not intend this, freeze the account. Then no secret can be used.',
  ])
}

/** Writes the notice that the owner entered a login that an agent had asked for by a link. */
export function loginEntered(webUrl: string, event: SecurityEvent & { site: string }): Message {
  return letter('login_entered', 'A login was put into your vault', [
    'An agent asked for a login by a link, and somebody signed in to your account entered it. Agents ' +
      'can use it at this site:',
    { facts: { Site: event.site, ...eventFacts(event) } },
    'Codes from your emails are not used with it until you allow that on its page in the vault. If this ' +
      'was not you, delete the login there:',
    { link: `${webUrl}/vault`, label: 'Open the vault' },
  ])
}
