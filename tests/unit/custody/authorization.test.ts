import { recoverAddress, Signature, TypedDataEncoder, verifyTypedData } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type AuthorizationTerms,
  confirmAuthorization,
  signAuthorization,
} from '../../../shared/custody/authorization.ts'
import { authorizationDigest } from '../../../shared/custody/typed-digest.ts'
import { address, amountAtomic, chainId, domain, hex, wallet } from './arbitraries.ts'

// Types of EIP-3009, section "Specification", in the form that ethers takes.
const fields = ['address from', 'address to', 'uint256 value']
  .concat(['uint256 validAfter', 'uint256 validBefore', 'bytes32 nonce'])
  .map((field) => ({ type: field.split(' ')[0] ?? '', name: field.split(' ')[1] ?? '' }))
const types = { TransferWithAuthorization: fields }

const request = fc
  .record({
    payer: wallet,
    chainId,
    token: address,
    domain,
    to: address,
    valueAtomic: amountAtomic,
    validAfter: fc.integer({ min: 0, max: 2 ** 31 }),
    validBefore: fc.bigInt({ min: 0n, max: 2n ** 64n }),
    nonce: hex(32),
  })
  .map(({ payer, ...rest }) => ({ key: payer.key, terms: { ...rest, from: payer.address } }))

const [sample] = fc.sample(request, { numRuns: 1, seed: 1 })
const [stranger] = fc.sample(wallet, { numRuns: 1, seed: 2 })
if (!sample || !stranger) throw new Error('fast-check gave no sample')

function ethersDomain(terms: AuthorizationTerms) {
  return { ...terms.domain, chainId: terms.chainId, verifyingContract: terms.token }
}

test('what is signed is an EIP-3009 authorization of the payer, says ethers', async () => {
  const agrees = fc.asyncProperty(request, async ({ key, terms }) => {
    const { signature, ...signed } = await signAuthorization(key, terms)
    const message = {
      from: terms.from,
      to: terms.to,
      value: String(terms.valueAtomic),
      validAfter: String(terms.validAfter),
      validBefore: String(terms.validBefore),
      nonce: terms.nonce,
    }

    expect(signed).toEqual(message)
    expect(verifyTypedData(ethersDomain(terms), types, message, signature)).toBe(terms.from)
    expect(Signature.from(signature).serialized).toBe(signature)
    expect(Signature.from(signature).isValid()).toBe(true)
  })

  await fc.assert(agrees, { numRuns: 40 })
})

test('one that only the payee may use passes for no other form, says ethers', async () => {
  const { key, terms } = sample
  const form = 'ReceiveWithAuthorization'
  const { signature, ...message } = await signAuthorization(key, { ...terms, form })

  const signer = verifyTypedData(ethersDomain(terms), { [form]: fields }, message, signature)
  expect(signer).toBe(terms.from)
  const reading = confirmAuthorization(key, terms, { ...message, signature })
  await expect(reading).rejects.toThrow('in signature')
})

test('the digest that signatures are read back with is the one that ethers computes', async () => {
  const same = fc.asyncProperty(request, async ({ terms }) => {
    const { from, to, nonce } = terms
    const numbers = { validAfter: String(terms.validAfter), validBefore: String(terms.validBefore) }
    const message = { from, to, nonce, value: String(terms.valueAtomic), ...numbers }
    const expected = TypedDataEncoder.hash(ethersDomain(terms), types, message)
    expect(authorizationDigest(terms, message)).toBe(expected)
  })

  await fc.assert(same, { numRuns: 100 })
})

test('a key that is not the payer’s signs nothing', async () => {
  await expect(signAuthorization(stranger.key, sample.terms)).rejects.toThrow('in from')
})

const changed: [string, Partial<AuthorizationTerms>][] = [
  ['from', { from: stranger.address }],
  ['to', { to: stranger.address }],
  ['value', { valueAtomic: sample.terms.valueAtomic + 1n }],
  ['validAfter', { validAfter: BigInt(sample.terms.validAfter) + 1n }],
  ['validBefore', { validBefore: sample.terms.validBefore + 1n }],
  ['nonce', { nonce: `0x${'00'.repeat(32)}` }],
  ['signature', { chainId: sample.terms.chainId + 1 }],
  ['signature', { token: stranger.address }],
  ['signature', { domain: { ...sample.terms.domain, name: 'Another Coin' } }],
  ['signature', { domain: { ...sample.terms.domain, version: 'x' } }],
]

test.each(changed)(
  'a signature over another %s does not pass for the asked one',
  async (field, change) => {
    const signed = await signAuthorization(sample.key, sample.terms)

    const reading = confirmAuthorization(sample.key, { ...sample.terms, ...change }, signed)

    await expect(reading).rejects.toThrow(`in ${field}`)
  },
)

test('a library that signs another digest than it says is found out', async () => {
  const signed = await signAuthorization(sample.key, sample.terms)
  const other = await signAuthorization(sample.key, { ...sample.terms, to: stranger.address })

  const reading = confirmAuthorization(sample.key, sample.terms, {
    ...signed,
    signature: other.signature,
  })

  await expect(reading).rejects.toThrow('in signature')
})

test('the malleable twin of a signature and odd forms of it are refused', async () => {
  const signed = await signAuthorization(sample.key, sample.terms)
  const { r, s, v } = Signature.from(signed.signature)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = (order - BigInt(s)).toString(16).padStart(64, '0')
  const twin = `${r}${highS}${v === 27 ? '1c' : '1b'}`
  const zeroBased = `${signed.signature.slice(0, -2)}${v === 27 ? '00' : '01'}`
  const read = (signature: string) =>
    confirmAuthorization(sample.key, sample.terms, { ...signed, signature })

  await expect(read(twin)).rejects.toThrow('not low')
  await expect(read(zeroBased)).rejects.toThrow('27 or 28')
  await expect(read(`${signed.signature}00`)).rejects.toThrow('65 bytes')
  const digest = authorizationDigest(sample.terms, signed)
  expect(recoverAddress(digest, signed.signature)).toBe(sample.terms.from)
})

test.each<[string, Partial<AuthorizationTerms>]>([
  // viem omits an empty version from the domain, which makes it a different domain.
  ['an empty domain version', { domain: { name: 'USDC', version: '' } }],
  ['no value', { valueAtomic: 0n }],
  ['a negative value', { valueAtomic: -1n }],
  ['a value over 256 bits', { valueAtomic: 2n ** 256n }],
  ['a negative time', { validAfter: -1 }],
  ['a fraction of a second', { validBefore: 1.5 }],
  ['a nonce of 31 bytes', { nonce: `0x${'00'.repeat(31)}` }],
  ['a recipient with a wrong checksum', { to: '0x036cbD53842c5426634e7929541eC2318f3dCF7e' }],
  ['a token that is no address', { token: 'USDC' }],
])('terms with %s are not signed', async (_, change) => {
  await expect(signAuthorization(sample.key, { ...sample.terms, ...change })).rejects.toThrow()
})
