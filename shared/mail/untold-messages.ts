/** The notice to the owner that lists notices left out because of the hourly limit. */
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** Each topic with an hourly limit (private.hourly_max), with its name in this mail. */
export const topicNames: Readonly<Record<string, string>> = {
  account_frozen: 'The account was frozen',
  app_token_reused: 'The access of an app was ended',
  approval_wanted: 'A payment waits for you',
  login_entered: 'A login was put into the vault',
  mandate_wanted: 'A mandate waits for you',
  money_unaccounted: 'Money left that no payment explains',
  site_first_used: 'A login in use at a new site',
}

/** Writes the notice that other notices were left out, with the number for each topic. */
export function noticesLeftOut(webUrl: string, topics: Readonly<Record<string, number>>): Message {
  const facts = Object.entries(topics).map(([topic, count]): [string, string] => [
    topicNames[topic] ?? 'Other',
    `${count}`,
  ])
  return letter('notices_left_out', 'Notices that were left out', [
    'So much happened in your account that these mails were not sent to you:',
    { facts: Object.fromEntries(facts) },
    { link: `${webUrl}/activity`, label: 'See what happened' },
    'If this is not as you meant it, freeze the account: then nothing is paid and no secret is used.',
  ])
}
