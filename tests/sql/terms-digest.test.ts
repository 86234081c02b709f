/** SQL, from its rows, and the product compute the same digest of the terms that consent is bound to. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchTerms } from '../../shared/consent/consent.ts'
import { mandateTermsRow } from '../../shared/consent/mandate-row.ts'
import { mandateTerms, paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
import { paymentOf } from '../support/owner.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const { id: account, address } = await world.agent('pay')

const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((one) => !one.includes('\0'))
const paid = fc.record({
  kind: fc.constantFrom('transfer', 'x402'),
  origin: fc.option(text, { nil: undefined }),
  request_digest: fc.option(text, { nil: undefined }),
  amount: fc.bigInt({ min: 1n, max: 10n ** 77n }),
  micros: fc.integer({ min: 0, max: 999_999 }),
})

test('SQL and the product digest the same payment, whatever stands in it', async () => {
  const [{ id: payment } = { id: '' }] = await sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at)
    select ${account}, k.id, 'a device', 'x402', 84532, ${`0x${'1'.repeat(40)}`}, ${address},
      ${`0x${'2'.repeat(40)}`}, 1, 1, private.clock()
    from private.credentials k where k.account = ${account} returning id`

  const agree = fc.asyncProperty(paid, async ({ kind, amount, micros, ...given }) => {
    const [row] = await sql`update private.payments p set kind = ${kind},
        terms = ${JSON.stringify(given)}::text::jsonb, amount_atomic = ${amount.toString()},
        expires_at = '2027-01-01'::timestamptz + make_interval(secs => ${micros} / 1000000.0)
      where p.id = ${payment} returning private.terms_digest(p) as digest`
    expect(row?.['digest']).toBe(
      await termsDigest(paymentTerms(await paymentOf(world.db, payment))),
    )
  })

  await fc.assert(agree, { numRuns: 300 })
})

const addressText = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
/** The rows are stored in the order that the terms sort them in. */
const addresses = fc
  .uniqueArray(addressText, { minLength: 1, maxLength: 20 })
  .map((list) => [...list].sort())
const micros = fc.bigInt({ min: 1n, max: 10n ** 15n }).map(String)
const granted = fc.record({
  merchant_domain: fc.constantFrom('shop.example', 'xn--bcher-kva.example', 'localhost:4021'),
  include_subdomains: fc.boolean(),
  max_payment_usd_micros: micros,
  max_day_usd_micros: fc.option(micros),
  max_total_usd_micros: fc.option(micros),
  max_payments: fc.option(fc.integer({ min: 1 })),
  chains: fc.option(
    fc
      .uniqueArray(fc.integer({ min: 1, max: 2 ** 40 }), { minLength: 1, maxLength: 9 })
      .map((list) => [...list].sort((a, b) => a - b)),
  ),
  tokens: fc.option(addresses),
  pay_to: fc.option(addresses),
  micros: fc.integer({ min: 0, max: 999_999 }),
})

test('SQL and the product digest the same mandate, whatever it allows', async () => {
  const [{ id: mandate } = { id: '' }] = await sql<{ id: string }[]>`
    insert into private.mandates (account, key, device, merchant_domain, include_subdomains,
      max_payment_usd_micros, expires_at)
    select ${account}, k.id, 'a device', 'shop.example', false, 1, private.clock()
    from private.credentials k where k.account = ${account} returning id`

  const agree = fc.asyncProperty(granted, async (given) => {
    const [row] = await sql`
      update private.mandates m set merchant_domain = ${given.merchant_domain},
        include_subdomains = ${given.include_subdomains},
        max_payment_usd_micros = ${given.max_payment_usd_micros},
        max_day_usd_micros = ${given.max_day_usd_micros},
        max_total_usd_micros = ${given.max_total_usd_micros},
        max_payments = ${given.max_payments}, chains = ${given.chains}, tokens = ${given.tokens},
        pay_to = ${given.pay_to},
        expires_at = '2027-01-01'::timestamptz + make_interval(secs => ${given.micros} / 1000000.0)
      where m.id = ${mandate}
      returning private.mandate_json(m) as mandate, private.mandate_digest(m) as digest`
    const stored = mandateTermsRow.parse(row?.['mandate'])
    expect(row?.['digest']).toBe(await termsDigest(mandateTerms(stored)))
  })

  await fc.assert(agree, { numRuns: 200 })
})

const digests = fc
  .uniqueArray(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 2, maxLength: 50 })
  .map((list) => list.map((bytes) => Buffer.from(bytes).toString('hex')).sort())

test('SQL and the product digest the same batch of 2 to 50 payments', async () => {
  const agree = fc.asyncProperty(digests, async (leaves) => {
    const [row] = await sql`select private.batch_digest(${account}, ${leaves}) as digest`
    expect(row?.['digest']).toBe(await termsDigest(await batchTerms(account, leaves)))
  })

  await fc.assert(agree, { numRuns: 150 })
})
