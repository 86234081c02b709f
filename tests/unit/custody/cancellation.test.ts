import { Signature, TypedDataEncoder, verifyTypedData } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cancellationDigest } from '../../../shared/custody/authorization-digest.ts'
import type { CancellationTerms } from '../../../shared/custody/cancellation.ts'
import { confirmCancellation, signCancellation } from '../../../shared/custody/cancellation.ts'
import { cancellationTypes } from '../../support/eip3009.ts'
import { address, chainId, domain, hex, wallet } from './arbitraries.ts'

const request = fc
  .record({ payer: wallet, chainId, token: address, domain, nonce: hex(32) })
  .map(({ payer, ...rest }) => ({ key: payer.key, terms: { ...rest, authorizer: payer.address } }))

const [sample] = fc.sample(request, { numRuns: 1, seed: 1 })
const [stranger] = fc.sample(wallet, { numRuns: 1, seed: 2 })
if (!sample || !stranger) throw new Error('fast-check gave no sample')

function typedData({ authorizer, nonce, ...terms }: CancellationTerms) {
  const ethersDomain = { ...terms.domain, chainId: terms.chainId, verifyingContract: terms.token }
  return [ethersDomain, cancellationTypes, { authorizer, nonce }] as const
}

test('what is signed is an EIP-3009 cancellation of the authorizer, says ethers', async () => {
  const agrees = fc.asyncProperty(request, async ({ key, terms }) => {
    const signature = await signCancellation(key, terms)

    expect(verifyTypedData(...typedData(terms), signature)).toBe(terms.authorizer)
    expect(Signature.from(signature).isValid()).toBe(true)
  })

  await fc.assert(agrees, { numRuns: 40 })
})

test('the digest that it is read back with is the one that ethers computes', async () => {
  const same = fc.property(request, ({ terms }) => {
    expect(cancellationDigest(terms, terms)).toBe(TypedDataEncoder.hash(...typedData(terms)))
  })

  fc.assert(same, { numRuns: 100 })
})

const changed: [string, Partial<CancellationTerms>][] = [
  ['authorizer', { authorizer: stranger.address }],
  ['signature', { nonce: `0x${'00'.repeat(32)}` }],
  ['signature', { chainId: sample.terms.chainId + 1 }],
  ['signature', { token: stranger.address }],
  ['signature', { domain: { ...sample.terms.domain, name: 'Another Coin' } }],
]

test.each(changed)('a cancellation with another %s does not pass for it', async (field, change) => {
  const signature = await signCancellation(sample.key, sample.terms)

  const reading = confirmCancellation(sample.key, { ...sample.terms, ...change }, signature)

  await expect(reading).rejects.toThrow(`in ${field}`)
})

test.each<[string, Partial<CancellationTerms>]>([
  ['a stranger’s authorization', { authorizer: stranger.address }],
  ['a nonce of 31 bytes', { nonce: `0x${'00'.repeat(31)}` }],
  ['an empty domain version', { domain: { name: 'USDC', version: '' } }],
  ['a token that is no address', { token: 'USDC' }],
])('%s is not cancelled', async (_what, change) => {
  await expect(signCancellation(sample.key, { ...sample.terms, ...change })).rejects.toThrow()
})
