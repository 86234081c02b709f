/**
 * A hosted action as it leaves the database, and its result in the form of the API. A result is only what
 * was observed: a deposit in the index, a sign-in, a confirmed presence.
 */
import * as z from 'zod'
import { addressSchema } from '../chains/hex.ts'
import { assetOf } from '../chains/registry.ts'
import { formatAmount } from '../money/amount.ts'
import { depositRow } from '../payments/deposits/deposit.ts'

/** Status of an action. `finished` and `declined` are final; `expired`: neither happened in time. */
const actionStatus = z.enum(['pending', 'opened', 'finished', 'expired', 'declined'])

/** Request of the agent, as the page shows it. */
export const actionRequestSchema = z.object({
  chain: z.string().optional(),
  token: z.string().optional(),
  amount: z.string().optional(),
  site: z.string().optional(),
  username: z.string().optional(),
  return_url: z.string().optional(),
})

const enteredSchema = z.object({ credential_id: z.uuid(), site: z.string() })

/** One action as SQL returns it. */
export const actionSchema = z.object({
  id: z.uuid(),
  type: z.enum(['login', 'deposit', 'walletconnect', 'human_verification', 'website_login']),
  status: actionStatus,
  asked: actionRequestSchema,
  expires_at: z.string(),
  wallet: addressSchema.nullable(),
  finished_at: z.string().nullable(),
  /** The entry that the action put into the vault. */
  entered: enteredSchema.nullable(),
  deposit: depositRow.nullable(),
  /** True if the sender of the deposit is a known recipient. */
  sender_known: z.boolean(),
})

/** One action as SQL returns it, parsed. */
export type HostedAction = z.output<typeof actionSchema>

/** Time for which a confirmed presence of a person is valid. */
const verifiedMilliseconds = 3_600_000

/** Result of a finished action. */
export type ActionResult =
  | ReturnType<typeof arrivedBody>
  | { signed_in_at: string }
  | z.output<typeof enteredSchema>
  | { verified_at: string; valid_until: string }

/** Returns the result in the form of the API; undefined while there is none. */
export function actionResultOf(action: HostedAction): ActionResult | undefined {
  const { type, finished_at, entered, deposit } = action
  if (deposit) return arrivedBody(deposit)
  if (entered) return entered
  if (finished_at === null) return undefined
  const finished = new Date(finished_at)
  if (type === 'login') return { signed_in_at: finished.toISOString() }
  const until = new Date(finished.getTime() + verifiedMilliseconds)
  return { verified_at: finished.toISOString(), valid_until: until.toISOString() }
}

function arrivedBody(deposit: NonNullable<HostedAction['deposit']>) {
  const { chain, token } = assetOf(deposit)
  return {
    amount: formatAmount(deposit.amount_atomic, token.decimals),
    amount_atomic: deposit.amount_atomic.toString(),
    token: token.symbol,
    chain: chain.caip2,
    tx_hash: deposit.tx_hash,
    from: deposit.sender,
    finality: deposit.finality,
  }
}
