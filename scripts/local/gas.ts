/** Makes gas free: a test or a measurement sends more from one account in a minute than relayers carry in a day. */
import type { Sql } from 'postgres'
import { setGasTerms } from '../provision.ts'

/** Lets relayers carry as many transfers of an account as it asks for, the smallest amounts included. */
export async function giveGas(sql: Sql): Promise<void> {
  const calls = 1_000_000n
  await setGasTerms(sql, 0n, { callsPerDay: calls, youngCallsPerDay: calls, leastUsdMicros: 0n })
}
