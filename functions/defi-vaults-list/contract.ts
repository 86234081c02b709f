import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import { source } from '../../shared/contract/yield.ts'

/** Contract of `defi_vaults_list`: the vaults that may be used, with the account's positions. */
export const defiVaultsList = operation({
  id: 'defi_vaults_list',
  method: 'GET',
  folder: 'defi-vaults-list',
  access: 'read',
  gap: 'GAP_DEFI_AUTOMATION_V1',
  needs: ['CHAIN_RPC_URLS', 'YIELD_VAULTS'],
  position: 160,
  summary: 'The ERC-4626 vaults that USDC can be put into, with your position and what it earned.',
  request: z.strictObject({}),
  response: z.object({
    vaults: z
      .array(
        z.object({
          chain: field.chain,
          vault: form.address,
          gate: form.address.describe('Contract that takes the orders and holds the shares.'),
          token: form.token,
          name: form.words(64),
          risk_note: form.words(1024).describe('From the operator: tell it to your user.'),
          status: z.enum(['ok', 'unavailable']),
          share_price: form.decimal.nullable().describe('USDC for one share.'),
          position: z
            .object({ shares: form.decimal, worth: form.decimal, worth_atomic: field.amountAtomic })
            .nullable()
            .describe('Null where the vault does not answer.'),
          paid_in: form.decimal.describe('Settled orders, what they were signed over.'),
          paid_out: form.decimal.describe('What came back of them.'),
          earned: form.decimal
            .nullable()
            .describe('Worth and paid_out, less paid_in; null until all of it is known.'),
          automation: z
            .object({ limit_usd: field.usd, left_usd: field.usd })
            .describe('What rules of the owner may move in 24 hours; zero without a rule.'),
        }),
      )
      .max(1_024),
    source,
  }),
  errors: [],
})
