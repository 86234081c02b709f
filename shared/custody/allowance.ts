/**
 * Signs an EIP-2612 permit that lets Permit2 take one payment's amount and no more, so that a facilitator
 * can use a Permit2 permit of a wallet that never allowed anything. The spender is Permit2 itself, which
 * moves nothing without a second signature of the same wallet.
 */
import { bytesToHex } from 'viem'
import { signTypedData } from 'viem/accounts'
import { permit2Address } from '../chains/evm/rpc/places.ts'
import { addressOf } from './accounts.ts'
import { structHash, type TokenDomain, typedDigest, word } from './authorization-digest.ts'
import { requireAddress, requireSame, requireSigned, splitSignature } from './read-back.ts'

/** Terms of one allowance; `nonce` is the wallet's next one at the token. */
export type AllowanceTerms = TokenDomain & {
  owner: string
  valueAtomic: bigint
  nonce: bigint
  /** Unix seconds, inclusive; the same as in the permit that it accompanies. */
  validBefore: number | bigint
}

const types = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

// EIP-2612, section "Specification".
const permitType =
  'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'

/** Signs the allowance with the owner's key. Throws if the key is not that of `owner`. */
export async function signAllowance(key: Uint8Array, terms: AllowanceTerms): Promise<string> {
  const message = {
    owner: requireAddress(terms.owner),
    spender: permit2Address,
    value: terms.valueAtomic,
    nonce: terms.nonce,
    deadline: BigInt(terms.validBefore),
  }
  const signature = await signTypedData({
    privateKey: bytesToHex(key),
    domain: {
      ...terms.domain,
      chainId: terms.chainId,
      verifyingContract: requireAddress(terms.token),
    },
    types,
    primaryType: 'Permit',
    message,
  })
  splitSignature(signature)
  requireSame({ owner: terms.owner }, { owner: addressOf(key) })
  const words = Object.values(message).map((value) => word(String(value)))
  await requireSigned(key, typedDigest(terms, structHash(permitType, words)), signature)
  return signature
}
