/** Compares the payments in the database with the logs of the chain. */
import * as z from 'zod'
import { type BenchWorld, headOf, paidIn } from '../world.ts'

const paymentRows = z.array(z.object({ state: z.string(), payee: z.string() }))

/** Counts the differences between the two, for the payees in `asked`. */
export async function compare(world: BenchWorld, asked: ReadonlySet<string>) {
  const paid = await paidFrom(world)
  const rows =
    await world.sql`select private.reported_state(p) as state, lower(payee) as payee from private.payments p`
  const own = paymentRows.parse([...rows]).filter(({ payee }) => asked.has(payee))
  const times = (payee: string) => paid.get(payee) ?? 0
  const settled = own.filter(({ state }) => state === 'settled')
  const ended = own.filter(({ state }) => ['released', 'expired'].includes(state))
  return {
    settled: settled.length,
    'released or failed': ended.length,
    'paid twice': [...asked].filter((payee) => times(payee) > 1).length,
    'failed though paid': ended.filter(({ payee }) => times(payee) > 0).length,
    differences:
      settled.filter(({ payee }) => times(payee) !== 1).length +
      [...asked].filter((payee) => times(payee) > 0).length -
      settled.length,
  }
}

const blocksAtOnce = 50

/** Counts how often each address was paid on the chain as it is now. */
async function paidFrom({ chain }: BenchWorld): Promise<Map<string, number>> {
  const head = await headOf(chain)
  const paid = new Map<string, number>()
  for (let first = 0; first <= head; first += blocksAtOnce) {
    const last = Math.min(first + blocksAtOnce - 1, head)
    for (const payee of await paidIn(chain, first, last)) {
      paid.set(payee, (paid.get(payee) ?? 0) + 1)
    }
  }
  return paid
}
