import * as z from 'zod'
import { waitSecondsText } from '../../shared/contract/confirming.ts'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

const arrived = z.object({
  amount: form.decimal,
  amount_atomic: field.amountAtomic,
  token: form.token,
  chain: field.chain,
  tx_hash: form.chainHash,
  from: form.address.describe('Who sent it; a deposit makes nobody known.'),
  finality: field.finality,
})
const verified = z.object({
  verified_at: field.time,
  valid_until: field.time.describe('After this, ask for a new verification.'),
})
const entered = z.object({
  credential_id: z.uuid().describe('For the vault tools. What was entered is told to nobody.'),
  site: form.url,
})
const signedIn = z.object({ signed_in_at: field.time })

/** Contract of `hosted_action_status`: the state of a link of `create_login_link`. */
export const hostedActionStatus = operation({
  id: 'hosted_action_status',
  method: 'GET',
  folder: 'hosted-action-status',
  access: 'any',
  gap: 'GAP_HOSTED_ACTION_V1',
  position: 250,
  summary: 'The state of a hosted action; waits for a change if asked to.',
  request: z.strictObject({
    action_id: z.uuid().describe('From create_login_link.'),
    wait_seconds: waitSecondsText,
  }),
  response: z.object({
    action_id: z.uuid(),
    action_type: z.enum([
      'login',
      'deposit',
      'walletconnect',
      'human_verification',
      'website_login',
    ]),
    status: z.enum(['pending', 'opened', 'finished', 'expired', 'declined']),
    expires_at: field.time.describe('Opening the link moves it.'),
    result: z
      .union([arrived, entered, verified, signedIn])
      .optional()
      .describe('Once it is finished.'),
  }),
  errors: ['action_not_found'],
})
