/**
 * Signs EIP-3009 CancelAuthorization, which makes an unused authorization unusable and moves no money.
 * Every signature is read back before it is returned, as in authorization.ts.
 */
import { bytesToHex, type Hex } from 'viem'
import { signTypedData } from 'viem/accounts'
import { addressOf } from './accounts.ts'
import { cancellationDigest, type TokenDomain } from './authorization-digest.ts'
import {
  requireAddress,
  requireHex,
  requireSame,
  requireSigned,
  splitSignature,
} from './read-back.ts'

/** Authorizer and nonce of the authorization that is cancelled. */
export type CancellationTerms = TokenDomain & { authorizer: string; nonce: string }

const types = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Signs the terms with the payer's key. Throws if the key is not that of `authorizer`. */
export async function signCancellation(key: Uint8Array, terms: CancellationTerms): Promise<Hex> {
  const message = {
    authorizer: requireAddress(terms.authorizer),
    nonce: requireHex(terms.nonce, 32),
  }
  const signature = await signTypedData({
    privateKey: bytesToHex(key),
    domain: {
      ...terms.domain,
      chainId: terms.chainId,
      verifyingContract: requireAddress(terms.token),
    },
    types,
    primaryType: 'CancelAuthorization',
    message,
  })
  await confirmCancellation(key, terms, signature)
  return signature
}

/** Throws unless the signature over these terms is the authorizer's. */
export async function confirmCancellation(
  key: Uint8Array,
  terms: CancellationTerms,
  signature: string,
): Promise<void> {
  splitSignature(signature)
  requireSame({ authorizer: terms.authorizer }, { authorizer: addressOf(key) })
  await requireSigned(key, cancellationDigest(terms, terms), signature)
}
