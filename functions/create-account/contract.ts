import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `create_account`: opens an account from a registration link, in a browser only. */
export const createAccount = operation({
  id: 'create_account',
  method: 'POST',
  folder: 'create-account',
  access: 'public',
  gap: 'GAP_SIGN_UP_V1',
  effects: ['adding'],
  needs: ['CUSTODY', 'API_KEY_PEPPER', 'PASSWORD_PEPPER', 'CHAIN_RPC_URLS'],
  position: 50,
  summary:
    'Opens the account. A person does this in a browser, on the page that registration_url names; ' +
    'calls of agents are refused.',
  request: z.strictObject({
    registration: z
      .string()
      .max(43)
      .regex(/^[A-Za-z0-9_-]{43}$/, 'the last part of registration_url'),
    alias: form.words(64).min(1),
    password: form.words(1024).min(1).describe('Typed by the person, never told to an agent.'),
    form: form.words(64).describe('What the cookie __Host-aoa_form holds.'),
  }),
  response: z.object({
    account_id: z.uuid(),
    alias: form.alias,
    mail_address: form.mailAddress,
    wallets: z
      .array(
        z.object({
          chain_family: z.literal('evm'),
          address: form.address,
          chains: z.array(field.chain).max(64),
        }),
      )
      .max(16),
    api_key: form.word.describe('Shown this once.'),
  }),
  errors: [
    'browser_only',
    'foreign_form',
    'registration_closed',
    'alias_unavailable',
    'weak_password',
    'account_exists',
  ],
})
