/**
 * The x402 extension payment-identifier: an id by which a server recognizes a payment that is sent again,
 * and repeats its first answer. A server may require it.
 */
import * as z from 'zod'

const name = 'payment-identifier'
const offered = z.looseObject({
  [name]: z.looseObject({ info: z.looseObject({ required: z.boolean() }) }),
})

/** Adds the payment's id if the server supports one. The id is always the same for one nonce. */
export function withIdentifier(extensions: unknown, nonce: string): unknown {
  const read = offered.safeParse(extensions)
  if (!read.success) return extensions
  const { [name]: extension } = read.data
  // 16 to 128 letters, digits, hyphens and underscores.
  const info = { ...extension.info, id: `pay_${nonce.replace(/^0x/, '')}` }
  return { ...read.data, [name]: { ...extension, info } }
}
