/**
 * Asks all endpoints of a chain what gas costs and which number a wallet's next transaction has, so that
 * no single one can say so alone. One that is slow delays nothing for more than a second and has no say.
 */
import type { Address, Chain } from '../chain.ts'
import { countCall, readCount } from './counts.ts'
import { agreedCount } from './enough.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, medianFees, readFees } from './fees.ts'
import type { ChainWorld } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** What the endpoints say together: the median of fees if any tells them, the number that enough show. */
export type Together = { fees: Fees | undefined; walletNonce: number }

const answerMilliseconds = 1_000

/**
 * What the endpoints that answer at once say together. All are asked at the same time; none where
 * there is only one, which is asked along with everything else.
 */
export async function askAll(
  world: ChainWorld,
  chain: Chain,
  wallet: Address,
): Promise<Together | undefined> {
  const endpoints = endpointsFor(world, chain)
  if (endpoints.length < 2) return undefined
  const limits = { timeoutMilliseconds: answerMilliseconds }
  const said = await Promise.all(
    endpoints.map(async ({ operator, rpc }) => {
      const [history, count] = await rpc.batch(
        [feeHistoryCall, countCall(wallet, 'pending')],
        limits,
      )
      return { operator, count: readCount(count), fees: readFees(history) }
    }),
  )
  const fees = medianFees(said.flatMap((one) => ('log' in one.fees ? [] : [one.fees])))
  return { fees, walletNonce: agreedCount(said) }
}
