import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import { formatUsd } from '../../shared/money/amount.ts'
import { exposureFacts, exposureRow } from '../../shared/payments/show/exposure.ts'
import { exposureWithin } from '../../shared/policy/exposure.ts'
import type { accountExposure } from './contract.ts'

/** Hours of each horizon: an hour, a day and a week. */
const horizonsHours = [1, 24, 7 * 24]

/** Answers the exposure of the calling credential over each horizon, in all and by rail. */
export const run: Handler<typeof accountExposure> = async (_input, { db }) => {
  const row = await db.one('account_exposure', {}, z.object({ exposure: exposureRow }))
  if (!row) throw new Error('an admitted caller has no account')
  const facts = exposureFacts(row.exposure)
  const ofTransfers = exposureFacts(row.exposure, 'transfer')
  const ofX402 = exposureFacts(row.exposure, 'x402')
  return {
    as_of: row.exposure.at,
    horizons: horizonsHours.map((hours) => {
      const { usdMicros, boundBy } = exposureWithin(facts, hours * 60)
      const onRail = (of: typeof facts) => formatUsd(exposureWithin(of, hours * 60).usdMicros)
      return {
        hours,
        total_usd: formatUsd(usdMicros),
        by_rail: { transfer_usd: onRail(ofTransfers), x402_usd: onRail(ofX402) },
        bound_by: boundBy,
      }
    }),
  }
}
