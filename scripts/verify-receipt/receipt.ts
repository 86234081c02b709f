/** A receipt as it is read from a file: the JWS alone, or an answer of consent_receipt around it. */
import * as z from 'zod'

const publicKey = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string() })
const keySet = z.object({ keys: z.array(publicKey).min(1).max(64) })
const jws = z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'not a JWS in compact form')
const answer = z.object({ receipt: jws, public_keys: keySet.optional() })

export type PublicKeys = z.output<typeof keySet>
export type ReceiptFile = { receipt: string; keys: PublicKeys | undefined }

/** Reads a file; throws with a sentence that says what is wrong with the text. */
export function readReceipt(text: string): ReceiptFile {
  const bare = jws.safeParse(text.trim())
  if (bare.success) return { receipt: bare.data, keys: undefined }
  const { receipt, public_keys: keys } = parsed(answer, text, 'not a consent receipt')
  return { receipt, keys }
}

/** Reads a JWKS (RFC 7517); throws like `readReceipt`. */
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
