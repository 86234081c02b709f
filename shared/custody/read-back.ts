/**
 * Compares what was signed with what was asked for. The checks hold by construction; if one fails, a
 * library or the machine cannot be trusted, so it throws and nothing signed leaves.
 */
import { type Address, bytesToHex, type Hex, isAddress, isHex, size } from 'viem'
import { sign } from 'viem/accounts'

type Comparable = string | number | bigint | undefined

/** Compares field by field, text without regard to case. Throws with the name of the first difference. */
export function requireSame<Field extends string>(
  asked: Record<Field, Comparable>,
  found: Record<NoInfer<Field>, Comparable>,
): void {
  for (const field in asked) {
    if (canonical(asked[field]) !== canonical(found[field])) {
      throw new Error(`what was signed differs from what was asked in ${field}`)
    }
  }
}

/** Returns comparable text. Addresses and hex may be in either case (EIP-55); numbers have one form. */
function canonical(value: Comparable): string {
  return value === undefined ? 'absent' : String(value).toLowerCase()
}

/** Narrows stored text to an address. A mixed-case one must carry the right EIP-55 checksum. */
export function requireAddress(text: string): Address {
  if (!isAddress(text)) throw new Error('not an address')
  return text
}

/** Narrows stored text to hex of exactly so many bytes. */
export function requireHex(text: string, bytes: number): Hex {
  if (!isHex(text) || text.length !== 2 + bytes * 2 || size(text) !== bytes) {
    throw new Error(`not ${bytes} bytes in hex`)
  }
  return text
}

/** Half of secp256k1's order. An s above it would be a second signature of the same digest (EIP-2). */
const lowSMax = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Splits r, s, v of 65 bytes. Throws unless s is low and v is 27 or 28, all that a token accepts. */
export function splitSignature(text: string): { r: Hex; s: Hex; v: number } {
  const signature = requireHex(text, 65)
  const r: Hex = `0x${signature.slice(2, 66)}`
  const s: Hex = `0x${signature.slice(66, 130)}`
  const v = Number.parseInt(signature.slice(130), 16)
  if (v !== 27 && v !== 28) throw new Error('v of a signature is not 27 or 28')
  if (BigInt(s) > lowSMax) throw new Error('s of a signature is not low')
  return { r, s, v }
}

/**
 * Throws unless this key makes exactly this signature over a digest that was computed apart from the
 * signing. ECDSA is deterministic here (RFC 6979), so other bytes mean that something else was signed. This
 * costs a fifth of recovering the signer. The signature made here is not given out.
 */
export async function requireSigned(
  key: Uint8Array,
  digest: Hex,
  signature: string,
): Promise<void> {
  const again = await sign({ hash: digest, privateKey: bytesToHex(key), to: 'hex' })
  requireSame({ signature: again }, { signature })
}
