/** Reads what a server claims about the settlement. The claim is only a hint where to look on chain. */
import * as z from 'zod'
import { decodeText, parseJson } from '../base64.ts'
import { wordSchema } from '../chains/hex.ts'

const settlementFields = z.looseObject({
  success: z.boolean().optional(),
  transaction: wordSchema.optional().catch(undefined),
  errorReason: z.string().max(256).optional().catch(undefined),
  errorMessage: z.string().max(1024).optional().catch(undefined),
})

/** A server's claim about the settlement. */
export type SettlementHint = z.output<typeof settlementFields>

const hintLengthMax = 16_384

/** True if the server says how settling went, so that it was tried, even if what it says cannot be read. */
export function hasSettlementHint(headers: Pick<Headers, 'get'>): boolean {
  return hintHeaders.some((name) => headers.get(name) !== null)
}

const hintHeaders = ['payment-response', 'x-payment-response', 'payment-receipt']

/** Returns the server's claim about the settlement; undefined if there is none that can be read. */
export function readSettlementHint(headers: Pick<Headers, 'get'>): SettlementHint | undefined {
  const claim = headers.get('payment-response') ?? headers.get('x-payment-response')
  const header = claim ?? headers.get('payment-receipt')
  if (header === null || header.length > hintLengthMax) return undefined
  const read = parseJson(decodeText(header) ?? '')
  if (claim === null) return readReceipt(read)
  const parsed = settlementFields.safeParse(read)
  return parsed.success ? parsed.data : undefined
}

const receiptFields = z.looseObject({
  status: z.string(),
  reference: wordSchema.optional().catch(undefined),
})

/** Reads an MPP receipt as the same kind of claim. `reference` is the transaction. */
function readReceipt(value: unknown): SettlementHint | undefined {
  const parsed = receiptFields.safeParse(value)
  if (!parsed.success) return undefined
  const { status, reference } = parsed.data
  return { success: status === 'success', transaction: reference }
}
