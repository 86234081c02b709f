/** Removal of secrets from what a site chose, such as the address of a form, before it is shown or stored. */
import type { SecretPlace } from '../places/place.ts'
import { redactorFor } from '../scrub.ts'
import type { Beside } from './beside.ts'

/** Secrets that the site may know, and values that were sent during the visit. */
export type KnownSecrets = { known: readonly string[]; sent: readonly string[] }

/** Returns all texts that no answer of the site may carry back. */
export function knownSecrets({ known, sent }: KnownSecrets): string[] {
  return [...sent, ...known]
}

/**
 * Returns the place in words that may be stored. What the agent said stays as it is, because the owner must
 * read all of it, and the agent knows it.
 */
export function placeWithoutSecrets(
  visit: KnownSecrets,
  place: Omit<SecretPlace, 'beside'> & { beside: Beside },
): SecretPlace {
  const redact = redactorFor(knownSecrets(visit))
  const shown = (text: string) => redact(text).text
  const beside = JSON.stringify({ ...place.beside, fields: place.beside.fields.map(shown) })
  const standing = place.standing.map((one) => ({ ...one, name: shown(one.name) }))
  return { ...place, path: shown(place.path), beside, standing }
}
