/**
 * The owner's passkey as consent: the challenge is the digest of the terms, so the signature is consent to
 * exactly these terms and needs no other proof. Custody verifies it again, more strictly than the library
 * does. Both verifiers run here, so an approval that passes is not refused later.
 */
import { encodeForUrl } from '../base64.ts'
import { faultOfAssertion } from '../consent/assertion.ts'
import { relyingPartyOf } from '../consent/place.ts'
import type { CallerDatabase } from '../db/database.ts'
import { fromHex } from '../digest.ts'
import type { World } from '../world.ts'
import { isOfAccount, passkeyRow, verifyAssertion } from './passkey.ts'
import { readAssertion } from './passkey-answer.ts'

type Session = { world: World; db: CallerDatabase; account: { id: string } }

/**
 * Verifies the assertion that a form carried and returns it as the argument `assertion` of the owner's SQL
 * functions. Returns undefined if it is not a valid assertion by this owner's passkey over this digest.
 */
export async function consentByPasskey(
  { world, db, account }: Session,
  answerText: string,
  digest: string,
) {
  const answer = readAssertion(answerText)
  if (!answer || !isOfAccount(answer, account.id) || !/^[0-9a-f]{64}$/.test(digest)) {
    return undefined
  }
  const passkey = await db.one('owner_find_passkey', { passkey: answer.id }, passkeyRow)
  if (!passkey) return undefined
  const known = { id: answer.id, ...passkey }
  const challenge = encodeForUrl(fromHex(digest))
  const counter_now = await verifyAssertion(world, answer, challenge, known)
  const { clientDataJSON, authenticatorData, signature } = answer.response
  const signed = {
    client_data: clientDataJSON,
    authenticator_data: authenticatorData,
    signature,
  }
  const fault = await faultOfAssertion(
    { public_key: passkey.public_key, ...signed },
    { digest, ...relyingPartyOf(world.config.WEB_URL) },
  )
  if (counter_now === undefined || fault !== undefined) return undefined
  return { passkey: answer.id, counter_seen: passkey.counter, counter_now, ...signed }
}
