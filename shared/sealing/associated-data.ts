/**
 * Associated data of an authenticated cipher: the facts that a ciphertext is bound to. Different lists of
 * fields never encode to the same bytes, so a ciphertext cannot be moved to another record by shifting
 * characters from one field into the next.
 */
const fieldsMax = 16
const fieldBytesMax = 1024
const lengthBytes = 4

/**
 * Encodes each field as its UTF-8 length (4 bytes, big-endian) followed by its UTF-8 bytes. Throws on more
 * than 16 fields, on a field over 1024 bytes and on text that is not well formed.
 */
export function encodeAssociatedData(fields: readonly string[]): Uint8Array {
  if (fields.length > fieldsMax) throw new Error('too many fields of associated data')
  const parts = fields.map(encodeField)
  const encoded = new Uint8Array(parts.reduce((sum, part) => sum + lengthBytes + part.length, 0))
  const view = new DataView(encoded.buffer)
  let offset = 0
  for (const part of parts) {
    view.setUint32(offset, part.length)
    encoded.set(part, offset + lengthBytes)
    offset += lengthBytes + part.length
  }
  return encoded
}

function encodeField(field: string): Uint8Array {
  // A lone surrogate encodes as U+FFFD, so two different texts would become the same bytes.
  if (!field.isWellFormed()) throw new Error('a field of associated data is not well-formed text')
  const bytes = new TextEncoder().encode(field)
  if (bytes.length > fieldBytesMax) throw new Error('a field of associated data is too long')
  return bytes
}
