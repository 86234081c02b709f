/** Reads what the choice between a merchant's offers is made from. Admits the caller, so a stranger causes no request. */
import * as z from 'zod'
import type { OpenSignature } from '../../chains/evm/signature-use.ts'
import { addressSchema } from '../../chains/hex.ts'
import { bigintText } from '../../db/row-fields.ts'
import type { Context } from '../../http/handler.ts'
import type { PayableOffer } from '../../x402/offers.ts'
import type { FrozenRequest } from '../../x402/request.ts'
import { resourceDigest } from '../../x402/request.ts'
import { openSignatures, reservedRow } from '../payment-with-facts.ts'

const refusedWay = z.object({
  protocol: z.string().nullable(),
  scheme: z.string().nullable(),
  transfer_method: z.string().nullable(),
  payment_flow: z.string().nullable(),
  chain: z.int(),
  token: addressSchema,
  payee: addressSchema,
  amount_atomic: bigintText,
})

const purchaseFactsRow = z.object({
  wallet: addressSchema,
  /** Assets of which something is reserved. */
  reserved: z.array(reservedRow.extend({ chain: z.int(), token: addressSchema })),
  /** Ways to pay that the merchant refused for this resource a moment ago. */
  refused_ways: z.array(refusedWay),
})

/** Parsed answer of api.purchase_facts. */
export type PurchaseFacts = z.output<typeof purchaseFactsRow>

/** Reads the facts for a request. */
export async function readPurchaseFacts(
  { db }: Context,
  request: FrozenRequest,
): Promise<PurchaseFacts> {
  const question = { resource: await resourceDigest(request) }
  const facts = await db.one('purchase_facts', question, purchaseFactsRow)
  if (!facts) throw new Error('an account has no wallet')
  return facts
}

/** Returns the amount that is reserved of an offer's token, with the signatures that reserve it. */
export function reservedOf(
  { wallet, reserved }: PurchaseFacts,
  { chain, token }: Pick<PayableOffer, 'chain' | 'token'>,
): { reservedAtomic: bigint; open: OpenSignature[] } {
  const row = reserved.find((one) => one.chain === chain.id && one.token === token.address)
  if (!row) return { reservedAtomic: 0n, open: [] }
  const open = openSignatures({ wallet, token: token.address }, row)
  return { reservedAtomic: row.reserved_atomic, open }
}
