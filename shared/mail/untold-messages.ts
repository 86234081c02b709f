/** Tells the owner which notices an hour had no room for. */
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** Each topic that is bounded (private.hourly_max), as it is counted in this mail. */
export const kinds: Readonly<Record<string, string>> = {
  account_frozen: 'The account was frozen',
  app_token_reused: 'The access of an app was ended',
  approval_wanted: 'A payment waits for you',
  balance_short: 'A wallet holds less than its books say',
  login_entered: 'A login was put into the vault',
  mandate_wanted: 'A mandate waits for you',
  money_unaccounted: 'Money left that was not booked',
  site_first_used: 'A login in use at a new site',
}

/** Notices were left out: how many of each topic. */
export function noticesLeftOut(webUrl: string, topics: Readonly<Record<string, number>>): Message {
  const facts = Object.entries(topics).map(([topic, count]): [string, string] => [
    kinds[topic] ?? 'Other',
    `${count}`,
  ])
  return letter('notices_left_out', 'Notices that were left out', [
    'So much happened in your account that these mails were not sent to you:',
    { facts: Object.fromEntries(facts) },
    { link: `${webUrl}/activity`, label: 'See what happened' },
    'If this is not as you meant it, freeze the account: then nothing is paid and no secret is used.',
  ])
}
