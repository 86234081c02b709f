import * as z from 'zod'
import { chain, gapState, time, usd, window } from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `get_identity`: the account, its addresses, and what this credential may still spend. */
export const getIdentity = operation({
  id: 'get_identity',
  method: 'GET',
  folder: 'get-identity',
  access: 'read',
  needs: ['CHAIN_RPC_URLS', 'YIELD_VAULTS'],
  position: 10,
  summary: 'Who the account is, where it can be paid, and what this key may still spend.',
  request: z.strictObject({}),
  response: z.object({
    account_id: z.uuid(),
    alias: form.alias,
    mail_address: form.mailAddress,
    wallets: z
      .array(
        z.object({
          chain_family: form.word,
          address: form.address,
          chains: z.array(chain).max(64),
        }),
      )
      .max(16),
    credential: z.object({
      kind: z.enum(['api_key', 'oauth']),
      id: z.uuid(),
      label: form.words(256).describe('Of a key its label, of an app where it is.'),
      scopes: z.array(form.word).max(16),
      expires_at: time.nullable(),
      reads_secrets: z
        .boolean()
        .describe('Whether it may read secrets of the vault, or only have them used.'),
      caps: z
        .object({
          max_per_payment_usd: usd.nullable(),
          max_per_day_usd: usd.nullable(),
          left_today_usd: usd.nullable(),
          resets_at: time.nullable(),
        })
        .optional()
        .describe(
          'The most that it may move by itself in one payment and in 24 hours, whatever the consent.',
        ),
    }),
    limits: z.object({
      automatic_daily: window,
      asserted_daily: window,
      daily_spending_cap: window,
      monthly_spending_cap: window.describe('The most in 30 days; the others are of 24 hours.'),
      asserted_new_recipient_usd: usd.describe(
        "The most in 24 hours on an agent's word to one recipient that the owner does not know.",
      ),
      relayed_transfers: z
        .array(
          z.object({
            chain,
            calls_per_day: z.int(),
            calls_left: z.int(),
            resets_at: time.nullable().describe('When the oldest call leaves the 24 hours.'),
            least_usd: usd.describe('The least transfer that is relayed.'),
          }),
        )
        .max(64)
        .describe('What relayers still send; beyond it the wallet pays with gas of its own.'),
    }),
    frozen: z.boolean(),
    gaps: z.array(gapState).max(64).describe('What is offered, and how it stands now.'),
  }),
  errors: [],
})
