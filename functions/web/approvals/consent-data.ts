/** Consent as the database answers it: the account's passkeys, and the outcome of a decision. */
import * as z from 'zod'

/** Rows that private.passkeys_json makes. */
export const passkeysRow = z.array(z.object({ id: z.string(), transports: z.array(z.string()) }))
/** Passkeys that the account can consent with. */
export type Passkeys = z.output<typeof passkeysRow>

/** Outcome of a consent, in the word of the SQL function. */
export const outcomeRow = z.object({ outcome: z.string() })

/** Reason why a consent was not entered. */
export type ConsentProblem = 'answer' | 'changed' | 'closed'

/** Translates an outcome to the reason why it was not entered; undefined if it was. */
export function consentProblemOf(outcome: string | undefined): ConsentProblem | undefined {
  if (outcome === 'approved') return undefined
  return outcome === 'terms_changed' || outcome === 'asker_changed' ? 'changed' : 'closed'
}
