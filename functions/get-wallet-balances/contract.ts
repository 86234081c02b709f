import * as z from 'zod'
import {
  amountAtomic,
  chain,
  chainInput,
  time,
  tokenInput,
  usd,
} from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `wallet_balances`: the balances of the wallet, read from the chains. */
export const walletBalances = operation({
  id: 'wallet_balances',
  method: 'POST',
  folder: 'get-wallet-balances',
  access: 'read',
  gap: 'GAP_BALANCES_V1',
  needs: ['CHAIN_RPC_URLS', 'EUR_USD_RATE'],
  position: 60,
  summary: 'What the wallet holds on every connected chain, read from the chains now.',
  request: z.looseObject({
    chains: z.array(chainInput).min(1).max(32).optional(),
    tokens: z.array(tokenInput).min(1).max(32).optional(),
  }),
  response: z.object({
    balances: z
      .array(
        z.object({
          chain,
          token: form.token,
          token_address: form.address.nullable().describe('Null for the native coin.'),
          decimals: z.int(),
          amount: form.decimal,
          amount_atomic: amountAtomic,
          usd_value: usd.nullable().describe('Null where no rate is configured.'),
        }),
      )
      .max(4_096),
    chains: z
      .array(
        z.object({
          chain,
          name: form.words(64),
          status: z.enum(['ok', 'unavailable']),
          block_number: form.digits.nullable(),
          as_of: time.nullable(),
        }),
      )
      .max(64),
    total_usd: usd,
    reserved_usd: usd,
    available_usd: usd,
    hint: form
      .words(4096)
      .optional()
      .describe('Fields that were sent and ignored although they look like one of this call.'),
  }),
  errors: ['unsupported_chain', 'unsupported_token'],
})
