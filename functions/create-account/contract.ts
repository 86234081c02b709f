import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'

export const createAccount = operation({
  id: 'create_account',
  method: 'POST',
  folder: 'create-account',
  access: 'public',
  gap: 'GAP_SIGN_UP_V1',
  summary:
    'Opens the account. A person does this in a browser, on the page that registration_url names; ' +
    'calls of agents are refused.',
  request: z.strictObject({
    registration: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'the last part of registration_url'),
    alias: z.string().min(1).max(64),
    password: z.string().min(1).max(1024).describe('Typed by the person, never told to an agent.'),
    form: z.string().max(64).describe('What the cookie __Host-aoa_form holds.'),
  }),
  response: z.object({
    account_id: z.uuid(),
    alias: z.string(),
    mail_address: z.string(),
    wallets: z.array(
      z.object({
        chain_family: z.literal('evm'),
        address: z.string(),
        chains: z.array(z.string()),
      }),
    ),
    api_key: z.string().describe('Shown this once.'),
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
