/** What the database tells of consent: what the account consents with, and what came of it. */
import * as z from 'zod'

/** As private.passkeys_json makes it. */
export const passkeysRow = z.array(z.object({ id: z.string(), transports: z.array(z.string()) }))
export type Passkeys = z.output<typeof passkeysRow>

export const outcomeRow = z.object({ outcome: z.string() })

/** Why nothing came of a consent. */
export type Unheard = 'answer' | 'changed' | 'closed'

/** What stood in the way by the word of the database; undefined when the consent was entered. */
export function unheardOf(outcome: string | undefined): Unheard | undefined {
  if (outcome === 'approved') return undefined
  return outcome === 'terms_changed' || outcome === 'asker_changed' ? 'changed' : 'closed'
}
