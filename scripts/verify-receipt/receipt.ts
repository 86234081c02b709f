/** Reads a receipt from a file: the JWS alone, or an answer of consent_receipt that contains it. */
import * as z from 'zod'

const publicKey = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string() })
const keySet = z.object({ keys: z.array(publicKey).min(1).max(64) })
const jws = z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'not a JWS in compact form')
/** Fields beside the receipt, for readers who do not decode it. */
const beside = z.object({
  terms: z.record(z.string(), z.unknown()).optional(),
  digest: z.string().optional(),
  level: z.string().optional(),
  decided_at: z.string().optional(),
})
const answer = beside.extend({ receipt: jws, public_keys: keySet.optional() })

/** Keys that may have signed a receipt. */
export type PublicKeys = z.output<typeof keySet>
/** A receipt with the rest of its file. */
export type ReceiptFile = {
  receipt: string
  keys: PublicKeys | undefined
  /** Undefined if the file is the receipt alone. */
  beside?: z.output<typeof beside>
}

/** Reads a file. Throws a sentence that says what is wrong with the text. */
export function readReceipt(text: string): ReceiptFile {
  const bare = jws.safeParse(text.trim())
  if (bare.success) return { receipt: bare.data, keys: undefined }
  const { receipt, public_keys: keys, ...said } = parsed(answer, text, 'not a consent receipt')
  return { receipt, keys, beside: said }
}

/** Reads a JWKS (RFC 7517). Throws as `readReceipt` does. */
export function readKeys(text: string): PublicKeys {
  return parsed(keySet, text, 'not a JWKS of P-256 keys')
}

function parsed<Output>(schema: z.ZodType<Output>, text: string, what: string): Output {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new Error('not JSON')
  }
  const read = schema.safeParse(content)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`${what}: ${issue?.path.join('.')} ${issue?.message}`)
}
