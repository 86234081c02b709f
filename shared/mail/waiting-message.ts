/** The one notice to the owner in place of those of a topic that exceeded the hourly limit. */
import { utc } from './deed.ts'
import { letter, type Message } from './letter.ts'

/** Each topic with an hourly limit (private.hourly_max), with its name in this mail. */
export const topicNames: Readonly<Record<string, string>> = {
  account_frozen: 'The account was frozen',
  app_token_reused: 'The access of an app was ended',
  approval_wanted: 'A payment is waiting for you',
  login_entered: 'A login was put into the vault',
  mandate_wanted: 'A mandate is waiting for you',
  money_unaccounted: 'Money left that no payment explains',
  site_first_used: 'A login was used at a new site',
}

/** Writes the notice. It has the topic of those that it stands for, and counts as one of them. */
export function moreNotices(
  webUrl: string,
  { topic, notices, since }: { topic: string; notices: number; since: Date },
): Message {
  const count = `${notices} more ${notices === 1 ? 'notice' : 'notices'}`
  const name = topicNames[topic] ?? 'Other'
  return letter(topic, `${count}: ${name}`, [
    `${count} of this kind since ${utc(since)}. They were too many to send an email for each:`,
    { facts: { [name]: `${notices}` } },
    { link: `${webUrl}/activity`, label: 'See what happened' },
    'If you did not intend this, freeze the account. Then nothing is paid and no secret is used.',
  ])
}
