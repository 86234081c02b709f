import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import { orderEvents, source } from '../../shared/contract/yield.ts'

/** Contract of `defi_order_events`: what happened to the orders of the account. */
export const defiOrderEvents = operation({
  id: 'defi_order_events',
  method: 'GET',
  folder: 'defi-order-events',
  access: 'read',
  gap: 'GAP_DEFI_AUTOMATION_V1',
  needs: ['YIELD_VAULTS'],
  position: 200,
  summary: 'What happened to one order or to all, newest first, by the index of this service.',
  request: z.strictObject({
    order_id: z.uuid().optional(),
    limit: field.limit.optional(),
    cursor: z
      .string()
      .max(64)
      .regex(
        /^[0-9]{1,16}-[0-9]-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
        'an earlier next_cursor',
      )
      .optional(),
  }),
  response: z.object({
    events: z
      .array(
        z.object({
          event_id: form.cursor,
          order_id: z.uuid().nullable().describe('Null for yield_accrued.'),
          event: z
            .enum(orderEvents)
            .describe('included and finalized go with a block that is gone, and come again.'),
          at: field.time,
          vault: form.address,
          accrued: form.decimal
            .nullable()
            .describe('USDC since the look of the day before; below zero after a loss.'),
          tx_hash: form.chainHash.nullable(),
          block_number: form.digits.nullable(),
          block_hash: form.chainHash.nullable(),
        }),
      )
      .max(50),
    source,
    next_cursor: form.cursor.nullable(),
  }),
  errors: [],
})
