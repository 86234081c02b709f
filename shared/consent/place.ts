/** The only place where consent is given: the pages of the service. */

/** Origin of the pages, and their host name, which is the relying party of passkeys. */
export type RelyingParty = { origin: string; rpId: string }

/** Returns the place of the pages below this address. */
export function relyingPartyOf(webUrl: string): RelyingParty {
  const { origin, hostname } = new URL(webUrl)
  return { origin, rpId: hostname }
}
