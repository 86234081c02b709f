/**
 * Makes gas free, as it is on one's own machine. A test, a demo or a measurement sends far more from one
 * account in a minute than relayers would carry for it anywhere else.
 */
import type { Sql } from 'postgres'
import { setGasTerms } from '../provision.ts'

/** Lets relayers spend as much for an account as it asks for, and carry the smallest amounts. */
export async function giveGas(sql: Sql): Promise<void> {
  const wei = 10n ** 24n
  const calls = 1_000_000n
  await setGasTerms(sql, 0n, {
    weiPerDay: wei,
    callsPerDay: calls,
    youngWeiPerDay: wei,
    youngCallsPerDay: calls,
    leastUsdMicros: 0n,
    cancelsPerDay: calls,
  })
}
