/**
 * Signs a Permit2 PermitWitnessTransferFrom of the x402 schemes exact and upto and nothing else under a
 * wallet's key. The spender is the scheme's own proxy and its witness fixes the payee, so the signature
 * moves the amount to that payee alone. It is read back as an EIP-3009 authorization is.
 */
import { bytesToHex } from 'viem'
import { signTypedData } from 'viem/accounts'
import { permit2Address } from '../chains/evm/rpc/places.ts'
import { addressOfKey } from './accounts.ts'
import type { SignedAuthorization } from './port.ts'
import {
  requireAddress,
  requireHex,
  requireSame,
  requireSigned,
  splitSignature,
} from './read-back.ts'
import {
  type Permit2Form,
  permit2Digest,
  permit2Spenders,
  structHash,
  type TokenDomain,
  typedDigest,
  word,
} from './typed-digest.ts'

/** Terms of one permit. */
export type Permit2Terms = {
  chainId: number
  token: string
  from: string
  to: string
  valueAtomic: bigint
  /** Unix seconds, inclusive; Permit2 calls it the deadline. */
  validBefore: number | bigint
  nonce: string
} & Permit2Form

const permitType = [
  { name: 'permitted', type: 'TokenPermissions' },
  { name: 'spender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
  { name: 'witness', type: 'Witness' },
] as const
const permissionsType = [
  { name: 'token', type: 'address' },
  { name: 'amount', type: 'uint256' },
] as const
const to = { name: 'to', type: 'address' } as const
const facilitator = { name: 'facilitator', type: 'address' } as const
const validAfter = { name: 'validAfter', type: 'uint256' } as const

/** Signs the terms with the payer's key. Throws if the key is not that of `from`. */
export async function signPermit2(
  key: Uint8Array,
  terms: Permit2Terms,
): Promise<SignedAuthorization> {
  if (terms.valueAtomic <= 0n) throw new Error('a permit moves more than nothing')
  const nonce = requireHex(terms.nonce, 32)
  const signature = await signTyped(key, terms, {
    permitted: { token: requireAddress(terms.token), amount: terms.valueAtomic },
    spender: permit2Spenders[terms.scheme],
    nonce: BigInt(nonce),
    deadline: BigInt(terms.validBefore),
  })
  splitSignature(signature)
  requireSame({ from: terms.from }, { from: addressOfKey(key) })
  await requireSigned(key, permit2Digest(terms, permit2Spenders[terms.scheme]), signature)
  return {
    from: requireAddress(terms.from),
    to: requireAddress(terms.to),
    value: String(terms.valueAtomic),
    validAfter: '0',
    validBefore: String(terms.validBefore),
    nonce,
    signature,
  }
}

type Permit = {
  permitted: { token: `0x${string}`; amount: bigint }
  spender: `0x${string}`
  nonce: bigint
  deadline: bigint
}

function signTyped(key: Uint8Array, terms: Permit2Terms, permit: Permit) {
  const common = {
    privateKey: bytesToHex(key),
    domain: { name: 'Permit2', chainId: terms.chainId, verifyingContract: permit2Address },
    primaryType: 'PermitWitnessTransferFrom',
  } as const
  const types = { PermitWitnessTransferFrom: permitType, TokenPermissions: permissionsType }
  const witness = { to: requireAddress(terms.to), validAfter: 0n }
  if (terms.scheme === 'exact') {
    const message = { ...permit, witness }
    return signTypedData({ ...common, types: { ...types, Witness: [to, validAfter] }, message })
  }
  const message = {
    ...permit,
    witness: { ...witness, facilitator: requireAddress(terms.facilitator) },
  }
  const Witness = [to, facilitator, validAfter] as const
  return signTypedData({ ...common, types: { ...types, Witness }, message })
}

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
const eip2612PermitType =
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
  requireSame({ owner: terms.owner }, { owner: addressOfKey(key) })
  const words = Object.values(message).map((value) => word(String(value)))
  await requireSigned(key, typedDigest(terms, structHash(eip2612PermitType, words)), signature)
  return signature
}
