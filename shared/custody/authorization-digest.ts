/**
 * Computes the EIP-712 digests of EIP-3009 authorizations by hand, on another keccak than the one that signs. It exists to contradict the signing library: a signature over these
 * digests is only compared with the one that was made, and never given out.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex } from 'viem'
import type { SignedAuthorization } from './port.ts'

/** Token contract that an authorization is for, with its EIP-712 name and version. */
export type TokenDomain = {
  chainId: number
  token: string
  domain: { name: string; version: string }
}

const domainType =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

// EIP-3009, section "Specification".
const authorizationFields =
  '(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'

/** Form of an authorization: one that anyone may use, or one that only its payee may (EIP-3009). */
export type AuthorizationForm = 'TransferWithAuthorization' | 'ReceiveWithAuthorization'

/** Returns the digest of one authorization under its token's domain. */
export function authorizationDigest(
  token: TokenDomain,
  { from, to, value, validAfter, validBefore, nonce }: Omit<SignedAuthorization, 'signature'>,
  form: AuthorizationForm = 'TransferWithAuthorization',
): Hex {
  const words = [from, to, value, validAfter, validBefore, nonce].map(word)
  return typedDigest(token, structHash(`${form}${authorizationFields}`, words))
}

/** Returns keccak-256 of 0x1901, the token's domain separator and the struct's hash (EIP-712). */
export function typedDigest(token: TokenDomain, struct: Uint8Array): Hex {
  return digestUnder(domainSeparator(token), struct)
}

/** Returns the same under any domain separator. */
export function digestUnder(domain: Uint8Array, struct: Uint8Array): Hex {
  const prefix = new Uint8Array([0x19, 0x01])
  return `0x${bytesToHex(keccak_256(concatBytes(prefix, domain, struct)))}`
}

/** Returns keccak-256 of the type's hash and the fields, 32 bytes each (EIP-712). */
export function structHash(type: string, words: readonly Uint8Array[]): Uint8Array {
  return keccak_256(concatBytes(keccak_256(utf8ToBytes(type)), ...words))
}

function domainSeparator({ chainId, token, domain }: TokenDomain): Uint8Array {
  return structHash(domainType, [
    keccak_256(utf8ToBytes(domain.name)),
    keccak_256(utf8ToBytes(domain.version)),
    word(String(chainId)),
    word(token),
  ])
}

/** Encodes a number in decimal or 0x-prefixed hex as 32 bytes, which also encodes addresses. */
export function word(number: string): Uint8Array {
  const digits = BigInt(number).toString(16).padStart(64, '0')
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new Error('not a 256-bit word')
  return hexToBytes(digits)
}
