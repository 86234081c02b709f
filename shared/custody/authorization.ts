/**
 * Signs authorizations of EIP-3009 and nothing else under a wallet's key. Every signature is read
 * back before it is returned: the key must make the same one over a digest of another implementation. A
 * known limit: the signing library takes the key as text, which cannot be zeroed after use.
 */
import { bytesToHex } from 'viem'
import { signTypedData } from 'viem/accounts'
import { addressOfKey } from './accounts.ts'
import type { SignedAuthorization } from './port.ts'
import {
  requireAddress,
  requireHex,
  requireSame,
  requireSigned,
  splitSignature,
} from './read-back.ts'
import { type AuthorizationForm, authorizationDigest, type TokenDomain } from './typed-digest.ts'

/** Terms of one authorization. Times are Unix seconds, both exclusive (EIP-3009). */
export type AuthorizationTerms = TokenDomain & {
  from: string
  to: string
  valueAtomic: bigint
  validAfter: number | bigint
  validBefore: number | bigint
  nonce: string
  /** Form; one that anyone may use when absent. */
  form?: AuthorizationForm
}

const fields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
const types = { TransferWithAuthorization: fields, ReceiveWithAuthorization: fields }

/** Signs the terms with the payer's key. Throws if the key is not that of `from`. */
export async function signAuthorization(
  key: Uint8Array,
  terms: AuthorizationTerms,
): Promise<SignedAuthorization> {
  if (terms.valueAtomic <= 0n) throw new Error('an authorization moves more than nothing')
  const message = {
    from: requireAddress(terms.from),
    to: requireAddress(terms.to),
    value: terms.valueAtomic,
    validAfter: BigInt(terms.validAfter),
    validBefore: BigInt(terms.validBefore),
    nonce: requireHex(terms.nonce, 32),
  }
  const verifyingContract = requireAddress(terms.token)
  const signature = await signTypedData({
    privateKey: bytesToHex(key),
    domain: { ...terms.domain, chainId: terms.chainId, verifyingContract },
    types,
    primaryType: terms.form ?? 'TransferWithAuthorization',
    message,
  })
  const signed = {
    ...message,
    value: String(message.value),
    validAfter: String(message.validAfter),
    validBefore: String(message.validBefore),
    signature,
  }
  await confirmAuthorization(key, terms, signed)
  return signed
}

/** Throws unless each field is the requested one and the signature over the fields is the payer's. */
export async function confirmAuthorization(
  key: Uint8Array,
  terms: AuthorizationTerms,
  signed: SignedAuthorization,
): Promise<void> {
  const { from, to, valueAtomic: value, validAfter, validBefore, nonce } = terms
  requireSame({ from, to, value, validAfter, validBefore, nonce }, signed)
  splitSignature(signed.signature)
  requireSame({ from }, { from: addressOfKey(key) })
  await requireSigned(key, authorizationDigest(terms, signed, terms.form), signed.signature)
}
