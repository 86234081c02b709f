/**
 * A hosted action as it leaves the database, and its result in the words of the interface. What came
 * of it is only what was seen: a deposit in the index, a sign-in, a confirmed presence.
 */
import * as z from 'zod'
import { addressSchema } from '../chains/hex.ts'
import { assetOf } from '../chains/registry.ts'
import { formatAmount } from '../money/amount.ts'
import { depositRow } from '../payments/deposit.ts'

/** Where an action stands. `finished` and `declined` are for good, `expired` for lack of both. */
const actionStatus = z.enum(['pending', 'opened', 'finished', 'expired', 'declined'])

/** What the agent asked for, as the page shows it. */
export const askedSchema = z.object({
  chain: z.string().optional(),
  token: z.string().optional(),
  amount: z.string().optional(),
  site: z.string().optional(),
  username: z.string().optional(),
  return_url: z.string().optional(),
})

const enteredSchema = z.object({ credential_id: z.uuid(), site: z.string() })

/** One action as SQL answers it. */
export const actionSchema = z.object({
  id: z.uuid(),
  type: z.enum(['login', 'deposit', 'walletconnect', 'human_verification', 'website_login']),
  status: actionStatus,
  asked: askedSchema,
  expires_at: z.string(),
  wallet: addressSchema.nullable(),
  finished_at: z.string().nullable(),
  /** What was put into the vault by it. */
  entered: enteredSchema.nullable(),
  deposit: depositRow.nullable(),
  /** Whether who sent it is a known recipient. */
  sender_known: z.boolean(),
})

/** One action as SQL answers it, read. */
export type HostedAction = z.output<typeof actionSchema>

/** How long the word that a person was there is good for. */
const verifiedMilliseconds = 3_600_000

/** What came of a finished action. */
export type ActionResult =
  | ReturnType<typeof arrivedBody>
  | { signed_in_at: string }
  | z.output<typeof enteredSchema>
  | { verified_at: string; valid_until: string }

/** The result in the words of the interface; undefined while there is none. */
export function resultOf(action: HostedAction): ActionResult | undefined {
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
