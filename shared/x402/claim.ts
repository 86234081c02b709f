/** What a server's answer claims about the settlement: a hint where to look on chain, and no more. */
import * as z from 'zod'
import { decodeText, parseJson } from '../base64.ts'
import { wordSchema } from '../chains/hex.ts'

const settlementFields = z.looseObject({
  success: z.boolean().optional(),
  transaction: wordSchema.optional().catch(undefined),
  errorReason: z.string().max(256).optional().catch(undefined),
})

/** A server's word about the settlement. */
export type SettlementClaim = z.output<typeof settlementFields>

const claimLengthMax = 16_384

/** What the server claims about the settlement; undefined when it says nothing readable. */
export function readSettlementClaim(headers: Pick<Headers, 'get'>): SettlementClaim | undefined {
  const claim = headers.get('payment-response') ?? headers.get('x-payment-response')
  const header = claim ?? headers.get('payment-receipt')
  if (header === null || header.length > claimLengthMax) return undefined
  const read = parseJson(decodeText(header) ?? '')
  if (claim === null) return readReceipt(read)
  const parsed = settlementFields.safeParse(read)
  return parsed.success ? parsed.data : undefined
}

const receiptFields = z.looseObject({
  status: z.string(),
  reference: wordSchema.optional().catch(undefined),
})

/** The receipt of MPP in the same words; `reference` is the transaction. */
function readReceipt(value: unknown): SettlementClaim | undefined {
  const parsed = receiptFields.safeParse(value)
  if (!parsed.success) return undefined
  const { status, reference } = parsed.data
  return { success: status === 'success', transaction: reference }
}
