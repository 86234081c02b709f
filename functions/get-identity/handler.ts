import * as z from 'zod'
import { connectedChains } from '../../shared/chains/registry.ts'
import { health } from '../../shared/contract/gaps.ts'
import { gapsSeen } from '../../shared/health/read-gaps.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { formatUsd } from '../../shared/money/amount.ts'
import { bigintText, time } from '../../shared/money/row-fields.ts'
import { capsBody, relayedBody, windowBody } from '../../shared/payments/decide/limit-words.ts'
import { capsRow, limitsRow, relayedRows } from '../../shared/payments/payment-with-facts.ts'
import type { getIdentity } from './contract.ts'

const identityRow = z.object({
  identity: z.object({
    account_id: z.string(),
    alias: z.string(),
    frozen: z.boolean(),
    wallets: z.array(z.object({ chain_family: z.string(), address: z.string() })),
    credential: z.object({
      kind: z.enum(['api_key', 'oauth']),
      id: z.string(),
      label: z.string(),
      scopes: z.array(z.string()),
      expires_at: time.nullable(),
      reads_secrets: z.boolean(),
      caps: capsRow,
    }),
    limits: limitsRow.extend({ asserted_new_recipient: bigintText }),
    relayed: relayedRows,
    health,
  }),
})

/** Answers the account, its wallets and chains, the credential with its caps, the limits and the gaps. */
export const run: Handler<typeof getIdentity> = async (_input, { db, world }) => {
  const row = await db.one('get_identity', {}, identityRow)
  if (!row) throw new Error('an admitted caller has no account')
  const { limits, relayed, wallets, credential, health: found, ...account } = row.identity
  const { caps, ...rest } = credential
  const connected = connectedChains(world.config)
  const chains = connected.map((chain) => chain.caip2)
  return {
    ...account,
    mail_address: `${account.alias}@${world.config.MAIL_DOMAIN}`,
    wallets: wallets.map((wallet) => ({ ...wallet, chains })),
    credential: { ...rest, ...capsBody(caps) },
    limits: {
      automatic_daily: windowBody(limits.automatic_daily),
      asserted_daily: windowBody(limits.asserted_daily),
      daily_spending_cap: windowBody(limits.daily_spending_cap),
      monthly_spending_cap: windowBody(limits.monthly_spending_cap),
      asserted_new_recipient_usd: formatUsd(limits.asserted_new_recipient),
      relayed_transfers: relayed.flatMap((one) => {
        const chain = connected.find(({ id }) => id === one.chain)
        return chain ? [relayedBody(one, chain)] : []
      }),
    },
    gaps: gapsSeen(world, found),
  }
}
