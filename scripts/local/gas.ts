/**
 * Gas as it is on one's own machine: free. What a test, a demo or a measurement sends from one account
 * in a minute is far more than relayers would carry for it anywhere else.
 */
import type { Sql } from 'postgres'
import { setGasTerms } from '../provision.ts'

/** Lets relayers spend for an account whatever it asks for, and carry the smallest amounts. */
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
