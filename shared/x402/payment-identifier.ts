/**
 * The extension payment-identifier of x402: a name by which a server knows a payment that it is sent
 * again, and answers what it answered the first time. A server may insist on one.
 */
import * as z from 'zod'

const name = 'payment-identifier'
const offered = z.looseObject({
  [name]: z.looseObject({ info: z.looseObject({ required: z.boolean() }) }),
})

/** The extensions with the payment's name, where a server takes one: always the same for one nonce. */
export function withIdentifier(extensions: unknown, nonce: string): unknown {
  const read = offered.safeParse(extensions)
  if (!read.success) return extensions
  const { [name]: extension } = read.data
  // 16 to 128 letters, digits, hyphens and underscores.
  const info = { ...extension.info, id: `pay_${nonce.replace(/^0x/, '')}` }
  return { ...read.data, [name]: { ...extension, info } }
}
