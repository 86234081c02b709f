/** The terms that consent is bound to, digested twice. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, paymentTerms } from '../../shared/consent/terms.ts'
import { paymentOf } from '../support/owner.ts'
import { start } from '../support/world.ts'

const world = await start()

const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((one) => !one.includes('\0'))
const terms = fc.record({
  origin: fc.option(text, { nil: undefined }),
  request_digest: fc.option(text, { nil: undefined }),
  amount: fc.bigInt({ min: 1n, max: 10n ** 77n }),
  micros: fc.integer({ min: 0, max: 999_999 }),
})

test('SQL and TypeScript digest the same terms, whatever stands in them', async () => {
  const { sql } = world.db
  const { id, address } = await world.agent('pay')
  const [{ id: payment } = { id: '' }] = await sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at)
    select ${id}, k.id, 'a device', 'x402', 84532, ${`0x${'1'.repeat(40)}`}, ${address},
      ${`0x${'2'.repeat(40)}`}, 1, 1, private.clock()
    from private.credentials k where k.account = ${id} returning id`

  const agree = fc.asyncProperty(terms, async ({ amount, micros, ...given }) => {
    const [row] =
      await sql`update private.payments p set terms = ${JSON.stringify(given)}::text::jsonb,
        amount_atomic = ${amount.toString()},
        expires_at = '2027-01-01'::timestamptz + make_interval(secs => ${micros} / 1000000.0)
      where p.id = ${payment} returning private.terms_digest(p) as digest`
    expect(row?.['digest']).toBe(await digestOf(paymentTerms(await paymentOf(world.db, payment))))
  })

  await fc.assert(agree, { numRuns: 300 })
})
