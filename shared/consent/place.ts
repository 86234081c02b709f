/** Where consent is given: on the pages of the service, and nowhere else. */

/** Their origin, and their host name, which is the relying party of passkeys. */
export type Place = { origin: string; rpId: string }

/** The place of pages below this address. */
export function placeOf(webUrl: string): Place {
  const { origin, hostname } = new URL(webUrl)
  return { origin, rpId: hostname }
}
