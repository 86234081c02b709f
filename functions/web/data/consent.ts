/** The owner's consent to terms that a page shows: by a passkey where the account has one. */
import * as z from 'zod'
import { consentByPasskey, consentOptions } from '../../../shared/auth/consent-by-passkey.ts'
import type { World } from '../../../shared/world.ts'
import { ownSession } from '../own-session.ts'
import type { Visit } from '../visit.ts'

/** As private.passkeys_json makes it: what the account can consent with. */
export const passkeysRow = z.array(z.object({ id: z.string(), transports: z.array(z.string()) }))
export type Passkeys = z.output<typeof passkeysRow>

/** What a passkey of the account is asked for: to sign this digest, in lower-case hex. */
export function askedOf(passkeys: Passkeys, world: World, digest: string) {
  const allowCredentials = passkeys.map((passkey) => ({ type: 'public-key', ...passkey }))
  return { ...consentOptions(world, digest), allowCredentials }
}

/**
 * What a form of consent carries for the SQL function that enters it: the assertion over the digest,
 * null of an account without a passkey. Undefined when the passkey's answer is not good for it.
 */
export async function consentIn(
  c: Visit,
  form: URLSearchParams,
  digest: string,
  passkeys: Passkeys,
) {
  if (passkeys.length === 0) return null
  return consentByPasskey(await ownSession(c), form.get('answer') ?? '', digest)
}

export const outcomeRow = z.object({ outcome: z.string() })

/** Why nothing came of a consent. */
export type Unheard = 'answer' | 'changed' | 'closed'

/** What stood in the way by the word of the database; undefined when the consent was entered. */
export function unheardOf(outcome: string | undefined): Unheard | undefined {
  if (outcome === 'approved') return undefined
  return outcome === 'terms_changed' || outcome === 'asker_changed' ? 'changed' : 'closed'
}
