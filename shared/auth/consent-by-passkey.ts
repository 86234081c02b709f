/**
 * The owner's passkey over terms: the challenge is their digest, so what the authenticator signs is
 * consent to exactly them, and needs no other proof. Custody verifies it again, more strictly than
 * the library does, so both verifiers are asked here: nobody approves what is refused later.
 */
import { encodeForUrl } from '../base64.ts'
import { faultOfAssertion } from '../consent/assertion.ts'
import { placeOf } from '../consent/place.ts'
import type { CallerDatabase } from '../db/database.ts'
import { fromHex } from '../digest.ts'
import type { World } from '../world.ts'
import { isOfAccount, passkeyRow, verifyAssertion } from './passkey.ts'
import { readAssertion } from './passkey-answer.ts'

type Session = { world: World; db: CallerDatabase; account: { id: string } }

/**
 * The argument `assertion` of the owner's functions in SQL, of what a form carried; undefined when it
 * is no good assertion of the owner's over this digest.
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
    { digest, ...placeOf(world.config.WEB_URL) },
  )
  if (counter_now === undefined || fault !== undefined) return undefined
  return { passkey: answer.id, counter_seen: passkey.counter, counter_now, ...signed }
}
