/**
 * Computes the EIP-712 digest of an x402 permit by hand, on another keccak than the one that signs. It
 * exists to contradict the signing library, as authorization-digest.ts does for EIP-3009.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex } from 'viem'
import { permit2Address } from '../chains/evm/rpc/places.ts'
import { digestUnder, structHash, word } from './authorization-digest.ts'
import type { Permit2Form } from './permit2-terms.ts'

const domainType = 'EIP712Domain(string name,uint256 chainId,address verifyingContract)'
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
  const domain = structHash(domainType, [
    keccak_256(utf8ToBytes('Permit2')),
    word(String(fields.chainId)),
    word(permit2Address),
  ])
  return digestUnder(domain, permit)
}
