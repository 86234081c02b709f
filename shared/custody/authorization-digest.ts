/**
 * The EIP-712 digests of EIP-3009 authorizations and their cancellations, written out by hand on another keccak than the one
 * that signs. It exists to contradict the signing library: a digest is only ever recovered from here,
 * never signed.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex } from 'viem'
import type { SignedAuthorization } from './port.ts'

/** The token contract that an authorization is for, with its EIP-712 name and version. */
export type TokenDomain = {
  chainId: number
  token: string
  domain: { name: string; version: string }
}

const domainType =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

// EIP-3009, section "Specification".
const authorizationType =
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
const cancellationType = 'CancelAuthorization(address authorizer,bytes32 nonce)'

/** keccak-256 of 0x1901, the domain separator and the struct's hash (EIP-712). */
export function authorizationDigest(
  token: TokenDomain,
  authorization: Omit<SignedAuthorization, 'signature'>,
): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  return digest(token, authorizationType, [from, to, value, validAfter, validBefore, nonce])
}

/** The same for EIP-3009 CancelAuthorization. */
export function cancellationDigest(
  token: TokenDomain,
  cancellation: { authorizer: string; nonce: string },
): Hex {
  return digest(token, cancellationType, [cancellation.authorizer, cancellation.nonce])
}

/** All members are static words, so a struct's encoding is its type hash and the words in a row. */
function digest(token: TokenDomain, type: string, members: readonly string[]): Hex {
  const struct = concatBytes(keccak_256(utf8ToBytes(type)), ...members.map(word))
  const signed = concatBytes(
    new Uint8Array([0x19, 0x01]),
    domainSeparator(token),
    keccak_256(struct),
  )
  return `0x${bytesToHex(keccak_256(signed))}`
}

function domainSeparator({ chainId, token, domain }: TokenDomain): Uint8Array {
  return keccak_256(
    concatBytes(
      keccak_256(utf8ToBytes(domainType)),
      keccak_256(utf8ToBytes(domain.name)),
      keccak_256(utf8ToBytes(domain.version)),
      word(String(chainId)),
      word(token),
    ),
  )
}

/** A number in decimal or 0x-prefixed hex as 32 bytes, which is how addresses are encoded too. */
export function word(number: string): Uint8Array {
  const digits = BigInt(number).toString(16).padStart(64, '0')
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new Error('not a 256-bit word')
  return hexToBytes(digits)
}
