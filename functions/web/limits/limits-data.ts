/** Names and explanations of an account's limits, as its pages show them. */
import { limitTitles } from '../../../shared/policy/facts.ts'

/** Limits of an account by their names in SQL. */
export const limitNames = [
  'automatic_daily',
  'asserted_daily',
  'asserted_new_recipient',
  'daily_spending_cap',
  'monthly_spending_cap',
] as const
/** Name of one limit. */
export type LimitName = (typeof limitNames)[number]

/** Title and explanation of each limit. */
export const limitWords: Record<LimitName, { title: string; meaning: string }> = {
  automatic_daily: {
    title: limitTitles.automatic_limit,
    meaning:
      'What agents may pay in 24 hours with nobody asked, to recipients and from devices that are known.',
  },
  asserted_daily: {
    title: limitTitles.asserted_limit,
    meaning:
      'What agents may pay in 24 hours when they say that you confirmed it. Nobody checks their word.',
  },
  asserted_new_recipient: {
    title: limitTitles.asserted_new_recipient_limit,
    meaning:
      'What agents may pay in 24 hours to one new recipient when they say that you confirmed it. Above it, you are asked.',
  },
  daily_spending_cap: {
    title: limitTitles.daily_spending_cap,
    meaning: 'The most that leaves the account in 24 hours, whoever approved it, you among them.',
  },
  monthly_spending_cap: {
    title: limitTitles.monthly_spending_cap,
    meaning: 'The same for 30 days. Nothing passes it, so raise it before you send more.',
  },
}
