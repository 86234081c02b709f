/** Names and explanations of an account's limits, as its pages show them. */
/** Limits of an account by their names in SQL. */
export const limitNames = [
  'automatic_daily',
  'asserted_daily',
  'asserted_new_recipient',
  'daily_spending_cap',
] as const
/** Name of one limit. */
export type LimitName = (typeof limitNames)[number]

/** Title and explanation of each limit. */
export const limitWords: Record<LimitName, { title: string; meaning: string }> = {
  automatic_daily: {
    title: 'Without asking',
    meaning:
      'What agents may pay in 24 hours with nobody asked, to recipients and from devices that are known.',
  },
  asserted_daily: {
    title: 'Confirmed by the agent',
    meaning:
      'What agents may pay in 24 hours when they say that you confirmed it. Nobody checks their word.',
  },
  asserted_new_recipient: {
    title: 'New recipients',
    meaning:
      'What agents may pay in 24 hours to one new recipient when they say that you confirmed it. Above it, you are asked.',
  },
  daily_spending_cap: {
    title: 'Everything together',
    meaning: 'The most that leaves the account in 24 hours, whoever approved it, you among them.',
  },
}
