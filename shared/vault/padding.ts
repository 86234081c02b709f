/**
 * Padding that hides the length of a secret: 256 bytes, then multiples of 1 KB. The length comes first, and
 * zeros follow the content. Unpadding accepts nothing else.
 */
const smallestBytes = 256
const stepBytes = 1024

/** Number of bytes of the length in front, and the most bytes that the content may have. */
export type PaddingRule = { lengthBytes: 2 | 4; contentBytesMax: number }

/** Pads the content; throws if it is longer than the rule allows. */
export function pad(content: Uint8Array, rule: PaddingRule): Uint8Array {
  if (content.length > rule.contentBytesMax) throw new Error('the content is too long to be sealed')
  const full = rule.lengthBytes + content.length
  const padded = new Uint8Array(
    full <= smallestBytes ? smallestBytes : Math.ceil(full / stepBytes) * stepBytes,
  )
  const view = new DataView(padded.buffer)
  if (rule.lengthBytes === 2) view.setUint16(0, content.length)
  else view.setUint32(0, content.length)
  padded.set(content, rule.lengthBytes)
  return padded
}

/** Returns the content; throws unless `pad` made these bytes from it. */
export function unpad(padded: Uint8Array, rule: PaddingRule): Uint8Array {
  const view = new DataView(padded.buffer, padded.byteOffset, padded.byteLength)
  const length = rule.lengthBytes === 2 ? view.getUint16(0) : view.getUint32(0)
  const content = padded.slice(rule.lengthBytes, rule.lengthBytes + length)
  const again = pad(content, rule)
  if (again.length !== padded.length || again.some((byte, at) => byte !== padded[at])) {
    throw new Error('the padding of a sealed record is not ours')
  }
  return content
}
