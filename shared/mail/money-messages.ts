/** Tells the owner what waits for a decision, and what changed in what may be paid. */
import type { Deed } from './deed.ts'
import { addressShown, notYou, told, utc } from './deed.ts'
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** A payment waits for the owner. `url` is the page that shows its terms. */
export function approvalWanted(payment: {
  amount: string
  recipient: string
  expiresAt: Date
  url: string
}): Message {
  const { amount, recipient, expiresAt, url } = payment
  return letter('approval_wanted', `Approve a payment of ${amount}?`, [
    'A payment of your agent waits for your decision:',
    { facts: { Amount: amount, To: recipient, 'Waits until': utc(expiresAt) } },
    { link: url, label: 'See the full terms and decide' },
    'Opening the page pays nothing. If you do nothing, nothing is paid.',
  ])
}

/** A mandate waits for the owner. `url` is the page that shows its terms. */
export function mandateWanted(mandate: { merchant: string; caps: string; url: string }): Message {
  const { merchant, caps, url } = mandate
  return letter('mandate_wanted', 'Let your agent pay a merchant within limits?', [
    'Your agent asks to pay this merchant without asking you each time:',
    { facts: { Merchant: merchant, 'Up to': caps } },
    { link: url, label: 'See the full terms and decide' },
    'Opening the page allows nothing. If you do nothing, nothing is allowed.',
  ])
}

/**
 * The account was frozen, by the owner or by an agent. An agent's reason is not in it: mail programs
 * make links of what looks like one, and this would be a stranger's word in the service's name.
 */
export function accountFrozen(
  webUrl: string,
  { at, client }: { at: Date; client: string },
): Message {
  return letter('account_frozen', 'Your account is frozen', [
    'Your account was frozen. Nothing is paid until you unfreeze it. If an agent gave a reason, it ' +
      'stands in the activity.',
    { facts: { When: utc(at), 'Network address': addressShown(client) } },
    { link: webUrl, label: 'See what was stopped' },
  ])
}

/** The owner unfroze the account. */
export function accountUnfrozen(webUrl: string, deed: Deed): Message {
  return letter('account_unfrozen', 'Your account can pay again', [
    'Your account was unfrozen: payments within your limits are possible again.',
    { facts: told(deed) },
    ...notYou(webUrl, deed),
  ])
}

/** Limits were raised; `changes` is the name of each with "from X to Y". */
export function limitsRaised(
  webUrl: string,
  deed: Deed & { changes: Readonly<Record<string, string>> },
): Message {
  return letter('limits_raised', 'Your limits were raised', [
    'What may be paid from your account was raised:',
    { facts: { ...deed.changes, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** A recipient may from now on be paid without asking each time. */
export function recipientTrusted(
  webUrl: string,
  deed: Deed & { label: string | null; address: string },
): Message {
  return letter('recipient_trusted', 'New trusted recipient', [
    'Payments to this recipient can now pass within your automatic limit:',
    { facts: { ...(deed.label && { Account: deed.label }), Address: deed.address, ...told(deed) } },
    ...notYou(webUrl, deed),
  ])
}

/** A mandate is active from now on; `terms` are all of them, for whoever did not approve it. */
export function mandateApproved(
  webUrl: string,
  deed: Deed & { terms: string; isForAnyKey: boolean; mandate: string },
): Message {
  const whose = deed.isForAnyKey
    ? 'Any key and app of the account that may pay'
    : 'The key or app that asked for it'
  return letter('mandate_approved', 'A mandate of your account is active', [
    'Your agent can now pay this merchant without asking each time, within the limits that were approved:',
    { facts: { Terms: deed.terms, For: whose, ...told(deed) } },
    { link: `${webUrl}/mandate/${deed.mandate}`, label: 'See its limits, suspend or revoke it' },
    ...notYou(webUrl, deed),
  ])
}

/** Money left a wallet that the books did not account for, so the service froze the account. */
export function moneyUnaccounted(
  webUrl: string,
  found: { at: Date; amount: string; recipient: string; transaction: string },
): Message {
  const { at, amount, recipient, transaction } = found
  return letter('money_unaccounted', 'Money left your account that was not booked', [
    'The chain shows that this left your wallet, and no payment in the books accounted for it. The ' +
      'account is frozen: nothing is paid until you unfreeze it.',
    { facts: { Amount: amount, To: recipient, Transaction: transaction, 'Found at': utc(at) } },
    { link: webUrl, label: 'See what happened' },
    'If it was a payment of yours, it is now counted as one. If you know nothing of it, leave the ' +
      'account frozen and write to the service.',
  ])
}

/** A wallet holds less than its books say, so the service froze the account. */
export function balanceShort(
  webUrl: string,
  found: { at: Date; missing: string; wallet: string },
): Message {
  const { at, missing, wallet } = found
  return letter('balance_short', 'Your wallet holds less than its books say', [
    'The chain shows less in your wallet than came in and was paid. The account is frozen: nothing ' +
      'is paid until you unfreeze it.',
    { facts: { Missing: missing, Wallet: wallet, 'Found at': utc(at) } },
    { link: webUrl, label: 'See what happened' },
  ])
}
