/** The states of payments in SQL and in shared/payments/payment.ts are the same. */
import { beforeAll, expect, test } from 'vitest'
import {
  isReserved,
  isUnderWay,
  type PaymentState,
  paymentStates,
} from '../../shared/payments/payment.ts'
import { waitingPayment } from '../support/consents.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

type Stored = { state: string; finality?: string; block?: string; delivery?: string }
const hash = `0x${'1'.repeat(64)}`
const stored: [Stored, PaymentState][] = [
  [{ state: 'prepared' }, 'prepared'],
  [{ state: 'awaiting_confirmation' }, 'awaiting_confirmation'],
  [{ state: 'authorized', finality: 'submitted' }, 'authorized'],
  [{ state: 'signed', finality: 'submitted' }, 'signed'],
  [{ state: 'signed', finality: 'submitted', delivery: '{}' }, 'unknown'],
  [{ state: 'signed', finality: 'reorged' }, 'unknown'],
  [{ state: 'signed', finality: 'included', block: hash }, 'settled'],
  [{ state: 'signed', finality: 'safe', block: hash, delivery: '{}' }, 'settled'],
  [{ state: 'settled', finality: 'finalized', block: hash }, 'settled'],
  [{ state: 'settled', finality: 'finalized' }, 'settled'],
  [{ state: 'released' }, 'released'],
  [{ state: 'expired' }, 'expired'],
  [{ state: 'declined' }, 'declined'],
]

test('each state that is told is in the list, and each that is stored', async () => {
  const [row] = await world.db.sql<{ states: string }[]>`
    select pg_get_constraintdef(oid) as states from pg_constraint
     where conname = 'payments_state_check'`
  const inSql = [...(row?.states ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => name)

  expect(new Set(inSql)).toEqual(new Set(stored.map(([{ state }]) => state)))
  expect(new Set(paymentStates)).toEqual(new Set(stored.map(([, told]) => told)))
})

test.each(stored)('%o is told as %s, counts and reserves as that', async (one, told) => {
  const agent = await world.agent('pay')
  const id = await waitingPayment(world, agent)
  const { state, finality = null, block = null, delivery = null } = one
  await world.db.sql`update private.payments set state = ${state}, finality = ${finality},
    block_hash = ${block}, tx_hash = ${block}, delivery = ${delivery}::text::jsonb,
    consent_level = 'none', authorized_at = private.clock(),
    valid_before = extract(epoch from private.clock())::bigint + 600 where id = ${id}`

  const [row] = await world.db.sql`select private.reported_state(p) as told,
      coalesce(p.counts_until > private.clock(), false) as counts,
      private.reserved_in(p.wallet, p.chain, p.token) > 0 as reserves
    from private.payments p where id = ${id}`

  expect(row).toEqual({ told, counts: isReserved(told), reserves: isUnderWay(told) })
})
