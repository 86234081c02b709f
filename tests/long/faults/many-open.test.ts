/** One run of housekeeping looks at all open payments of an account, even at more than a few batches. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { pass } from '../../support/faults/chain.ts'
import { acquainted } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import { start } from '../../support/world.ts'

const copies = 500

test('a run goes on while there is time', async () => {
  const world = await start({ chain: true })
  const { payer, payee } = await acquainted(world)
  const { paymentId } = await signedPayment(world, payer, payee.address)
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at,
      authorized_block, valid_before, authorization_nonce, signature, terms, leased_until)
    select account, key, device, kind, state, chain, token, wallet, payee, amount_atomic,
      amount_usd_micros, expires_at, consent_level, authorized_at, authorized_block, valid_before,
      '0x' || lpad(to_hex(n), 64, '0'), signature, terms, private.clock()
      from private.payments, generate_series(1, ${copies}) n where id = ${paymentId}`
  await pass(world, 60)

  const { seen } = await runHousekeeping(world.world)

  expect(seen).toBe(copies + 1)
})
