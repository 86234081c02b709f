import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

const openPayment = z.object({
  payment_id: z.uuid(),
  kind: z.enum(['transfer', 'x402']),
  chain: field.chain,
  token: form.token,
  amount: form.decimal,
  amount_atomic: field.amountAtomic,
  payee: form.address,
  why: z.enum(['handed_over', 'in_transaction', 'in_block', 'never_sent', 'ended']),
  message: form.words(4096),
  can_settle_until: field.time.describe('Nothing that was signed can be used after it.'),
})

/** Contract of `account_freeze`: stops everything that spends or signs. */
export const accountFreeze = operation({
  id: 'account_freeze',
  method: 'POST',
  folder: 'account-freeze',
  access: 'any',
  effects: ['destructive', 'repeatable'],
  needs: ['CUSTODY', 'MAILER', 'OUTBOX_KEY', 'CLIENT_ADDRESS_HEADER'],
  position: 230,
  summary: 'Stops everything that spends or signs, at once. Only the owner can undo it.',
  request: z.strictObject({
    reason: form
      .words(280)
      .min(1)
      .refine(form.isVisible, 'no control characters')
      .optional()
      .describe('For the feed, shown as your words.'),
    cursor: z
      .string()
      .max(15)
      .regex(/^[0-9]{1,15}$/, 'the next_cursor of an earlier answer')
      .optional(),
  }),
  response: z.object({
    frozen_at: field.time.describe('A second call answers the first time.'),
    may_settle: z
      .array(openPayment)
      .max(10_000)
      .describe('Signed and out; whoever has them can use them until they end.'),
    stopped: z.array(openPayment).max(10_000).describe('Never sent, or ended unused since.'),
    next_cursor: form.cursor
      .nullable()
      .describe('More was open at the freeze: call again with it until it is null.'),
  }),
  errors: [],
})
