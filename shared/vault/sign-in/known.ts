/** What of the entry and its session a site may know, and what is written down without it. */
import { otherTexts, type UsedEntry } from '../inject.ts'
import type { Place } from '../places/place.ts'
import type { scrubberFor } from '../scrub.ts'
import type { Session } from './session.ts'

type Known = {
  used: UsedEntry
  session: Session
  scrubberFor: typeof scrubberFor
}

/** All texts that an answer of the site may not tell, but for TOTP codes. */
export function knownSecrets({ used, session }: Omit<Known, 'scrubberFor'>): string[] {
  const sent = session.state.sent.map(({ text }) => text)
  return [...new Set([...sent, ...otherTexts(used)])]
}

/**
 * Texts that the site chose, such as the address of a form, without the secrets that it was sent: they
 * are shown to the agent and kept in the open. None is left where one of them holds a very short secret.
 */
export async function withoutSecrets(known: Known, texts: readonly string[]): Promise<string[]> {
  const scrub = known.scrubberFor(knownSecrets(known), known.used.totpCodes)
  const headers = texts.map((text) => ['content-location', text] as const)
  const scrubbed = await scrub({ headers, body: new Uint8Array(), truncated: false })
  if ('withheld' in scrubbed) return []
  return scrubbed.headers.map(([, text]) => text)
}

/** The place in the words that may be kept, if there are any. */
export async function placeWithoutSecrets(
  known: Known,
  place: Place,
): Promise<Place | { withheld: true }> {
  const names = place.standing.map(({ name }) => name)
  const [path, beside = '', ...written] = await withoutSecrets(known, [
    place.path,
    place.beside,
    ...names,
  ])
  if (path === undefined) return { withheld: true }
  const standing = place.standing.map((one, at) => ({ ...one, name: written[at] ?? '' }))
  return { ...place, path, beside, standing }
}
