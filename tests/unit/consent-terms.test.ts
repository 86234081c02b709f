/** Consent is bound to these exact bytes, which were computed independently. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultOfAssertion } from '../../shared/consent/assertion.ts'
import { batchTerms, merkleRoot, treeHash } from '../../shared/consent/consent.ts'
import { mandateTerms, paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
import { challengeFor, place, storedOf } from '../support/assertions.ts'
import { openAuthenticator } from '../support/authenticator.ts'

const payment = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  account: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  kind: 'x402' as const,
  chain: 84532,
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payee: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  amount_atomic: 10n ** 20n,
  expires_at: '2026-01-02T05:04:05.678901+02:00',
  terms: { origin: 'https://shop.example', request_digest: 'aa', network: 'not a term' },
  asked_by: '5c9e6679-7425-40de-944b-e07fc1f90ae7',
  for_any_key: false,
  remembers_payee: false,
  remembered_device: null,
  passes_daily_cap: false,
}
const mandate = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  account: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  asked_by: '5c9e6679-7425-40de-944b-e07fc1f90ae7',
  for_any_key: false,
  device: 'dd',
  merchant_domain: 'shop.example',
  include_subdomains: false,
  max_payment_usd_micros: 5_000_000n,
  max_day_usd_micros: 20_000_000n,
  max_total_usd_micros: 100_000_000n,
  max_payments: 50,
  chains: [42161, 8453, 84532],
  tokens: ['0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  pay_to: [payment.payee, '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  expires_at: '2026-01-02T03:04:05.678Z',
}

function sha(...parts: (string | Buffer)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

test('the terms of a payment are these bytes', async () => {
  const canonical =
    '{"account_id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","amount_atomic":"100000000000000000000",' +
    '"chain":"eip155:84532","expires_at":"2026-01-02T03:04:05.678Z","origin":"https://shop.example",' +
    '"paid_by":"5c9e6679-7425-40de-944b-e07fc1f90ae7",' +
    '"pay_to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8",' +
    '"payment_id":"0f8fad5b-d9cb-469f-a165-70867728950e","request_digest":"aa",' +
    '"token":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","type":"x402","v":1}'

  expect(await termsDigest(paymentTerms(payment))).toBe(
    sha('aoa-consent-v1', Buffer.of(0), canonical).toString('hex'),
  )
})

test('what the owner ticks is a part of the terms, and nothing of it is without a tick', async () => {
  const ticked = {
    ...payment,
    for_any_key: true,
    remembers_payee: true,
    remembered_device: 'dd',
    passes_daily_cap: true,
  }
  const { paid_by: _, ...plain } = paymentTerms(payment)

  expect(paymentTerms(ticked)).toEqual({
    ...plain,
    paid_by: 'any_key',
    remember_payee: true,
    remember_device: 'dd',
    pass_daily_cap: true,
  })
  expect(mandateTerms({ ...mandate, for_any_key: true })).toMatchObject({ paid_by: 'any_key' })
})

test('the terms of a mandate are these bytes, whatever order it was asked in', async () => {
  const canonical =
    '{"account_id":"7c9e6679-7425-40de-944b-e07fc1f90ae7",' +
    '"chains":["eip155:8453","eip155:42161","eip155:84532"],"device":"dd",' +
    '"expires_at":"2026-01-02T03:04:05.678Z","include_subdomains":false,' +
    '"mandate_id":"0f8fad5b-d9cb-469f-a165-70867728950e",' +
    '"max_amount_per_day_usd_micros":"20000000","max_amount_per_payment_usd_micros":"5000000",' +
    '"max_payments":50,"max_total_usd_micros":"100000000","merchant_domain":"shop.example",' +
    '"paid_by":"5c9e6679-7425-40de-944b-e07fc1f90ae7",' +
    '"pay_to":["0x036CbD53842c5426634e7929541eC2318f3dCF7e",' +
    '"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],' +
    '"tokens":["0x036CbD53842c5426634e7929541eC2318f3dCF7e"],"type":"mandate","v":1}'
  const digest = sha('aoa-consent-v1', Buffer.of(0), canonical).toString('hex')
  const turned = { ...mandate, chains: [84532, 42161, 8453], pay_to: [...mandate.pay_to].reverse() }

  expect(await termsDigest(mandateTerms(mandate))).toBe(digest)
  expect(await termsDigest(mandateTerms(turned))).toBe(digest)
})

test('what a mandate leaves open is absent from its terms, and not the same as none', async () => {
  const open = { max_day_usd_micros: null, max_total_usd_micros: null, max_payments: null }
  const unpinned = { chains: null, tokens: null, pay_to: null }
  const terms = mandateTerms({ ...mandate, ...open, ...unpinned })
  const none = mandateTerms({ ...mandate, ...open, chains: [], tokens: [], pay_to: [] })

  expect(Object.values(terms)).not.toContain(null)
  expect(Object.keys(terms)).toHaveLength(10)
  expect(await termsDigest(terms)).not.toBe(await termsDigest(none))
})

test("an owner's word for some terms is none for terms that differ in any field", async () => {
  const passkey = openAuthenticator()
  const batch = await batchTerms(payment.account, ['aa'.repeat(32), 'bb'.repeat(32)])
  const ticked = paymentTerms({ ...payment, remembers_payee: true, remembered_device: 'dd' })
  for (const terms of [paymentTerms(payment), ticked, mandateTerms(mandate), batch]) {
    const digest = await termsDigest(terms)
    const stored = storedOf(passkey.get({ challenge: challengeFor(digest) }), passkey.key)
    expect(await faultOfAssertion(stored, { digest, ...place })).toBeUndefined()
    for (const [field, value] of Object.entries(terms)) {
      const others = [undefined, `${String(value)} `, Array.isArray(value) ? value.slice(1) : 'x']
      for (const other of others) {
        const changed = await termsDigest({ ...terms, [field]: other })
        expect(await faultOfAssertion(stored, { digest: changed, ...place })).toBe('challenge')
      }
    }
  }
})

test('a time that the database tells in microseconds is cut to milliseconds', () => {
  const at = (expires_at: string) => paymentTerms({ ...payment, expires_at }).expires_at
  expect(at('2026-01-02T03:04:05.9999+00:00')).toBe('2026-01-02T03:04:05.999Z')
  expect(at('2026-01-02T03:04:05+00:00')).toBe('2026-01-02T03:04:05.000Z')
})

// Leaves and roots of Certificate Transparency's own tests, for 1 to 8 leaves.
const leaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

test('the tree hash is that of RFC 9162', async () => {
  for (const [at, root] of roots.entries()) {
    const first = leaves.slice(0, at + 1).map((hex) => Buffer.from(hex, 'hex'))
    expect(Buffer.from(await treeHash(first)).toString('hex')).toBe(root)
  }
  expect(Buffer.from(await treeHash([]))).toEqual(sha(''))
})

/** Computes the root from the bottom: joins pairs and carries an odd leaf up (RFC 9162 section 2.1.2). */
function twinRoot(digests: readonly string[]): string {
  let level = digests.map((digest) => sha(Buffer.of(0), Buffer.from(digest, 'hex')))
  while (level.length > 1) {
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_, at) =>
      level.slice(2 * at, 2 * at + 2),
    )
    level = pairs.map(([left = Buffer.alloc(0), right]) =>
      right ? sha(Buffer.of(1), left, right) : left,
    )
  }
  return level[0]?.toString('hex') ?? ''
}

const digests = fc
  .uniqueArray(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 50 })
  .map((all) => all.map((bytes) => Buffer.from(bytes).toString('hex')))

test('the root over 1 to 50 digests is that of a tree that is built from below', async () => {
  const agree = fc.asyncProperty(digests, async (all) => {
    expect(await merkleRoot(all)).toBe(twinRoot(all))
  })
  await fc.assert(agree, { numRuns: 200 })
})

test('a batch is its payments in any order, and another with one more, less or other', async () => {
  const unlike = fc.asyncProperty(digests, fc.nat(49), async (all, at) => {
    const { root } = await batchTerms(payment.account, all)
    expect(root).toBe(twinRoot([...all].sort()))
    expect(await batchTerms(payment.account, [...all].reverse())).toMatchObject({ root })
    const other = 'ab'.repeat(32)
    const changed = [[...all, other], all.slice(1), all.with(at % all.length, other), [root]]
    for (const list of changed) {
      expect((await batchTerms(payment.account, list)).root).not.toBe(root)
    }
  })
  await fc.assert(unlike, { numRuns: 100 })
})
