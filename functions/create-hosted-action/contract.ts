import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import * as entry from '../../shared/contract/vault-entry.ts'

const takesMoney = ['deposit', 'walletconnect']

/** Contract of `create_login_link`: a link on which a person does what only a person can do. */
export const createHostedAction = operation({
  id: 'create_login_link',
  method: 'POST',
  folder: 'create-hosted-action',
  access: 'any',
  gap: 'GAP_HOSTED_ACTION_V1',
  effects: ['adding'],
  needs: ['CHAIN_RPC_URLS', 'RETURN_URL_ORIGINS', 'ALLOW_LOOPBACK'],
  position: 240,
  summary:
    'A link to a page on which a person signs in, sends money, enters a login or confirms to be there.',
  request: z
    .strictObject({
      action_type: z.enum([
        'login',
        'deposit',
        'walletconnect',
        'human_verification',
        'website_login',
      ]),
      return_url: z
        .url()
        .max(2_048)
        .optional()
        .describe('Shown as a link at the end, at an origin that the service allows.'),
      chain: field.chainInput.optional(),
      token: field.tokenInput.optional(),
      amount: field.amount.optional(),
      site: entry.site
        .optional()
        .describe('For website_login, which takes the scope vault: such as https://example.com.'),
      username: entry.username
        .optional()
        .describe('For website_login: filled in, and the user may change it.'),
      ttl_seconds: z
        .int()
        .min(60)
        .max(3_600)
        .optional()
        .describe('Seconds until the link expires; default 900.'),
    })
    .refine(
      ({ action_type, chain, token, amount }) =>
        takesMoney.includes(action_type) || (chain ?? token ?? amount) === undefined,
      { message: 'chain, token and amount are for deposit and walletconnect' },
    )
    .refine(
      ({ action_type, site, username }) =>
        action_type === 'website_login' ? site !== undefined : (site ?? username) === undefined,
      { message: 'site and username are for website_login, which needs a site' },
    ),
  response: z.object({
    url: form.url.describe('For one browser, the first that opens it. Give it to the user alone.'),
    action_id: z.uuid().describe('For hosted_action_status.'),
    expires_at: field.time,
  }),
  errors: [
    'insufficient_scope',
    'site_refused',
    'unsupported_chain',
    'unsupported_token',
    'return_url_refused',
    'too_many_links',
  ],
})
