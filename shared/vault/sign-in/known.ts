/** Secrets that a site may know in a session, and their removal from texts that are stored. */
import { otherTexts, type UsedEntry } from '../inject.ts'
import type { SecretPlace } from '../places/place.ts'
import type { scrubberFor } from '../scrub.ts'
import type { Beside } from './beside.ts'
import type { Session } from './session.ts'

type Known = {
  used: UsedEntry
  session: Session
  scrubberFor: typeof scrubberFor
}

/** Returns all texts that no answer of the site may carry back, except TOTP codes. */
export function knownSecrets({ used, session }: Omit<Known, 'scrubberFor'>): string[] {
  const sent = session.state.sent.map(({ text }) => text)
  return [...new Set([...sent, ...otherTexts(used)])]
}

/**
 * Removes the secrets that the site was sent from texts that it chose, such as the address of a form, which
 * are shown to the agent and stored in the clear. Returns no texts if the scrubber withholds them.
 */
export async function withoutSecrets(known: Known, texts: readonly string[]): Promise<string[]> {
  const scrub = known.scrubberFor(knownSecrets(known), known.used.totpCodes)
  const headers = texts.map((text) => ['content-location', text] as const)
  const scrubbed = await scrub({ headers, body: new Uint8Array(), truncated: false })
  if ('withheld' in scrubbed) return []
  return scrubbed.headers.map(([, text]) => text)
}

/**
 * Returns the place in the words that may be stored, if there are any. What the agent said stays as it is,
 * because the owner must read all of it, and the agent knows it.
 */
export async function placeWithoutSecrets(
  known: Known,
  place: Omit<SecretPlace, 'beside'> & { beside: Beside },
): Promise<SecretPlace | { withheld: true }> {
  const names = place.standing.map(({ name }) => name)
  const [path, ...written] = await withoutSecrets(known, [
    place.path,
    ...names,
    ...place.beside.fields,
  ])
  if (path === undefined) return { withheld: true }
  const beside = JSON.stringify({ ...place.beside, fields: written.slice(names.length) })
  const standing = place.standing.map((one, at) => ({ ...one, name: written[at] ?? '' }))
  return { ...place, path, beside, standing }
}
