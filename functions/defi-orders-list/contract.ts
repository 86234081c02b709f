import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'
import { order, source } from '../../shared/contract/yield.ts'

/** Contract of `defi_orders_list`: the orders of the account. */
export const defiOrdersList = operation({
  id: 'defi_orders_list',
  method: 'GET',
  folder: 'defi-orders-list',
  access: 'read',
  gap: 'GAP_DEFI_AUTOMATION_V1',
  needs: ['YIELD_VAULTS'],
  position: 180,
  summary: 'The orders for vaults, newest first, or one of them.',
  request: z.strictObject({
    order_id: z.uuid().optional(),
    limit: field.limit.optional(),
    cursor: z.uuid().optional().describe('The next_cursor of an earlier answer.'),
  }),
  response: z.object({
    orders: z.array(order).max(50),
    source,
    next_cursor: z.uuid().nullable().describe('Null: there are no more.'),
  }),
  errors: [],
})
