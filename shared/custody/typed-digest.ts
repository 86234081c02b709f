/**
 * Computes the EIP-712 digests of EIP-3009 authorizations and Permit2 permits by hand, on another keccak than
 * the one that signs. It exists to contradict the signing library: a signature over these digests is only
 * compared with the one that was made, and never given out.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex } from 'viem'
import { permit2Address } from '../chains/evm/rpc/places.ts'
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
function digestUnder(domain: Uint8Array, struct: Uint8Array): Hex {
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

const permit2DomainType = 'EIP712Domain(string name,uint256 chainId,address verifyingContract)'
const permissionsType = 'TokenPermissions(address token,uint256 amount)'
const witnessTypes = {
  exact: 'Witness(address to,uint256 validAfter)',
  upto: 'Witness(address to,address facilitator,uint256 validAfter)',
}
const permitType =
  'PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)'

type Fields = {
  chainId: number
  token: string
  to: string
  valueAtomic: bigint
  validBefore: number | bigint
  nonce: string
} & Permit2Form

/** Returns keccak-256 of 0x1901, the domain separator of Permit2 and the permit's hash (EIP-712). */
export function permit2Digest(fields: Fields, spender: string): Hex {
  const witnessType = witnessTypes[fields.scheme]
  const parties = fields.scheme === 'upto' ? [fields.to, fields.facilitator] : [fields.to]
  const permit = structHash(`${permitType}${permissionsType}${witnessType}`, [
    structHash(permissionsType, [word(fields.token), word(String(fields.valueAtomic))]),
    word(spender),
    word(fields.nonce),
    word(String(fields.validBefore)),
    structHash(witnessType, [...parties.map(word), word('0')]),
  ])
  const domain = structHash(permit2DomainType, [
    keccak_256(utf8ToBytes('Permit2')),
    word(String(fields.chainId)),
    word(permit2Address),
  ])
  return digestUnder(domain, permit)
}

/** Proxies of x402, the only users of such a permit, on every chain. */
export const permit2Spenders = {
  exact: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  upto: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const

/** Form of a permit. In upto the amount is the most, and only the facilitator may take it. */
export type Permit2Form = { scheme: 'exact' } | { scheme: 'upto'; facilitator: string }
