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
      'What agents may pay in 24 hours without asking, to trusted recipients and from trusted devices.',
  },
  asserted_daily: {
    title: limitTitles.asserted_limit,
    meaning:
      'What agents may pay in 24 hours by saying that you confirmed it. Nobody verifies that.',
  },
  asserted_new_recipient: {
    title: limitTitles.asserted_new_recipient_limit,
    meaning:
      'What agents may pay one new recipient in 24 hours by saying that you confirmed it. Above it, you are asked.',
  },
  daily_spending_cap: {
    title: limitTitles.daily_spending_cap,
    meaning: 'The most that may leave the account in 24 hours, whoever approves it, including you.',
  },
  monthly_spending_cap: {
    title: limitTitles.monthly_spending_cap,
    meaning: 'The same for 30 days. Nothing passes it, so raise it before you send more.',
  },
}
