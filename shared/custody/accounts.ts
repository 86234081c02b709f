/**
 * Creates EVM accounts: a private key from the world's randomness and the address that belongs to it.
 * Stores and seals no key.
 */
import { type Address, bytesToBigInt, bytesToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'

/** Source of randomness, as World has it. */
export type RandomBytes = (length: number) => Uint8Array

/** Private key of 32 bytes, to be filled with zeros after use, and its EIP-55 checksummed address. */
export type AccountKey = { address: Address; privateKey: Uint8Array }

/** Order of the curve; a private key is from 1 to this less 1 (SEC 2 version 2, section 2.4.1). */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

// A draw misses with a chance of 2^-128, so a second miss means that the randomness is broken.
const drawsMax = 2

/** Draws a new account. */
export function createAccountKey(random: RandomBytes): AccountKey {
  for (let draw = 0; draw < drawsMax; draw += 1) {
    const privateKey = random(32)
    if (isPrivateKey(privateKey)) return { address: addressOf(privateKey), privateKey }
  }
  throw new Error('the random source gave no private key')
}

/** Returns the checksummed address of a private key. Throws if the bytes are not one. */
export function addressOf(privateKey: Uint8Array): Address {
  if (!isPrivateKey(privateKey)) throw new Error('not a secp256k1 private key')
  return privateKeyToAddress(bytesToHex(privateKey))
}

function isPrivateKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false
  const scalar = bytesToBigInt(bytes)
  return scalar > 0n && scalar < curveOrder
}
