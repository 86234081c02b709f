/** XChaCha20-Poly1305 after draft-irtf-cfrg-xchacha-03, slow and plain, with OpenSSL's inner cipher. */
import { createDecipheriv } from 'node:crypto'

/** Opens base64 text with a 24-byte nonce in base64. Throws if the tag is wrong. */
export function openXChaCha20Poly1305(
  key: Buffer,
  nonceText: string,
  associatedData: Buffer,
  sealedText: string,
): Buffer {
  const nonce = Buffer.from(nonceText, 'base64')
  const sealed = Buffer.from(sealedText, 'base64')
  const innerNonce = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)])
  const innerKey = hchacha20(key, nonce.subarray(0, 16))
  const cipher = createDecipheriv('chacha20-poly1305', innerKey, innerNonce, { authTagLength: 16 })
  cipher.setAAD(associatedData, { plaintextLength: sealed.length - 16 })
  cipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
}

/** Runs ChaCha's 20 rounds without the final addition; keeps first and last row (draft section 2.2). */
function hchacha20(key: Buffer, nonce: Buffer): Buffer {
  const state = new Uint32Array(16)
  const initial = Buffer.concat([Buffer.from('expand 32-byte k'), key, nonce])
  for (let word = 0; word < 16; word += 1) state[word] = initial.readUInt32LE(word * 4)
  for (let round = 0; round < 10; round += 1) {
    for (const column of [0, 1, 2, 3]) quarterRound(state, column, 0)
    for (const column of [0, 1, 2, 3]) quarterRound(state, column, 1)
  }
  const output = Buffer.alloc(32)
  for (let word = 0; word < 8; word += 1) {
    output.writeUInt32LE(state[word < 4 ? word : word + 8] ?? 0, word * 4)
  }
  return output
}

/** Runs one quarter round (RFC 8439 section 2.1): down a column for `shift` 0, along a diagonal for 1. */
function quarterRound(state: Uint32Array, column: number, shift: 0 | 1): void {
  const at = (row: number) => row * 4 + ((column + row * shift) % 4)
  const step = (target: number, source: number, mixed: number, bits: number) => {
    state[at(target)] = (state[at(target)] ?? 0) + (state[at(source)] ?? 0)
    const word = ((state[at(mixed)] ?? 0) ^ (state[at(target)] ?? 0)) >>> 0
    state[at(mixed)] = (word << bits) | (word >>> (32 - bits))
  }
  step(0, 1, 3, 16)
  step(2, 3, 1, 12)
  step(0, 1, 3, 8)
  step(2, 3, 1, 7)
}
