/**
 * Cancels what custody signed before: loads a payment whose authorization is live and which the ledger
 * allows to be cancelled, signs the cancellation of that nonce and stores it for a relayer. It takes a
 * payment id, never a nonce.
 */
import * as z from 'zod'
import { wordSchema } from '../chains/hex.ts'
import { assetOf } from '../chains/registry.ts'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { signCancellation } from './cancellation.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type { CancelAnswer, CancelRequest } from './port.ts'

const cancelRequest = z.strictObject({ paymentId: z.uuid() })

const liveRow = z.object({
  payment_row: z.object({
    account: z.uuid(),
    chain: z.int(),
    token: z.string(),
    wallet: z.string(),
    authorization_nonce: wordSchema,
  }),
  wallet_envelope: z.unknown(),
  kept: z.string().nullable(),
})

/** Signs and queues the cancellation of one payment; a second call changes nothing. */
export async function cancelPayment(
  world: World,
  roots: Roots,
  request: CancelRequest,
): Promise<CancelAnswer> {
  const { paymentId: payment } = cancelRequest.parse(request)
  const live = await unbound(world.db).one('custody_cancel', { payment }, liveRow)
  if (!live) return { outcome: 'closed' }
  if (live.kept !== null) return { outcome: 'queued' }
  const signature = await signFor(roots, live)
  const isKept = await world.db.call('custody_record_cancel', { payment, signature })
  return { outcome: isKept === true ? 'queued' : 'closed' }
}

function signFor(
  roots: Roots,
  { payment_row: payment, wallet_envelope }: z.output<typeof liveRow>,
) {
  const { token } = assetOf(payment)
  const terms = {
    chainId: payment.chain,
    token: token.address,
    domain: token.domain,
    authorizer: payment.wallet,
    nonce: payment.authorization_nonce,
  }
  const binding = { account: payment.account, address: payment.wallet }
  return withKey(roots, binding, readEnvelope(wallet_envelope), (key) =>
    signCancellation(key, terms),
  )
}
