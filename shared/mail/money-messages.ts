/** Notices to the owner about decisions that wait, and about changes in what can be paid. */
import { addressShown, eventFacts, notYou, type SecurityEvent, utc } from './deed.ts'
import { letter, type Message } from './letter.ts'

/** Maximum characters of a payee in a subject line. */
const payeeLengthMax = 60

/**
 * Writes the notice that a payment waits for the owner. `payee` is an alias, the host of a merchant or an address;
 * `url` is the page that shows the terms.
 */
export function approvalWanted(payment: {
  amount: string
  payee: string
  address: string
  /** Action that the payee takes with it; empty for a plain payment. */
  purpose: string
  asker: string
  note: string | null
  expiresAt: Date
  url: string
}): Message {
  const { amount, payee, address, purpose, asker, note, expiresAt, url } = payment
  // A part of a long name could be taken for another name.
  const to = payee.length > payeeLengthMax ? '' : ` to ${payee}`
  return letter('approval_wanted', `Approve ${amount}${to}?`, [
    {
      facts: {
        'Requested by': asker,
        ...(note === null ? {} : { 'Note from the agent': note }),
        Amount: amount,
        To: payee,
        Address: address,
        ...(purpose === '' ? {} : { Purpose: purpose }),
        Expires: utc(expiresAt),
      },
    },
    { link: url, label: 'See the full terms and decide' },
    'Opening the page pays nothing. If you do nothing, nothing is paid.',
  ])
}

/** Writes the notice that a mandate waits for the owner. `url` is the page that shows its terms. */
export function mandateWanted(mandate: {
  merchant: string
  caps: string
  asker: string
  url: string
}): Message {
  const { merchant, caps, asker, url } = mandate
  const whom = merchant.length > payeeLengthMax ? 'a merchant' : merchant
  return letter('mandate_wanted', `Always allow payments to ${whom}?`, [
    { facts: { 'Requested by': asker, Merchant: merchant, 'Up to': caps } },
    'You would not be asked about each payment within these limits.',
    { link: url, label: 'See the full terms and decide' },
    'Opening the page allows nothing. If you do nothing, nothing is allowed.',
  ])
}

/**
 * Writes the notice that the owner or an agent froze the account. An agent's reason is left out: mail
 * programs make links of its text, and it would appear to be the service's own words.
 */
export function accountFrozen(
  webUrl: string,
  { at, client }: { at: Date; client: string },
): Message {
  return letter('account_frozen', 'Your account is frozen', [
    'Your account was frozen. Nothing is paid until you unfreeze it. If an agent gave a reason, it ' +
      'is in the activity.',
    { facts: { When: utc(at), 'IP address': addressShown(client) } },
    { link: webUrl, label: 'See what was stopped' },
  ])
}

/** Writes the notice that the owner unfroze the account. */
export function accountUnfrozen(webUrl: string, event: SecurityEvent): Message {
  return letter('account_unfrozen', 'Your account can pay again', [
    'Your account was unfrozen: payments within your limits are possible again.',
    { facts: eventFacts(event) },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that limits were raised. `changes` maps the name of each limit to "from X to Y". */
export function limitsRaised(
  webUrl: string,
  event: SecurityEvent & { changes: Readonly<Record<string, string>> },
): Message {
  return letter('limits_raised', 'Your limits were raised', [
    'What may be paid from your account was raised:',
    { facts: { ...event.changes, ...eventFacts(event) } },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that a recipient can be paid without asking each time from now on. */
export function recipientTrusted(
  webUrl: string,
  event: SecurityEvent & { label: string | null; address: string },
): Message {
  return letter('recipient_trusted', 'New trusted recipient', [
    'Payments to this recipient no longer need your approval within your automatic limit:',
    {
      facts: {
        ...(event.label && { Account: event.label }),
        Address: event.address,
        ...eventFacts(event),
      },
    },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that the owner sent money from the app. */
export function moneySent(
  webUrl: string,
  event: SecurityEvent & { amount: string; label: string | null; address: string },
): Message {
  return letter('money_sent', `You sent ${event.amount}`, [
    'This was sent from your account in the app:',
    {
      facts: {
        Amount: event.amount,
        ...(event.label && { To: event.label }),
        Address: event.address,
        ...eventFacts(event),
      },
    },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that a mandate is active, with all its `terms` for a reader who did not approve it. */
export function mandateApproved(
  webUrl: string,
  event: SecurityEvent & { terms: string; isForAnyKey: boolean; mandate: string },
): Message {
  const whose = event.isForAnyKey
    ? 'Any key or app of the account that may pay'
    : 'The key or app that asked for it'
  return letter('mandate_approved', 'A mandate of your account is active', [
    'Your agent can now pay this merchant without asking each time, within the limits that were approved:',
    { facts: { Terms: event.terms, For: whose, ...eventFacts(event) } },
    { link: `${webUrl}/mandate/${event.mandate}`, label: 'See its limits, suspend or revoke it' },
    ...notYou(webUrl),
  ])
}

/** Writes the notice that the service froze the account because money left that is not in the books. */
export function moneyUnaccounted(
  webUrl: string,
  found: { at: Date; amount: string; recipient: string; transaction: string },
): Message {
  const { at, amount, recipient, transaction } = found
  return letter('money_unaccounted', 'Money left your account that no payment explains', [
    'The chain shows that this left your wallet, and no payment that the service signed explains it. ' +
      'We have not frozen your account.',
    { facts: { Amount: amount, To: recipient, Transaction: transaction, 'Found at': utc(at) } },
    { link: `${webUrl}/freeze`, label: 'Freeze the account' },
    'If you do not recognize it, freeze the account and contact the service.',
  ])
}
