import * as z from 'zod'
import { waitSecondsText } from '../../shared/contract/confirming.ts'
import { limit } from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { mandateDigest, mandateFields, mandateStatus } from '../../shared/contract/mandate.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `payment_mandate_status`: the terms of mandates, and what is spent and left. */
export const paymentMandateStatus = operation({
  id: 'payment_mandate_status',
  method: 'GET',
  folder: 'payment-mandate-status',
  access: 'read',
  gap: 'GAP_PAYMENT_MANDATE_V1',
  position: 130,
  summary: 'Where mandates stand: caps, what is spent and left of each, and until when.',
  request: z
    .strictObject({
      mandate_id: z.uuid().optional().describe('This one alone, without status, limit and cursor.'),
      wait_seconds: waitSecondsText,
      status: mandateStatus.optional().describe('Only those that stand so.'),
      limit: limit.optional(),
      cursor: z
        .string()
        .max(15)
        .regex(/^[0-9]{1,15}$/, 'the next_cursor of an earlier answer')
        .optional()
        .describe('The next_cursor of an earlier answer.'),
    })
    .refine(
      ({ mandate_id, wait_seconds, ...others }) =>
        mandate_id === undefined
          ? wait_seconds === undefined
          : Object.values(others).every((one) => one === undefined),
      { message: 'mandate_id stands alone, and wait_seconds with it' },
    ),
  response: z.object({
    mandates: z
      .array(z.object({ ...mandateFields, digest: mandateDigest }))
      .max(50)
      .describe('Newest first.'),
    next_cursor: form.cursor.nullable().describe('Null: there are no more.'),
  }),
  errors: ['mandate_not_found'],
})
