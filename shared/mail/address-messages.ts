/** Mails about a change of the owner's mail address, to the old address and to the new one. */
import { eventFacts, notYou, type SecurityEvent, utc } from './deed.ts'
import { letter, type Message, type Part } from './letter.ts'

/** Writes the mail with the code that proves the new address. */
export function mailAddressCode({ code, minutes }: { code: string; minutes: number }): Message {
  return letter('mail_address_code', 'Confirm your new email address', [
    'Enter this code on the page where you asked to change your email address:',
    { code },
    `It is valid for ${minutes} minutes and for nothing else. If you did not ask for it, ignore this email.`,
  ])
}

function stopIt(webUrl: string): Part {
  return { link: `${webUrl}/security/mail-address`, label: 'See the change and stop it' }
}

/** Writes the notice that somebody asked to change the address. */
export function mailAddressAsked(
  webUrl: string,
  event: SecurityEvent & { email: string },
): Message {
  return letter('mail_address_asked', 'A change of your email address was requested', [
    'Somebody asked to change the email address of your account. It changes 72 hours after the code ' +
      'sent to the new address is entered.',
    { facts: { 'New address': event.email, ...eventFacts(event) } },
    stopIt(webUrl),
    ...notYou(webUrl),
  ])
}

/** Writes the notice to the owner that the change is pending. */
export function mailAddressConfirmed(
  webUrl: string,
  { email, from, ...event }: SecurityEvent & { email: string; from: Date },
): Message {
  return letter('mail_address_confirmed', 'Your email address changes in 72 hours', [
    'Until then, emails come here and you sign in with this address. After that only the new one works.',
    { facts: { 'New address': email, 'Takes effect': utc(from), ...eventFacts(event) } },
    stopIt(webUrl),
    ...notYou(webUrl),
  ])
}

/** Writes the mail to the new address that the change is pending. */
export function mailAddressAwaited(
  webUrl: string,
  { alias, from }: { alias: string; from: Date },
): Message {
  return letter('mail_address_awaited', 'This will be the email address of your account', [
    'When the change takes effect, emails about your account come here and you sign in with this address.',
    { facts: { Account: alias, 'Takes effect': utc(from) } },
    stopIt(webUrl),
  ])
}

/** Writes the notice to both addresses that the change took effect. */
export function mailAddressChanged(
  webUrl: string,
  { alias, email }: { alias: string; email: string },
): Message {
  return letter('mail_address_changed', 'Your email address was changed', [
    'From now on, emails about your account go to the new address, and you sign in with it.',
    { facts: { Account: alias, 'New address': email } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that the new address belongs to another account by now. */
export function mailAddressKept(webUrl: string, { email }: { email: string }): Message {
  return letter('mail_address_kept', 'Your email address was not changed', [
    'The new address now belongs to another account, so your email address stays as it is.',
    { facts: { 'New address': email } },
    { link: `${webUrl}/security/mail-address`, label: 'Choose another address' },
  ])
}

/** Writes the notice that a change was stopped. */
export function mailAddressStopped(webUrl: string, event: SecurityEvent): Message {
  return letter('mail_address_stopped', 'The change of your email address was stopped', [
    'Your email address stays as it is.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}
